// Moving captures, with all that was made of them, from one store to another; the other may be a file to carry away.
#pragma once

#include <string>
#include <vector>

#include "storage/stores/store.h"

namespace kerf::inline storage::inline stores {

struct TransferredCapture {
  std::int64_t from = 0, to = 0;  ///< ids in the source and in the target
  std::string path;
  bool known = false;  ///< the target had it already
};
struct StoreTransfer {
  std::vector<TransferredCapture> captures;
  std::int64_t runs = 0, reductions = 0, repros = 0, blobs = 0, bytes = 0;
  std::vector<std::string> notes;   ///< links that could not be turned into copies
  std::vector<std::string> failed;  ///< captures that were left out, and why: they are damaged
};

/// Writes these captures (none: all) to a store in a file of its own that appears whole or not at all. What the store
/// only links to is copied. Damaged captures are left out.
Result<StoreTransfer> exportStore(Store& store, const std::filesystem::path& file,
                                  const std::vector<std::int64_t>& captures, const StoreProgress& progress = {});
/// Adds everything of another store to this one, a capture in each transaction. What is there already stays as it is,
/// so that an import that was stopped goes on where it was. BadInput for a store of another schema.
Result<StoreTransfer> importStore(Store& store, const std::filesystem::path& file, const StoreProgress& progress = {});

}  // namespace kerf::inline storage::inline stores
