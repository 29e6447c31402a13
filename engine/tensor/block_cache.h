// BlockCache: memory blocks that storages gave back and the next ones of about their size take again, so that a run
// does not pay for fresh pages at every node. Private to the tensor folder.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kerf::inline tensor {

/// A block of at least `bytes` (> 0), 64-byte aligned; null when there is no memory. `zeroed` says whether it is all
/// zero.
std::byte* takeBlock(std::int64_t bytes, bool& zeroed);
/// Takes back what takeBlock gave for the same `bytes`.
void returnBlock(std::byte* block, std::int64_t bytes);
/// Hands all kept blocks to the operating system.
void releaseBlocks();
/// Bytes kept now.
std::int64_t keptBlockBytes();

}  // namespace kerf::inline tensor
