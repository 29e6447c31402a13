// What reductions read of their calls: dimensions, `keepdim`, `dtype`.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "engine/ops/kernels/reduction_engine.h"

namespace kerf::inline ops {

/// The argument of that name in the call's schema; null where it has none.
const SchemaArgument* reductionArgument(const BoundArguments& args, std::string_view name);
/// Its value, or `otherwise` where the schema has none.
Value argumentOr(const BoundArguments& args, std::string_view name, Value otherwise);
/// The dimensions that go, by `dim` and `keepdim`.
Result<ReducedDims> reducedDimsOf(const BoundArguments& args, EmptyDims empty = EmptyDims::All);
std::optional<DType> dtypeArgumentOf(const BoundArguments& args);
/// Shape rule of means, and of whatever else gives floats: self's type, or `dtype`.
Result<Value> meanShape(const BoundArguments& args);
/// The input, rounded to the result type first where that is what torch does (dtype= given).
Result<Tensor> inputAs(const BoundArguments& args, DType dtype);

/// All elements that become one, combined by F.
template <class V, class F>
Result<std::vector<V>> foldedStates(const Tensor& self, const ReducedDims& dims, V start) {
  return reduceStates<V>(self, dims, FoldOp<V, F>{start});
}

}  // namespace kerf::inline ops
