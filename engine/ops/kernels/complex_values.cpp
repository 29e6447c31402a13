#include "engine/ops/kernels/complex_values.h"

#include "engine/ops/core/strides.h"
#include "engine/tensor/copy.h"

namespace kerf::inline ops {

DType toComplex(DType dtype) {
  if (isComplex(dtype)) return dtype;
  if (dtype == DType::Float64) return DType::Complex128;
  return dtype == DType::Float16 ? DType::Complex32 : DType::Complex64;
}

DType partOf(DType dtype) {
  if (dtype == DType::Complex128) return DType::Float64;
  if (dtype == DType::Complex64) return DType::Float32;
  return dtype == DType::Complex32 ? DType::Float16 : dtype;
}

Tensor partsView(const Tensor& tensor) {
  SymSizes sizes = tensor.symSizes(), strides = tensor.symStrides();
  for (SymInt& stride : strides) stride *= 2;
  sizes.push_back(2);
  strides.push_back(1);
  Tensor parts(tensor.storage(), partOf(tensor.dtype()), std::move(sizes), std::move(strides), tensor.symOffset() * 2);
  parts.setDevice(tensor.device());
  return parts;
}

Result<Complexes> complexesOf(const Tensor& tensor) {
  Complexes values(std::size_t(tensor.numel()));
  if (values.empty()) return values;
  Sizes sizes = tensor.sizes();
  sizes.push_back(2);
  auto* bytes = reinterpret_cast<std::byte*>(values.data());
  const auto storage = Storage::borrow(bytes, std::int64_t(values.size() * sizeof(Z)), std::make_shared<int>(0));
  Sizes strides = contiguousStrides(sizes);
  if (isComplex(tensor.dtype())) {
    KERF_CHECK(copyElements(partsView(tensor), Tensor(storage, DType::Float64, sizes, strides)));
    return values;
  }
  sizes.pop_back();
  strides.pop_back();
  KERF_CHECK(copyElements(tensor, Tensor(storage, DType::Float64, sizes, strides)));
  return values;
}

Result<Complexes> complexesOf(const Tensor& tensor, const Sizes& sizes) {
  KERF_TRY(const Sizes both, broadcastSizes(tensor.sizes(), sizes));
  if (both != sizes)
    return fail(ErrorCode::ShapeMismatch, "shape [{}] does not broadcast to [{}]", fmt::join(tensor.sizes(), ", "),
                fmt::join(sizes, ", "));
  return complexesOf(tensor.viewAs(sizes, broadcastStrides(tensor, sizes), tensor.offset()));
}

Result<void> writeComplexes(const Complexes& values, const Tensor& out) {
  if (values.empty()) return {};
  auto* bytes = const_cast<std::byte*>(reinterpret_cast<const std::byte*>(values.data()));
  const Tensor wide(Storage::borrow(bytes, std::int64_t(values.size() * sizeof(Z)), std::make_shared<int>(0)),
                    DType::Complex128, out.sizes(), contiguousStrides(out.sizes()));
  return isComplex(out.dtype()) ? copyElements(partsView(wide), partsView(out)) : copyElements(wide, out);
}

Z multiply(Z a, Z b) { return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()}; }

Z divide(Z x, Z y) {
  const double a = x.real(), b = x.imag(), c = y.real(), d = y.imag();
  if (std::abs(c) >= std::abs(d)) {
    if (c == 0 && d == 0) return {a / std::abs(c), b / std::abs(d)};
    const double ratio = d / c, scale = 1 / (c + d * ratio);
    return {(a + b * ratio) * scale, (b - a * ratio) * scale};
  }
  const double ratio = c / d, scale = 1 / (c * ratio + d);
  return {(a * ratio + b) * scale, (b * ratio - a) * scale};
}

}  // namespace kerf::inline ops
