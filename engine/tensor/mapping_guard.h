// MappingGuard: a mapped file that another program cuts short reads as zeros from there on instead of ending the
// process.
#pragma once

#include <cstddef>

namespace kerf::inline tensor {

struct GuardedRange;

/// Guards the mapped pages at `memory` until it is destroyed, which must be before they are unmapped. The first guard
/// installs a handler of SIGBUS for the whole process; signals that concern no guarded page go to the handler that was
/// there before. Costs nothing until a page is missing.
class MappingGuard {
 public:
  MappingGuard(const void* memory, std::size_t bytes);
  ~MappingGuard();
  MappingGuard(const MappingGuard&) = delete;
  MappingGuard& operator=(const MappingGuard&) = delete;

 private:
  GuardedRange* m_range;
};

/// Whether a page of the guarded mapping that holds `memory` was missing when it was read: the file is shorter now than
/// when it was mapped. False for memory that nobody guards.
bool mappingWasCut(const void* memory);

}  // namespace kerf::inline tensor
