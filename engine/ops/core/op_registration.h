// OpRegistration: how a file of engine/ops puts what it has into the op table. No list names the files: programs link
// the library as a whole, and each file registers itself before main().
#pragma once

#include <cstdint>
#include <source_location>
#include <string_view>
#include <vector>

#include "engine/ops/core/decomposition_rows.h"
#include "engine/ops/core/op_facts.h"
#include "engine/ops/core/op_row.h"

namespace kerf::inline ops {

/// What one file has for the op table.
struct OpTables {
  OpRows rows = {};
  OpFactRows facts = {};        ///< columns of ops whose rows stand elsewhere
  TablePrograms programs = {};  ///< what only some of PyTorch's decomposition tables write
  OpRows complex = {};          ///< rows that stand in for those of the same schema when an argument is complex
};

/// An object of namespace scope, in the file that has the tables:
///
///     const OpRegistration softsignOp({.rows = softsignRows});
class OpRegistration {
 public:
  explicit OpRegistration(const OpTables& tables, std::source_location place = std::source_location::current());
  OpRegistration(const OpRegistration&) = delete;
  OpRegistration& operator=(const OpRegistration&) = delete;

  const OpTables& tables() const { return m_tables; }
  std::string_view file() const { return m_place.file_name(); }
  std::uint32_t line() const { return m_place.line(); }
  const OpRegistration* next() const { return m_next; }

 private:
  OpTables m_tables;
  std::source_location m_place;
  const OpRegistration* m_next;  ///< the one before it
};

/// All of them by file and line, so that the order in which files are linked shows nowhere.
std::vector<const OpRegistration*> opRegistrations();

}  // namespace kerf::inline ops
