#include "storage/stores/contents.h"
#include "storage/stores/row_columns.h"

namespace kerf::inline storage::inline stores {

Result<void> addRecords(Database& database, std::int64_t captureId, const std::vector<RecordRow>& records) {
  for (const auto& record : records) KERF_CHECK(insertRow(database, record, {{"capture", captureId}}));
  return {};
}

Result<void> addCompiles(Database& database, std::int64_t captureId, const std::vector<CompileRow>& compiles) {
  for (const auto& compile : compiles) KERF_CHECK(insertRow(database, compile, {{"capture", captureId}}));
  return {};
}

Result<std::vector<RecordRow>> records(Database& database, std::int64_t captureId) {
  return selectRows<RecordRow>(database, "WHERE capture = ? ORDER BY ordinal", {captureId});
}

Result<RecordRow> record(Database& database, std::int64_t captureId, int ordinal) {
  return selectRow<RecordRow>(database, "WHERE capture = ? AND ordinal = ?", {captureId, std::int64_t{ordinal}},
                              fmt::format("the store has no record c{}/r{}", captureId, ordinal));
}

Result<std::vector<CompileRow>> compiles(Database& database, std::int64_t captureId) {
  return selectRows<CompileRow>(database, "WHERE capture = ? ORDER BY ordinal", {captureId});
}

}  // namespace kerf::inline storage::inline stores
