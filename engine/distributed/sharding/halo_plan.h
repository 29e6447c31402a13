// Halos: what the ranks that share a dimension must bring each other before a window slides over it.
#pragma once

#include "engine/distributed/sharding/spec.h"
#include "engine/ops/core/op_call.h"

namespace kerf::inline distributed::inline sharding {

/// One dimension of a convolution.
struct SlidingWindow {
  std::int64_t kernel = 1, stride = 1, padding = 0, dilation = 1;

  std::int64_t span() const { return dilation * (kernel - 1) + 1; }
  /// Results along a dimension of that size; none where the window is larger than the padded input.
  std::int64_t results(std::int64_t size) const;
};

/// From `start` to before `end`.
struct IndexRange {
  std::int64_t start = 0, end = 0;

  std::int64_t size() const { return end - start; }
  IndexRange meet(const IndexRange& other) const;
  bool operator==(const IndexRange&) const = default;
};

/// One rank's share.
struct HaloPart {
  IndexRange own;                                ///< of the input, as torch.chunk splits it
  IndexRange results;                            ///< of the result, split the same way
  IndexRange reads;                              ///< of the input, by the windows of its results
  std::int64_t zerosBefore = 0, zerosAfter = 0;  ///< padding that the windows read
};

struct HaloPlan {
  std::int64_t size = 0;  ///< of the whole input
  std::vector<HaloPart> parts;

  /// What rank `from` has of that which rank `to` reads.
  IndexRange piece(std::size_t from, std::size_t to) const { return parts[from].own.meet(parts[to].reads); }
  /// How far a rank reads beyond its own part, at most.
  std::int64_t widest() const;
};

/// A plan for a dimension of `size` elements on `ranks` ranks. UnsupportedOp, with the reason, where a rank would have
/// no result.
Result<HaloPlan> planHalo(const SlidingWindow& window, std::int64_t size, std::int64_t ranks);

/// The window along dimension `dim` (2 or more) of a tensor that aten.convolution or aten.convolution_backward takes.
SlidingWindow windowOf(const BoundArguments& call, std::int64_t dim);
/// Which argument of those ops is the input, and which one the weight.
std::size_t convolvedInput(const BoundArguments& call);

}  // namespace kerf::inline distributed::inline sharding
