// HashBuffer: writes arguments and value metadata as unambiguous bytes, to be hashed in one go.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/ir/node.h"
#include "engine/support/hash.h"

namespace kerf::inline ir {

class HashBuffer {
 public:
  /// `positions` maps NodeId::index to a number that is the same in equal graphs.
  explicit HashBuffer(std::vector<std::uint32_t> positions = {}) : m_positions(std::move(positions)) {}

  void number(std::uint64_t value);
  void real(double value);
  void text(std::string_view value);
  void argument(const Argument& argument);
  void arguments(const ArgumentList& arguments);
  void valueMeta(const ValueMeta& meta);
  Hash128 hash() const { return hashText(m_bytes); }
  /// Forgets what was written; positions stay.
  void clear() { m_bytes.clear(); }

 private:
  struct Writer;
  void dims(const std::vector<Dim>& dims);
  void symbol(const SymExpr& expr);

  std::vector<std::uint32_t> m_positions;
  std::string m_bytes;
};

}  // namespace kerf::inline ir
