#include "engine/ops/kernels/reduction_engine.h"

namespace kerf::inline ops {

Result<ReducedDims> reducedDims(const BoundArguments& args, const Tensor& self, const Value& dim, bool keepdim,
                                EmptyDims empty) {
  Sizes given;
  if (const auto single = dim.asSymInt()) given.push_back(*single);
  if (dim.isList())
    for (const Value& item : dim.list()) given.push_back(item.asSymInt().value_or(SymInt(0)));
  KERF_TRY(const Sizes dims, wrapDims(args, given, self.dim()));
  const bool all = dim.isNone() || (dims.empty() && empty == EmptyDims::All);
  ReducedDims result;
  result.reduced.assign(self.symSizes().size(), all);
  for (std::int64_t d : dims)
    if (d < self.dim()) result.reduced[std::size_t(d)] = true;
  for (std::size_t d = 0; d < self.symSizes().size(); ++d) {
    if (!result.reduced[d])
      result.outSizes.push_back(self.symSizes()[d]);
    else if (keepdim)
      result.outSizes.push_back(1);
  }
  return result;
}

std::vector<std::int64_t> ReduceGeometry::keptOffsets() const {
  std::vector<std::int64_t> offsets;
  if (keptCount == 0) return offsets;
  offsets.reserve(std::size_t(keptCount));
  const StridedLoop<1> walk(keptSizes, {keptStrides});
  walk.forRows([&](const auto& at, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) offsets.push_back(at[0] + i * walk.innerStrides()[0]);
  });
  return offsets;
}

bool ReduceGeometry::innerIsKept() const {
  if (keptSizes.empty() || keptSizes.back() < 4) return false;
  std::int64_t smallest = std::numeric_limits<std::int64_t>::max();
  for (std::size_t d = 0; d < goneSizes.size(); ++d)
    if (goneSizes[d] > 1) smallest = std::min(smallest, goneStrides[d]);
  return keptStrides.back() < smallest;
}

}  // namespace kerf::inline ops
