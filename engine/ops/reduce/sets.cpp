// Ops whose result's size depends on values, and counts of values.
#include <algorithm>
#include <cmath>

#include "engine/ops/core/op_registration.h"
#include "engine/ops/kernels/data_sizes.h"
#include "engine/ops/kernels/doubles.h"
#include "engine/ops/kernels/element_math.h"
#include "engine/ops/kernels/indexing.h"
#include "engine/ops/kernels/planes.h"
#include "engine/tensor/copy.h"
#include "engine/tensor/dispatch.h"

namespace kerf::inline ops {
namespace {

Result<Value> nonzeroShape(const BoundArguments& args) {
  const Tensor& self = args.tensor(0);
  KERF_TRY(const SymInt count, sizeFromData(args, self.symNumel()));
  return Value(metaTensor(DType::Int64, SymSizes{count, self.dim()}, SymSizes{1, count}));
}
Result<Value> maskedSelectShape(const BoundArguments& args) {
  const Tensor &self = args.tensor(0), &mask = args.tensor(1);
  if (mask.dtype() != DType::Bool) return mismatch(args, "argument 'mask' must be a bool tensor");
  KERF_TRY(const SymSizes sizes, broadcastSizes(self.symSizes(), mask.symSizes()));
  KERF_TRY(const SymInt count, sizeFromData(args, symProduct(sizes)));
  return Value(metaTensor(self.dtype(), SymSizes{count}));
}
Result<Value> repeatsShape(const BoundArguments& args) {
  if (args.tensor(0).dim() != 1) return mismatch(args, "argument 'repeats' must have 1 dimension");
  const DType dtype = args.tensor(0).dtype();
  if (dtype != DType::Int64 && dtype != DType::Int32)
    return mismatch(args, "argument 'repeats' must be int32 or int64");
  const auto given = ShapeEnv::current() != nullptr ? args.symIntegerIf(1) : std::nullopt;  // a promise that may break
  KERF_TRY(const SymInt count, given ? Result<SymInt>(*given) : sizeFromData(args, {}));
  return Value(metaTensor(args.tensor(0).dtype(), SymSizes{count}));
}

DType binType(const Tensor* weights) {
  if (weights == nullptr) return DType::Int64;
  return weights->dtype() == DType::Float32 ? DType::Float32 : DType::Float64;
}
Result<Value> bincountShape(const BoundArguments& args) {
  const Tensor& self = args.tensor(0);
  if (self.dim() != 1 || !isIntegral(self.dtype())) return mismatch(args, "needs a vector of non-negative integers");
  const SymInt least = args.symInteger(2);
  if (guardOrFalse(least < 0)) return mismatch(args, "argument 'minlength' is negative");
  KERF_TRY(const SymInt count, sizeFromData(args, {}, least));
  return Value(metaTensor(binType(args.tensorIf(1)), SymSizes{count}));
}

Result<Tensor> int64Tensor(const std::vector<std::int64_t>& values, const Sizes& sizes) {
  KERF_TRY(Tensor out, Tensor::zeros(DType::Int64, sizes));
  std::ranges::copy(values, out.data<std::int64_t>());
  return out;
}

/// [count, rank], column-major as torch.nonzero gives it.
Result<Value> nonzeroKernel(const BoundArguments& args) {
  const Tensor& self = args.tensor(0);
  KERF_TRY(const auto coordinates, nonzeroCoordinates(self));
  std::int64_t count = coordinates.empty() ? (self.itemAsDouble() != 0 ? 1 : 0) : std::int64_t(coordinates[0].size());
  KERF_TRY(Tensor out, Tensor::zerosStrided(DType::Int64, {count, self.dim()}, {1, std::max<std::int64_t>(count, 1)}));
  for (std::size_t d = 0; d < coordinates.size(); ++d)
    std::ranges::copy(coordinates[d], out.data<std::int64_t>() + std::int64_t(d) * count);
  return Value(std::move(out));
}

Result<Value> nonzeroStaticShape(const BoundArguments& args) {
  const SymInt size = args.symInteger(1);
  if (guardOrFalse(size < 0)) return mismatch(args, "argument 'size' is negative");
  return Value(metaTensor(DType::Int64, SymSizes{size, args.tensor(0).dim()}));
}
Result<Value> nonzeroStaticKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeOutput(args));
  KERF_TRY(const auto coordinates, nonzeroCoordinates(args.tensor(0)));
  for (std::int64_t i = 0; i < out.size(0) && !coordinates.empty(); ++i)
    for (std::size_t d = 0; d < coordinates.size(); ++d)
      out.data<std::int64_t>()[i * out.size(1) + std::int64_t(d)] =
          i < std::int64_t(coordinates[d].size()) ? coordinates[d][std::size_t(i)] : args.integer(2);
  return Value(std::move(out));
}

Result<Value> maskedSelectKernel(const BoundArguments& args) {
  const Tensor &self = args.tensor(0), &mask = args.tensor(1);
  if (mask.dtype() != DType::Bool) return mismatch(args, "argument 'mask' must be a bool tensor");
  KERF_TRY(const Sizes sizes, broadcastSizes(self.sizes(), mask.sizes()));
  KERF_TRY(const auto chosen, integerValues(mask.viewAs(sizes, broadcastStrides(mask, sizes), mask.offset())));
  KERF_TRY(const Tensor flat, self.viewAs(sizes, broadcastStrides(self, sizes), self.offset()).clone());
  KERF_TRY(Tensor out,
           Tensor::zeros(self.dtype(), {std::int64_t(std::ranges::count_if(chosen, [](auto c) { return c != 0; }))}));
  KERF_CHECK(dispatchBits(itemSize(self.dtype()), [&]<class T>() {
    std::int64_t next = 0;
    for (std::size_t i = 0; i < chosen.size(); ++i)
      if (chosen[i] != 0) out.data<T>()[next++] = flat.data<T>()[i];
  }));
  return Value(std::move(out));
}

/// repeat_interleave(repeats): index i repeats[i] times.
Result<Value> repeatInterleaveKernel(const BoundArguments& args) {
  const DType dtype = args.tensor(0).dtype();
  if (dtype != DType::Int64 && dtype != DType::Int32)
    return mismatch(args, "argument 'repeats' must be int32 or int64");
  KERF_TRY(const auto repeats, integerValues(args.tensor(0)));
  if (args.tensor(0).dim() != 1) return mismatch(args, "argument 'repeats' must have 1 dimension");
  std::vector<std::int64_t> indices;
  std::int64_t total = 0;
  for (std::int64_t count : repeats) {
    if (count < 0 || count > (1LL << 32) - total) return mismatch(args, "repeats can not be negative or huge");
    total += count;
  }
  if (const auto promised = args.integerIf(1); promised && *promised != total)
    return mismatch(args, "output_size is {}, the repeats add up to {}", *promised, total);
  indices.reserve(std::size_t(total));
  for (std::size_t i = 0; i < repeats.size(); ++i)
    indices.insert(indices.end(), std::size_t(repeats[i]), std::int64_t(i));
  KERF_TRY(const Tensor wide, int64Tensor(indices, {total}));
  KERF_TRY(Tensor out, wide.to(args.tensor(0).dtype()));
  return Value(std::move(out));
}

// Counting

Result<Value> bincountKernel(const BoundArguments& args) {
  const Tensor& self = args.tensor(0);
  if (self.dim() != 1 || !isIntegral(self.dtype())) return mismatch(args, "needs a vector of non-negative integers");
  KERF_TRY(const auto values, integerValues(self));
  const Tensor* weights = args.tensorIf(1);
  std::int64_t size = args.integer(2);
  for (std::int64_t value : values) {
    if (value < 0 || value > (1LL << 32)) return mismatch(args, "element {} is out of range", value);
    size = std::max(size, value + 1);
  }
  if (size < 0) return mismatch(args, "argument 'minlength' is negative");
  Doubles shares(values.size(), 1.0);
  if (weights) {
    if (weights->numel() != self.numel()) return mismatch(args, "weights and input differ in size");
    KERF_TRY(shares, doublesOf(*weights));
  }
  KERF_TRY(Tensor out, Tensor::zeros(binType(weights), {size}));
  Doubles sums(std::size_t(size), 0.0);
  for (std::size_t i = 0; i < values.size(); ++i) sums[std::size_t(values[i])] += shares[i];
  KERF_CHECK(writeValues(sums, out));
  return Value(std::move(out));
}

Result<Value> histcShape(const BoundArguments& args) {
  if (args.integer(1) <= 0) return mismatch(args, "argument 'bins' must be positive, got {}", args.integer(1));
  return Value(metaTensor(args.tensor(0).dtype(), Sizes{args.integer(1)}));
}
Result<Value> histcKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeOutput(args));
  KERF_TRY(const Doubles x, doublesOf(args.tensor(0)));
  double low = args.number(2), high = args.number(3);
  if (low == high && !x.empty()) {
    low = *std::ranges::min_element(x);
    high = *std::ranges::max_element(x);
  }
  if (low == high) {
    low -= 1;
    high += 1;
  }
  if (!std::isfinite(low) || !std::isfinite(high) || low > high)
    return mismatch(args, "range [{}, {}] is not valid", low, high);
  Doubles counts(std::size_t(args.integer(1)), 0.0);
  const auto r = [dtype = out.dtype()](double value) { return roundedTo(dtype, value); };  // as PyTorch finds bins
  low = r(low), high = r(high);
  const double bins = r(double(counts.size())), span = r(high - low);
  for (double value : x) {
    if (!(value >= low && value <= high)) continue;
    const auto bin = std::size_t(r(r(r(value - low) * bins) / span));
    counts[std::min(bin, counts.size() - 1)] += 1;
  }
  KERF_CHECK(writeValues(counts, out));
  return Value(std::move(out));
}

constexpr OpTrait data = OpTrait::DataDependent;
constexpr OpTrait none = OpTrait::None;
constexpr OpRow setRows[] = {
    {"aten::nonzero(Tensor self) -> Tensor", data, nonzeroShape, nonzeroKernel},
    {"aten::nonzero_static(Tensor self, *, SymInt size, int fill_value=-1) -> Tensor", none, nonzeroStaticShape,
     nonzeroStaticKernel},
    {"aten::masked_select(Tensor self, Tensor mask) -> Tensor", data, maskedSelectShape, maskedSelectKernel},
    {"aten::repeat_interleave.Tensor(Tensor repeats, *, SymInt? output_size=None) -> Tensor", data, repeatsShape,
     repeatInterleaveKernel},
    {"aten::bincount(Tensor self, Tensor? weights=None, SymInt minlength=0) -> Tensor", data, bincountShape,
     bincountKernel},
    {"aten::histc(Tensor self, int bins=100, Scalar min=0, Scalar max=0) -> Tensor", none, histcShape, histcKernel},
};

const OpRegistration setOps({.rows = setRows});

}  // namespace

}  // namespace kerf::inline ops
