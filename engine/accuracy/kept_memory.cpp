#include "engine/accuracy/kept_memory.h"

#include <malloc.h>

#include "engine/tensor/block_cache.h"
#include "engine/tensor/storage.h"

namespace kerf::inline accuracy {

void giveMemoryBack() {
  if (liveStorageBytes() + keptBlockBytes() <= keptBelow) return;
  releaseBlocks();
  ::malloc_trim(0);
}

}  // namespace kerf::inline accuracy
