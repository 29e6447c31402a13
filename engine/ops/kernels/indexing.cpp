#include "engine/ops/kernels/indexing.h"

#include "engine/ops/core/strides.h"
#include "engine/ops/core/symbolic_checks.h"
#include "engine/tensor/copy.h"
#include "engine/tensor/dispatch.h"

namespace kerf::inline ops {
namespace {

bool isMask(const Tensor& tensor) { return tensor.dtype() == DType::Bool || tensor.dtype() == DType::UInt8; }

Result<Tensor> int64Tensor(const std::vector<std::int64_t>& values) {
  KERF_TRY(Tensor result, Tensor::zeros(DType::Int64, {std::int64_t(values.size())}));
  std::ranges::copy(values, result.data<std::int64_t>());
  return result;
}

/// The index tensors of a mask whose values are not known: columns of what nonzero(mask) gives.
Result<void> appendUnknown(const BoundArguments& args, const Tensor& mask,
                           std::vector<std::optional<Tensor>>& expanded) {
  ShapeEnv* env = ShapeEnv::current();
  if (env == nullptr) return fail(ErrorCode::UnsupportedOp, "{}: the shape depends on a mask's values", args.opName());
  const SymInt count = env->addUnbacked({0, env->range(mask.symNumel()).upper});
  for (std::int64_t d = 0; d < mask.dim(); ++d) expanded.emplace_back(metaTensor(DType::Int64, {count}, {1}));
  return {};
}

/// A mask of d dimensions stands for d index tensors.
Result<void> appendMask(const BoundArguments& args, const Tensor& self, const Tensor& mask,
                        std::vector<std::optional<Tensor>>& expanded) {
  for (std::int64_t d = 0; d < mask.dim(); ++d) {
    const auto at = std::int64_t(expanded.size()) + d;
    if (at >= self.dim() || !checkEqual(self.symSize(at), mask.symSize(d)))
      return mismatch(args, "the mask's shape [{}] does not match the tensor's [{}]", fmt::join(mask.symSizes(), ", "),
                      fmt::join(self.symSizes(), ", "));
  }
  if (!mask.defined()) return appendUnknown(args, mask, expanded);
  KERF_TRY(const auto coordinates, nonzeroCoordinates(mask));
  for (const auto& axis : coordinates) {
    KERF_TRY(Tensor index, int64Tensor(axis));
    expanded.emplace_back(std::move(index));
  }
  return {};
}

Result<std::vector<std::optional<Tensor>>> expandMasks(const BoundArguments& args, const Tensor& self,
                                                       const Value& indices) {
  std::vector<std::optional<Tensor>> expanded;
  for (const Value& item : indices.list()) {
    if (item.isNone())
      expanded.emplace_back();
    else if (isMask(item.tensor()))
      KERF_CHECK(appendMask(args, self, item.tensor(), expanded));
    else if (!isIntegral(item.tensor().dtype()))
      return mismatch(args, "indices must be integers or masks");
    else
      expanded.emplace_back(item.tensor());
  }
  if (std::int64_t(expanded.size()) > self.dim())
    return mismatch(args, "too many indices ({}) for a tensor of {} dimensions", expanded.size(), self.dim());
  expanded.resize(self.symSizes().size());
  return expanded;
}

/// Whether the indexed dimensions follow one another.
bool adjacent(const std::vector<std::optional<Tensor>>& indices) {
  int runs = 0;
  bool inside = false;
  for (const auto& index : indices) {
    runs += index && !inside;
    inside = index.has_value();
  }
  return runs <= 1;
}

void layOut(IndexPlan& plan, const Tensor& self) {
  const bool inPlace = adjacent(plan.indices);
  std::size_t first = 0;
  while (inPlace && first < plan.indices.size() && !plan.indices[first]) ++first;
  plan.firstIndexDim = std::int64_t(inPlace ? first : 0);
  const auto appendIndex = [&] {
    plan.resultSizes.append(plan.indexSizes.begin(), plan.indexSizes.end());
    plan.selfStrides.insert(plan.selfStrides.end(), plan.indexSizes.size(), 0);
  };
  bool placed = false;
  for (std::size_t d = 0; d <= plan.indices.size(); ++d) {
    if (!placed && std::int64_t(d) == plan.firstIndexDim) {
      appendIndex();
      placed = true;
    }
    if (d == plan.indices.size() || plan.indices[d]) continue;
    plan.resultSizes.push_back(self.symSizes()[d]);
    plan.selfStrides.push_back(self.symStrides()[d]);
    plan.restSizes.push_back(self.symSizes()[d]);
  }
}

}  // namespace

Result<std::vector<std::vector<std::int64_t>>> nonzeroCoordinates(const Tensor& tensor) {
  std::vector<std::vector<std::int64_t>> result(tensor.sizes().size());
  KERF_TRY(const Tensor flat, tensor.contiguous());
  KERF_CHECK(dispatchAll(flat.dtype(), [&]<class T>() {
    const T* data = flat.data<T>();
    const std::int64_t count = flat.numel();
    for (std::int64_t i = 0; i < count; ++i) {
      if (data[i] == T(0)) continue;
      std::int64_t rest = i;
      for (std::size_t d = result.size(); d-- > 0; rest /= flat.sizes()[d]) result[d].push_back(rest % flat.sizes()[d]);
    }
  }));
  return result;
}

Result<IndexPlan> planIndex(const BoundArguments& args, const Tensor& self, const Value& indices) {
  IndexPlan plan;
  KERF_TRY(plan.indices, expandMasks(args, self, indices));
  for (const auto& index : plan.indices) {
    if (!index) continue;
    auto sizes = broadcastSizes(plan.indexSizes, index->symSizes());
    if (!sizes) return mismatch(args, "indices: {}", sizes.error().message);
    plan.indexSizes = std::move(*sizes);
  }
  layOut(plan, self);
  return plan;
}

Result<std::int64_t> wrapIndex(const BoundArguments& args, std::int64_t index, std::int64_t size, std::int64_t dim) {
  if (index >= -size && index < size) return index < 0 ? index + size : index;
  return fail(ErrorCode::RuntimeFailed, "{}: index {} is out of bounds for dimension {} with size {}", args.opName(),
              index, dim, size);
}

Result<void> checkIndex(const BoundArguments& args, std::int64_t index, std::int64_t size, std::int64_t dim) {
  if (index >= 0 && index < size) return {};
  return fail(ErrorCode::RuntimeFailed, "{}: index {} is out of bounds for dimension {} with size {}", args.opName(),
              index, dim, size);
}

Result<std::vector<std::int64_t>> integerValues(const Tensor& tensor) {
  KERF_TRY(const Tensor wide, tensor.to(DType::Int64));
  KERF_TRY(const Tensor flat, wide.contiguous());
  const std::int64_t* data = flat.data<std::int64_t>();
  return std::vector<std::int64_t>(data, data + flat.numel());
}

Result<std::vector<std::int64_t>> indexOffsets(const BoundArguments& args, const IndexPlan& plan, const Tensor& self) {
  KERF_TRY(const std::int64_t count, checkedNumel(plan.indexSizes));
  std::vector<std::int64_t> offsets(std::size_t(count), 0);
  for (std::size_t d = 0; d < plan.indices.size(); ++d) {
    if (!plan.indices[d]) continue;
    const Tensor& index = *plan.indices[d];
    KERF_TRY(const auto values,
             integerValues(index.viewAs(plan.indexSizes, broadcastStrides(index, plan.indexSizes), index.offset())));
    for (std::size_t i = 0; i < values.size(); ++i) {
      KERF_TRY(const std::int64_t at, wrapIndex(args, values[i], self.sizes()[d], std::int64_t(d)));
      offsets[i] += at * self.strides()[d];
    }
  }
  return offsets;
}

}  // namespace kerf::inline ops
