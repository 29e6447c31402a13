// Repros: minimized graphs with their inputs, as they were written for a bug report.
#pragma once

#include "storage/database/database.h"
#include "storage/stores/store.h"

namespace kerf::inline storage::inline stores {

Result<std::int64_t> addRepro(Database& database, const ReproRow& repro, const NewGraph& content);
Result<std::vector<ReproRow>> repros(Database& database);
Result<ReproRow> repro(Database& database, std::int64_t id);
Result<std::string> reproContent(Database& database, std::int64_t id);

}  // namespace kerf::inline storage::inline stores
