// One capture with all that was made of it from an attached database into this one.
#pragma once

#include "storage/database/database.h"
#include "storage/stores/store_transfer.h"

namespace kerf::inline storage::inline stores {

/// Name under which the source is attached to the target.
inline constexpr std::string_view attachedName = "other";

/// Copies capture `id` of the source, which is also attached to `target`. Call inside a transaction of the target.
/// Blobs are checked on their way: BadInput for a damaged one.
Result<TransferredCapture> copyCapture(Database& source, Database& target, std::int64_t id, StoreTransfer& report);

}  // namespace kerf::inline storage::inline stores
