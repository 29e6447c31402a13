// What a capture holds beside its graphs, as rows: records and compile ids.
#pragma once

#include "storage/database/database.h"
#include "storage/stores/store.h"

namespace kerf::inline storage::inline stores {

/// Call inside a transaction.
Result<void> addRecords(Database& database, std::int64_t captureId, const std::vector<RecordRow>& records);
Result<void> addCompiles(Database& database, std::int64_t captureId, const std::vector<CompileRow>& compiles);

Result<std::vector<RecordRow>> records(Database& database, std::int64_t captureId);
Result<RecordRow> record(Database& database, std::int64_t captureId, int ordinal);
Result<std::vector<CompileRow>> compiles(Database& database, std::int64_t captureId);

}  // namespace kerf::inline storage::inline stores
