// How two tensors lie in the memory that both look at: what PyTorch tells of it before it writes, and what is so.
#pragma once

#include <cstdint>

#include "engine/ir/op_caller.h"
#include "engine/tensor/tensor.h"

namespace kerf::inline ops {

/// An OpCaller whose tensors have no storage, but which knows which of them look at one memory: a trace that follows views.
class FollowsMemory {
 public:
  virtual ~FollowsMemory() = default;
  virtual bool shareMemory(const Tensor& a, const Tensor& b) const = 0;
};

/// Whether two tensors look at one memory: by their storages; without storage by what `ops` knows, else where they stand for
/// one value of a trace.
bool shareMemory(const Tensor& a, const Tensor& b, const OpCaller& ops);

/// As at::get_overlap_status says it.
enum class Overlap : std::uint8_t {
  None,
  Full,     ///< the same elements in the same order
  Partial,  ///< some elements, or all in another order
  Unknown,  ///< one of them has holes: PyTorch does not look further
};

/// Of two tensors that look at one memory. Where sizes are symbolic, what is decided becomes a guard.
Overlap overlapOf(const Tensor& a, const Tensor& b);
/// Whether an element may belong to both: they reach into each other, and their strides do not keep them apart.
bool mayMeet(const Tensor& a, const Tensor& b);

}  // namespace kerf::inline ops
