// Fourier transforms: ATen's three primitives with their strides, and the torch.fft functions on top of them.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/mathlib/fft.h"
#include "engine/ops/core/op_registration.h"
#include "engine/ops/kernels/complex_values.h"
#include "engine/support/thread_pool.h"

namespace kerf::inline ops {
namespace {

/// Transforms every line along `dim` of row-major data.
void transformLines(Complexes& x, const Sizes& sizes, std::int64_t dim, bool forward) {
  const Sizes strides = contiguousStrides(sizes);
  const std::int64_t length = sizes[std::size_t(dim)], step = strides[std::size_t(dim)];
  if (length < 2 || x.empty()) return;
  const Fft plan(length);
  const auto lines = std::int64_t(x.size()) / length;
  parallelFor(lines, std::max<std::int64_t>(1, 4096 / length), [&](std::int64_t begin, std::int64_t end) {
    auto line = Complexes(std::size_t(length));
    for (std::int64_t l = begin; l < end; ++l) {
      const std::int64_t start = l / step * step * length + l % step;
      for (std::int64_t i = 0; i < length; ++i) line[std::size_t(i)] = x[std::size_t(start + i * step)];
      plan.run(line.data(), forward);
      for (std::int64_t i = 0; i < length; ++i) x[std::size_t(start + i * step)] = line[std::size_t(i)];
    }
  });
}

/// 0: none, 1: by the square root of the length, 2: by the length.
double scaleOf(std::int64_t normalization, const Sizes& sizes, const Sizes& dims) {
  double length = 1;
  for (std::int64_t dim : dims) length *= double(sizes[std::size_t(dim)]);
  return normalization == 0 || length == 0 ? 1 : normalization == 1 ? 1 / std::sqrt(length) : 1 / length;
}

Result<Sizes> checkedDims(const BoundArguments& args) {
  KERF_TRY(const Sizes dims, wrapDims(args, args.sizes(1), args.tensor(0).dim()));
  if (args.integer(2) < 0 || args.integer(2) > 2)
    return mismatch(args, "argument 'normalization' must be 0, 1 or 2, got {}", args.integer(2));
  for (std::int64_t dim : dims)
    if (args.tensor(0).dim() == 0 || guardOrFalse(args.tensor(0).symSize(dim) < 1))
      return mismatch(args, "invalid number of data points along dimension {}", dim);
  return dims;
}

/// Orders dimensions by their strides; those that depend on data stay where they are.
struct LargerStride {
  const SymSizes& strides;
  bool operator()(std::int64_t a, std::int64_t b) const {
    return guardOrFalse(strides[std::size_t(a)] > strides[std::size_t(b)]);
  }
};

/// Transformed dimensions, largest stride first; the last stays last when asked.
Sizes sortedDims(const SymSizes& strides, Sizes dims, bool keepLast) {
  if (dims.size() < 2) return dims;
  const auto end = dims.end() - (keepLast ? 1 : 0);
  std::stable_sort(dims.begin(), end, LargerStride{strides});
  return dims;
}

/// Batch dimensions in stride order, then the transformed ones: how the library call sees the data, and its output too.
SymSizes fftStrides(const SymSizes& inStrides, const SymSizes& outSizes, const Sizes& dims) {
  Sizes order;
  for (std::int64_t d = 0; d < std::int64_t(outSizes.size()); ++d)
    if (std::ranges::find(dims, d) == dims.end()) order.push_back(d);
  std::ranges::stable_sort(order, LargerStride{inStrides});
  order.insert(order.end(), dims.begin(), dims.end());
  SymSizes strides(outSizes.size());
  SymInt step = 1;
  for (std::size_t k = order.size(); k-- > 0;) {
    strides[std::size_t(order[k])] = step;
    step *= symMax(1, outSizes[std::size_t(order[k])]);
  }
  return strides;
}

// c2c

Result<Value> c2cShape(const BoundArguments& args) {
  const Tensor& self = args.tensor(0);
  if (!isComplex(self.dtype())) return mismatch(args, "expects a complex input tensor");
  KERF_TRY(const Sizes dims, checkedDims(args));
  if (dims.empty()) return Value(metaTensor(self.dtype(), self.symSizes(), self.symStrides()));
  return Value(metaTensor(self.dtype(), self.symSizes(),
                          fftStrides(self.symStrides(), self.symSizes(), sortedDims(self.symStrides(), dims, false))));
}
Result<Value> c2cKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeOutput(args));
  KERF_TRY(const Sizes dims, checkedDims(args));
  KERF_TRY(Complexes x, complexesOf(args.tensor(0)));
  for (std::int64_t dim : dims) transformLines(x, out.sizes(), dim, args.boolean(3));
  const double scale = scaleOf(args.integer(2), out.sizes(), dims);
  for (Z& z : x) z *= scale;
  KERF_CHECK(writeComplexes(x, out));
  return Value(std::move(out));
}

// r2c

Result<Value> r2cShape(const BoundArguments& args) {
  const Tensor& self = args.tensor(0);
  if (!isFloating(self.dtype())) return mismatch(args, "expects a floating point input tensor");
  KERF_TRY(const Sizes dims, checkedDims(args));
  if (dims.empty()) return mismatch(args, "needs at least one dimension");
  SymSizes sizes = self.symSizes();
  SymInt& last = sizes[std::size_t(dims.back())];
  if (args.boolean(3)) last = floorDiv(last, 2) + 1;
  return Value(metaTensor(toComplex(self.dtype()), sizes,
                          fftStrides(self.symStrides(), sizes, sortedDims(self.symStrides(), dims, true))));
}
Result<Value> r2cKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeOutput(args));
  const Tensor& self = args.tensor(0);
  KERF_TRY(const Sizes dims, checkedDims(args));
  KERF_TRY(Complexes x, complexesOf(self));
  for (std::int64_t dim : dims) transformLines(x, self.sizes(), dim, true);
  const double scale = scaleOf(args.integer(2), self.sizes(), dims);
  for (Z& z : x) z *= scale;
  KERF_TRY(const Tensor full, Tensor::zeros(DType::Complex128, self.sizes()));
  std::ranges::copy(x, full.data<Z>());
  KERF_TRY(const Complexes kept, complexesOf(full.viewAs(out.sizes(), full.strides(), 0)));
  KERF_CHECK(writeComplexes(kept, out));
  return Value(std::move(out));
}

// c2r

Result<Value> c2rShape(const BoundArguments& args) {
  const Tensor& self = args.tensor(0);
  if (!isComplex(self.dtype())) return mismatch(args, "expects a complex input tensor");
  KERF_TRY(const Sizes dims, checkedDims(args));
  if (dims.empty()) return mismatch(args, "needs at least one dimension");
  const SymInt points = args.symInteger(3), given = self.symSize(dims.back());
  if (guardOrFalse(points < 1) || guardOrFalse(floorDiv(points, 2) + 1 > given))
    return mismatch(args, "{} points along dimension {} cannot come from {} frequencies", points, dims.back(), given);
  SymSizes sizes = self.symSizes();
  sizes[std::size_t(dims.back())] = points;
  SymSizes between = self.symStrides();
  if (dims.size() > 1) {
    const Sizes outer(dims.begin(), dims.end() - 1);
    between = fftStrides(self.symStrides(), self.symSizes(), sortedDims(self.symStrides(), outer, false));
  }
  return Value(metaTensor(partOf(self.dtype()), sizes, fftStrides(between, sizes, {dims.back()})));
}
Result<Value> c2rKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeOutput(args));
  const Tensor& self = args.tensor(0);
  KERF_TRY(const Sizes dims, checkedDims(args));
  KERF_TRY(Complexes x, complexesOf(self));
  for (std::size_t i = 0; i + 1 < dims.size(); ++i) transformLines(x, self.sizes(), dims[i], false);
  const std::int64_t last = dims.back(), n = args.integer(3), given = self.size(last);
  const std::int64_t step = contiguousStrides(self.sizes())[std::size_t(last)];
  Complexes full(std::size_t(out.numel()));
  const auto lines = std::int64_t(full.size()) / n;
  for (std::int64_t l = 0; l < lines; ++l) {  // the second half is the conjugate of the first
    const std::int64_t from = l / step * step * given + l % step, to = l / step * step * n + l % step;
    for (std::int64_t k = 0; k < n; ++k) {
      const Z value = x[std::size_t(from + std::min(k, n - k) * step)];
      full[std::size_t(to + k * step)] = 2 * k > n ? std::conj(value) : value;
    }
    for (std::int64_t k : {std::int64_t{0}, n % 2 == 0 ? n / 2 : 0})  // these are their own conjugates
      full[std::size_t(to + k * step)].imag(0);
  }
  transformLines(full, out.sizes(), last, false);
  const double scale = scaleOf(args.integer(2), out.sizes(), dims);
  for (Z& z : full) z *= scale;
  KERF_CHECK(writeComplexes(full, out));
  return Value(std::move(out));
}

constexpr OpTrait none = OpTrait::None;
constexpr OpRow fftRows[] = {
    {"aten::_fft_c2c(Tensor self, SymInt[] dim, int normalization, bool forward) -> Tensor", none, c2cShape, c2cKernel},
    {"aten::_fft_r2c(Tensor self, int[] dim, int normalization, bool onesided) -> Tensor", none, r2cShape, r2cKernel},
    {"aten::_fft_c2r(Tensor self, int[] dim, int normalization, SymInt last_dim_size) -> Tensor", none, c2rShape,
     c2rKernel},
};

const OpRegistration fftOps({.rows = fftRows});

}  // namespace

}  // namespace kerf::inline ops
