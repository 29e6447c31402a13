// unique in its forms: distinct elements, or distinct slices along a dimension, all of them or runs of neighbours.
#include <algorithm>
#include <numeric>
#include <span>

#include "engine/ops/core/op_registration.h"
#include "engine/ops/kernels/data_sizes.h"
#include "engine/ops/kernels/doubles.h"
#include "engine/ops/kernels/element_math.h"

namespace kerf::inline ops {
namespace {

/// Groups of equal keys in the order found or sorted.
struct Groups {
  std::vector<std::int64_t> first;    ///< per group: position of a representative
  std::vector<std::int64_t> inverse;  ///< per key: its group
  std::vector<std::int64_t> counts;   ///< per group
};

/// Keys are `count` rows of `width` values. NaN sorts last and equals nothing.
template <class V>
Groups groupRows(const std::vector<V>& values, std::int64_t count, std::int64_t width, bool sorts) {
  auto order = std::vector<std::int64_t>(std::size_t(count));
  std::iota(order.begin(), order.end(), 0);
  const auto at = [&](std::int64_t row, std::int64_t c) { return values[std::size_t(row * width + c)]; };
  const auto before = [&](std::int64_t a, std::int64_t b) {
    for (std::int64_t c = 0; c < width; ++c) {
      if (element::before(at(a, c), at(b, c))) return true;
      if (element::before(at(b, c), at(a, c))) return false;
    }
    return a < b;
  };
  const auto equal = [&](std::int64_t a, std::int64_t b) {
    for (std::int64_t c = 0; c < width; ++c)
      if (at(a, c) != at(b, c)) return false;
    return true;
  };
  if (sorts) std::ranges::sort(order, before);
  Groups groups;
  groups.inverse.resize(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i == 0 || !equal(order[i - 1], order[i])) {
      groups.first.push_back(order[i]);
      groups.counts.push_back(0);
    }
    groups.inverse[std::size_t(order[i])] = std::int64_t(groups.first.size()) - 1;
    ++groups.counts.back();
  }
  return groups;
}

/// Row-major groups of a tensor seen as `count` rows.
Result<Groups> groupTensor(const Tensor& rows, std::int64_t count, bool sorts) {
  const std::int64_t width = count == 0 ? 0 : rows.numel() / count;
  if (!isIntegral(rows.dtype())) {
    KERF_TRY(const Doubles values, doublesOf(rows));
    return groupRows(values, count, width, sorts);
  }
  KERF_TRY(const Tensor wide, rows.to(DType::Int64));
  KERF_TRY(const Tensor flat, wide.contiguous());
  const std::span whole(flat.data<std::int64_t>(), std::size_t(flat.numel()));
  if (rows.dtype() == DType::UInt64)  // whose bits these are
    return groupRows(std::vector<std::uint64_t>(whole.begin(), whole.end()), count, width, sorts);
  return groupRows(std::vector<std::int64_t>(whole.begin(), whole.end()), count, width, sorts);
}

Result<Tensor> indexTensor(const std::vector<std::int64_t>& values, const Sizes& sizes) {
  KERF_TRY(Tensor out, Tensor::zeros(DType::Int64, sizes));
  std::ranges::copy(values, out.data<std::int64_t>());
  return out;
}

Sizes lengthOf(const std::vector<std::int64_t>& values) { return {std::int64_t(values.size())}; }

/// Elements; inverse and counts without elements where not asked for (`counts` none: there is no such output).
Result<Value> elementsShape(const BoundArguments& args, bool inverse, std::optional<bool> counts) {
  const Tensor& self = args.tensor(0);
  KERF_TRY(const SymInt count, sizeFromData(args, self.symNumel()));
  ValueList outs{metaTensor(self.dtype(), SymSizes{count}),
                 metaTensor(DType::Int64, inverse ? self.symSizes() : SymSizes{0})};
  if (counts) outs.emplace_back(metaTensor(DType::Int64, SymSizes{*counts ? count : SymInt(0)}));
  return Value(std::move(outs));
}

Result<Value> slicesShape(const BoundArguments& args, std::int64_t givenDim) {
  const Tensor& self = args.tensor(0);
  if (self.dim() == 0) return mismatch(args, "argument 'dim' needs a tensor with dimensions");
  KERF_TRY(const std::int64_t dim, wrapDim(args, givenDim, self.dim()));
  KERF_TRY(const SymInt count, sizeFromData(args, self.symSize(dim)));
  SymSizes sizes = self.symSizes();
  sizes[std::size_t(dim)] = count;
  return Value(ValueList{metaTensor(self.dtype(), sizes), metaTensor(DType::Int64, SymSizes{self.symSize(dim)}),
                         metaTensor(DType::Int64, SymSizes{count})});
}

Result<Value> uniqueShape(const BoundArguments& args) { return elementsShape(args, args.boolean(2), {}); }
Result<Value> unique2Shape(const BoundArguments& args) { return elementsShape(args, args.boolean(2), args.boolean(3)); }
/// Eager PyTorch takes a line with dim=0 for no dim: what is not asked for stays empty. dim=-1 goes by slices.
bool takesElements(const BoundArguments& args) {
  return args.none(3) || (args.tensor(0).dim() == 1 && args.integer(3) == 0);
}

Result<Value> consecutiveShape(const BoundArguments& args) {
  if (takesElements(args)) return elementsShape(args, args.boolean(1), args.boolean(2));
  return slicesShape(args, args.integer(3));
}
Result<Value> dimShape(const BoundArguments& args) { return slicesShape(args, args.integer(1)); }

/// Elements; inverse and counts are empty where not asked for (`counts` none: there is no such output).
Result<Value> uniqueElements(const BoundArguments& args, bool sorts, bool inverse, std::optional<bool> counts) {
  const Tensor& self = args.tensor(0);
  KERF_TRY(const Groups groups, groupTensor(self, self.numel(), sorts));
  KERF_TRY(const Tensor flat, self.contiguous());
  KERF_TRY(const Tensor chosen, indexTensor(groups.first, lengthOf(groups.first)));
  const Tensor line = flat.viewAs({self.numel()}, {1}, flat.offset());
  KERF_TRY(Tensor values, callTensorOp("aten.index_select.default"_op, {line, std::int64_t{0}, chosen}));
  KERF_TRY(Tensor positions,
           indexTensor(inverse ? groups.inverse : std::vector<std::int64_t>(), inverse ? self.sizes() : Sizes{0}));
  ValueList outs{std::move(values), std::move(positions)};
  if (!counts) return Value(std::move(outs));
  const auto numbers = *counts ? groups.counts : std::vector<std::int64_t>();
  KERF_TRY(Tensor counted, indexTensor(numbers, lengthOf(numbers)));
  outs.emplace_back(std::move(counted));
  return Value(std::move(outs));
}

/// Slices along a dimension; inverse and counts are always filled, as in PyTorch. The result is a dense tensor with
/// that dimension first, moved back into its place.
Result<Value> uniqueSlices(const BoundArguments& args, std::int64_t givenDim, bool sorts) {
  const Tensor& self = args.tensor(0);
  if (self.dim() == 0) return mismatch(args, "argument 'dim' needs a tensor with dimensions");
  KERF_TRY(const std::int64_t dim, wrapDim(args, givenDim, self.dim()));
  const auto empty = std::ranges::count(self.sizes(), 0);
  if (empty > (self.size(dim) == 0 ? 1 : 0)) return mismatch(args, "dimensions without elements cannot be compared");
  Sizes order{dim}, back;
  for (std::int64_t d = 0; d < self.dim(); ++d)
    if (d != dim) order.push_back(d);
  for (std::int64_t d = 0; d < self.dim(); ++d) back.push_back(d == dim ? 0 : d < dim ? d + 1 : d);
  KERF_TRY(const Tensor moved, callTensorOp("aten.permute.default"_op, {self, intList(order)}));
  KERF_TRY(const Tensor rows, moved.contiguous());
  KERF_TRY(const Groups groups, groupTensor(rows, self.size(dim), sorts));
  KERF_TRY(const Tensor chosen, indexTensor(groups.first, lengthOf(groups.first)));
  KERF_TRY(const Tensor picked, callTensorOp("aten.index_select.default"_op, {rows, std::int64_t{0}, chosen}));
  KERF_TRY(Tensor values, callTensorOp("aten.permute.default"_op, {picked, intList(back)}));
  KERF_TRY(Tensor inverse, indexTensor(groups.inverse, lengthOf(groups.inverse)));
  KERF_TRY(Tensor counts, indexTensor(groups.counts, lengthOf(groups.counts)));
  return Value(ValueList{std::move(values), std::move(inverse), std::move(counts)});
}

Result<Value> uniqueKernel(const BoundArguments& args) { return uniqueElements(args, true, args.boolean(2), {}); }
Result<Value> unique2Kernel(const BoundArguments& args) {
  return uniqueElements(args, true, args.boolean(2), args.boolean(3));
}
Result<Value> consecutiveKernel(const BoundArguments& args) {
  if (takesElements(args)) return uniqueElements(args, false, args.boolean(1), args.boolean(2));
  return uniqueSlices(args, args.integer(3), false);
}
Result<Value> uniqueDimKernel(const BoundArguments& args) { return uniqueSlices(args, args.integer(1), true); }
Result<Value> consecutiveDimKernel(const BoundArguments& args) { return uniqueSlices(args, args.integer(1), false); }

constexpr OpTrait data = OpTrait::DataDependent;
constexpr OpRow uniqueRows[] = {
    {"aten::_unique(Tensor self, bool sorted=True, bool return_inverse=False) -> (Tensor, Tensor)", data, uniqueShape,
     uniqueKernel},
    {"aten::_unique2(Tensor self, bool sorted=True, bool return_inverse=False, bool return_counts=False) -> (Tensor, "
     "Tensor, Tensor)",
     data, unique2Shape, unique2Kernel},
    {"aten::unique_consecutive(Tensor self, bool return_inverse=False, bool return_counts=False, int? dim=None) -> "
     "(Tensor, Tensor, Tensor)",
     data, consecutiveShape, consecutiveKernel},
    {"aten::unique_dim(Tensor self, int dim, bool sorted=True, bool return_inverse=False, bool return_counts=False) -> "
     "(Tensor, Tensor, Tensor)",
     data, dimShape, uniqueDimKernel},
    {"aten::unique_dim_consecutive(Tensor self, int dim, bool return_inverse=False, bool return_counts=False) -> "
     "(Tensor, Tensor, Tensor)",
     data, dimShape, consecutiveDimKernel},
};

const OpRegistration uniqueOps({.rows = uniqueRows});

}  // namespace

}  // namespace kerf::inline ops
