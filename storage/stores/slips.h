// Slips: other failures that reductions met, with their graphs.
#pragma once

#include "storage/database/database.h"
#include "storage/stores/store.h"

namespace kerf::inline storage::inline stores {

/// One transaction: content and row. One of the same reduction and number is replaced; its content is left to
/// the collection of garbage.
Result<void> putSlip(Database& database, const SlipRow& slip, const NewGraph& candidate);
/// By number.
Result<std::vector<SlipRow>> slips(Database& database, std::int64_t reductionId);
Result<std::string> slipContent(Database& database, std::int64_t slipId);

}  // namespace kerf::inline storage::inline stores
