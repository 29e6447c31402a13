#include "engine/ops/linalg/support.h"

#include <cmath>

#include "engine/ops/core/strides.h"
#include "engine/tensor/copy.h"

namespace kerf::inline ops::linalg {

DType realOf(DType dtype) {
  if (dtype == DType::Complex128) return DType::Float64;
  if (dtype == DType::Complex64) return DType::Float32;
  return dtype == DType::Complex32 ? DType::Float16 : dtype;
}

DType complexOf(DType dtype) {
  if (isComplex(dtype)) return dtype;
  if (dtype == DType::Float64) return DType::Complex128;
  return dtype == DType::Float16 ? DType::Complex32 : DType::Complex64;
}

SymSizes batchSizes(const Tensor& tensor, std::size_t count) {
  return SymSizes(tensor.symSizes().begin(), tensor.symSizes().end() - std::ptrdiff_t(count));
}

SymSizes joined(SymSizes batch, std::initializer_list<SymInt> rest) {
  batch.append(rest.begin(), rest.end());
  return batch;
}

Tensor columnMajorMeta(DType dtype, const SymSizes& batch, SymInt rows, SymInt columns) {
  SymSizes strides = contiguousStrides(joined(batch, {rows, columns}));
  strides[strides.size() - 2] = 1;
  strides[strides.size() - 1] = symMax(rows, 1);
  return metaTensor(dtype, joined(batch, {rows, columns}), strides);
}

Tensor emptyMeta(DType dtype) { return metaTensor(dtype, Sizes{0}); }

bool fitsLapack(SymInt m, SymInt n) { return m.isSymbolic() || n.isSymbolic() || lapack::fitsInt(m, n); }

Result<void> wantMatrix(const BoundArguments& args, std::size_t i, bool square) {
  const Tensor& tensor = args.tensor(i);
  const std::string& name = args.op->schema.arguments[i].name;
  if (isIntegral(tensor.dtype()))
    return mismatch(args, "argument '{}' must have a floating point or complex dtype, has {}", name,
                    dtypeInfo(tensor.dtype()).torchName);
  if (tensor.dim() < 2) return mismatch(args, "argument '{}' must have at least 2 dimensions", name);
  const SymInt rows = tensor.symSize(tensor.dim() - 2), columns = tensor.symSize(tensor.dim() - 1);
  if (square && guardOrFalse(rows != columns))
    return mismatch(args, "argument '{}' must be batches of square matrices, but they are {} by {} matrices", name,
                    rows, columns);
  if (!fitsLapack(rows, columns))
    return fail(ErrorCode::TooLarge, "{}: argument '{}' is too large for LAPACK", args.opName(), name);
  return {};
}

Result<SymSizes> commonBatch(const BoundArguments& args, const SymSizes& a, const SymSizes& b) {
  auto sizes = broadcastSizes(a, b);
  if (!sizes)
    return mismatch(args, "batch dimensions [{}] and [{}] do not broadcast", fmt::join(a, ", "), fmt::join(b, ", "));
  return *sizes;
}

Tensor expandBatch(const Tensor& tensor, const SymSizes& batch) {
  const SymSizes sizes = joined(batch, {tensor.symSize(tensor.dim() - 2), tensor.symSize(tensor.dim() - 1)});
  return tensor.viewAs(sizes, broadcastStrides(tensor, sizes), tensor.symOffset());
}

namespace {

Tensor turned(const Tensor& tensor) {
  SymSizes sizes = tensor.symSizes(), strides = tensor.symStrides();
  std::swap(sizes[sizes.size() - 1], sizes[sizes.size() - 2]);
  std::swap(strides[strides.size() - 1], strides[strides.size() - 2]);
  return tensor.viewAs(sizes, strides, tensor.symOffset());
}

std::int64_t countOf(const Sizes& sizes) {
  std::int64_t count = 1;
  for (std::int64_t size : sizes) count *= size;
  return count;
}

}  // namespace

Result<Matrices> matricesOf(const Tensor& tensor, DType dtype) {
  const Tensor view = turned(tensor);
  KERF_TRY(Tensor data, Tensor::zeros(dtype, view.sizes()));
  KERF_CHECK(copyElements(view, data));
  const std::int64_t rows = tensor.size(tensor.dim() - 2), columns = tensor.size(tensor.dim() - 1);
  return Matrices{std::move(data), countOf(batchSizes(tensor)), rows, columns};
}

Result<Matrices> zeroMatrices(DType dtype, std::int64_t batch, std::int64_t rows, std::int64_t columns) {
  KERF_TRY(Tensor data, Tensor::zeros(dtype, {batch, columns, rows}));
  return Matrices{std::move(data), batch, rows, columns};
}

Result<void> store(const Matrices& from, const Tensor& out) {
  const Sizes strides = contiguousStrides(joined(batchSizes(out), {from.columns, from.rows}));
  Sizes source = strides;
  std::swap(source[source.size() - 1], source[source.size() - 2]);
  source[source.size() - 2] = 1;
  source[source.size() - 1] = from.rows;
  std::int64_t step = from.rows * from.columns;
  for (std::size_t d = source.size() - 2; d-- > 0; step *= out.sizes()[d]) source[d] = step;
  return copyElements(from.data.viewAs(out.sizes(), source, 0), out);
}

Result<std::vector<int>> pivotsOf(const BoundArguments& args, const Tensor& pivots, std::int64_t rows, bool signedToo) {
  KERF_TRY(const Tensor wide, pivots.to(DType::Int64));
  KERF_TRY(const Tensor flat, wide.contiguous());
  std::vector<int> result;
  for (std::int64_t i = 0; i < flat.numel(); ++i) {
    const std::int64_t pivot = flat.data<std::int64_t>()[i];
    const bool inside = pivot >= (signedToo ? -rows : 1) && pivot <= rows && pivot != 0;
    if (!inside)
      return fail(ErrorCode::RuntimeFailed, "{}: pivot {} is not between 1 and {}", args.opName(), pivot, rows);
    result.push_back(int(pivot));
  }
  return result;
}

std::string batchPrefix(const SymSizes& batch, std::int64_t b) {
  return batch.empty() ? std::string() : fmt::format("(Batch element {}): ", b);
}

bool allFinite(const Matrices& matrices) {
  const std::int64_t parts = isComplex(matrices.data.dtype()) ? 2 : 1;
  const auto* values = reinterpret_cast<const double*>(matrices.data.storage()->data());
  for (std::int64_t i = 0; i < matrices.data.numel() * parts; ++i)
    if (!std::isfinite(values[i])) return false;
  return true;
}

}  // namespace kerf::inline ops::linalg
