// Advanced indexing: tensors of positions (or bool masks) turned into element offsets, checked against the bounds.
#pragma once

#include <optional>
#include <vector>

#include "engine/ops/core/op_call.h"

namespace kerf::inline ops {

/// What self[indices] means: which dimensions are indexed, the shape of the result, and how it lies on self.
struct IndexPlan {
  std::vector<std::optional<Tensor>> indices;  ///< per dimension of self; int64, broadcast to `indexSizes`
  SymSizes indexSizes;
  std::int64_t firstIndexDim = 0;  ///< where the index dimensions stand in the result
  SymSizes resultSizes;
  SymSizes selfStrides;  ///< per result dimension; 0 in the index dimensions
  SymSizes restSizes;    ///< result sizes without the index dimensions
};

/// Binds a `Tensor?[]` value. Bool masks without data choose a number of elements that only running the graph gives:
/// UnsupportedOp outside of a ShapeEnv.
Result<IndexPlan> planIndex(const BoundArguments& args, const Tensor& self, const Value& indices);

/// Element offset into self for every index position, row-major over indexSizes. RuntimeFailed when out of bounds.
Result<std::vector<std::int64_t>> indexOffsets(const BoundArguments& args, const IndexPlan& plan, const Tensor& self);

/// All values of an integer tensor, row-major, as int64.
Result<std::vector<std::int64_t>> integerValues(const Tensor& tensor);
/// Checks -size <= index < size and makes it non-negative.
Result<std::int64_t> wrapIndex(const BoundArguments& args, std::int64_t index, std::int64_t size, std::int64_t dim);

/// Checks 0 <= index < size (for ops that take no negative indices).
Result<void> checkIndex(const BoundArguments& args, std::int64_t index, std::int64_t size, std::int64_t dim);

/// Coordinates of the nonzero elements, one int64 vector per dimension.
Result<std::vector<std::vector<std::int64_t>>> nonzeroCoordinates(const Tensor& tensor);

}  // namespace kerf::inline ops
