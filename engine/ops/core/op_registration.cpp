#include "engine/ops/core/op_registration.h"

#include <algorithm>
#include <utility>

#include "engine/ops/core/decomposition_tables.h"

namespace kerf::inline ops {
namespace {

constinit const OpRegistration* newestRegistration = nullptr;

/// One kind of table of all files that have it.
template <class Table>
std::vector<Table> tablesOf(Table OpTables::* kind) {
  std::vector<Table> found;
  for (const OpRegistration* registration : opRegistrations())
    if (const Table table = registration->tables().*kind; !table.empty()) found.push_back(table);
  return found;
}

/// ".../engine/ops/pointwise/unary.cpp" → "pointwise".
std::string_view folderOfFile(std::string_view file) {
  file = file.substr(0, std::min(file.rfind('/'), file.size()));
  return file.substr(file.rfind('/') + 1);
}

}  // namespace

OpRegistration::OpRegistration(const OpTables& tables, std::source_location place)
    : m_tables(tables), m_place(place), m_next(std::exchange(newestRegistration, this)) {}

std::vector<const OpRegistration*> opRegistrations() {
  std::vector<const OpRegistration*> found;
  for (const OpRegistration* at = newestRegistration; at != nullptr; at = at->next()) found.push_back(at);
  std::ranges::sort(found, {}, [](const OpRegistration* one) { return std::pair(one->file(), one->line()); });
  return found;
}

std::vector<OpRows> opFamilies() { return tablesOf(&OpTables::rows); }
std::vector<OpRows> complexFamilies() { return tablesOf(&OpTables::complex); }
std::vector<OpFactRows> opFactTables() { return tablesOf(&OpTables::facts); }
std::vector<TablePrograms> tableProgramTables() { return tablesOf(&OpTables::programs); }

std::string_view folderOf(const OpInfo& op) {
  for (const OpRegistration* registration : opRegistrations()) {
    const OpRows rows = registration->tables().rows;
    if (op.row >= rows.data() && op.row < rows.data() + rows.size()) return folderOfFile(registration->file());
  }
  return {};
}

}  // namespace kerf::inline ops
