#include "engine/capture/common/storage_names.h"

#include <algorithm>

#include "engine/support/hash.h"
#include "engine/tensor/mapped_file.h"

namespace kerf::inline capture {

bool hasUnnamedStorages(const CapturedGraph& graph) {
  return std::ranges::any_of(graph.storages,
                             [](const StorageRef& storage) { return storage.hash.empty() && storage.file; });
}

Result<void> nameStorages(CapturedGraph& graph) {
  for (StorageRef& storage : graph.storages) {
    if (!storage.hash.empty() || !storage.file) continue;
    KERF_TRY(const StoragePtr bytes, mapFileRange(storage.file->path, storage.file->offset, storage.file->length));
    storage.hash = sha1Hex(bytes->view());
  }
  return {};
}

}  // namespace kerf::inline capture
