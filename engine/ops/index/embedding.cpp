// Rows of a table by their numbers, and the gradient of the table.
#include <cstring>

#include "engine/ops/core/op_registration.h"
#include "engine/ops/index/index_groups.h"
#include "engine/ops/kernels/indexing.h"
#include "engine/support/thread_pool.h"
#include "engine/tensor/convert.h"
#include "engine/tensor/dispatch.h"

namespace kerf::inline ops {
namespace {

template <class T>
void copyRow(T* to, const T* from, std::int64_t step, std::int64_t count) {
  if (step == 1)
    std::memcpy(to, from, std::size_t(count) * sizeof(T));
  else
    for (std::int64_t i = 0; i < count; ++i) to[i] = from[i * step];
}

Result<Value> embeddingShape(const BoundArguments& args) {
  const Tensor& weight = args.tensor(0);
  const Tensor& indices = args.tensor(1);
  if (weight.dim() != 2) return mismatch(args, "argument 'weight' must have 2 dimensions, has {}", weight.dim());
  if (!isIntegral(indices.dtype())) return mismatch(args, "argument 'indices' must be integers");
  SymSizes sizes = indices.symSizes();
  sizes.push_back(weight.symSize(1));
  return Value(metaTensor(weight.dtype(), sizes));
}

Result<Value> embeddingKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeOutput(args));
  KERF_TRY(const auto rows, integerValues(args.tensor(1)));
  const Tensor& weight = args.tensor(0);
  const std::int64_t width = weight.size(1);
  for (std::int64_t row : rows) KERF_CHECK(checkIndex(args, row, weight.size(0), 0));
  KERF_CHECK(dispatchBits(itemSize(weight.dtype()), [&]<class T>() {
    T* to = out.data<T>();
    const T* from = weight.data<T>();
    const std::int64_t rowStride = weight.stride(0), step = weight.stride(1);
    parallelFor(std::int64_t(rows.size()), std::max<std::int64_t>(1, 16384 / std::max<std::int64_t>(1, width)),
                [&](std::int64_t begin, std::int64_t end) {
                  for (std::int64_t r = begin; r < end; ++r)
                    copyRow(to + r * width, from + rows[std::size_t(r)] * rowStride, step, width);
                });
  }));
  return Value(std::move(out));
}

Result<Value> embeddingBackwardShape(const BoundArguments& args) {
  const Tensor& grad = args.tensor(0);
  if (grad.dim() == 0 || !guardOrTrue(args.symInteger(2) >= 0))
    return mismatch(args, "grad_output has no dimensions, or num_weights is negative");
  return Value(metaTensor(grad.dtype(), SymSizes{args.symInteger(2), grad.symSizes().back()}));
}

/// Sums are kept in the tensor's type, so 16-bit floats round after every row.
template <class T>
void addScaled(T* sums, const T* values, std::int64_t width, double scale) {
  using Wide = std::conditional_t<sizeof(T) < 4, float, double>;
  for (std::int64_t i = 0; i < width; ++i)
    sums[i] = convertElement<T>(static_cast<Wide>(sums[i]) + static_cast<Wide>(scale) * static_cast<Wide>(values[i]));
}

Result<Value> embeddingBackwardKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeOutput(args));
  KERF_TRY(const auto rows, integerValues(args.tensor(1)));
  KERF_TRY(const Tensor grad, args.tensor(0).contiguous());
  const std::int64_t width = out.size(1), padding = args.integer(3);
  if (std::int64_t(rows.size()) * width != grad.numel()) return mismatch(args, "grad_output and indices do not fit");
  for (std::int64_t row : rows) KERF_CHECK(checkIndex(args, row, out.size(0), 0));
  const IndexGroups groups(rows);
  KERF_CHECK(dispatchAll(out.dtype(), [&]<class T>() {
    parallelFor(groups.count(), std::max<std::int64_t>(1, 16384 / std::max<std::int64_t>(1, width)),
                [&](std::int64_t begin, std::int64_t end) {
                  for (std::int64_t g = begin; g < end; ++g) {
                    const std::size_t first = groups.starts[std::size_t(g)];
                    const std::size_t last = groups.starts[std::size_t(g) + 1];
                    const std::int64_t row = rows[groups.order[first]];
                    if (row == padding) continue;
                    const double scale = args.boolean(4) ? 1.0 / double(last - first) : 1.0;
                    T* to = out.data<T>() + row * width;
                    for (std::size_t i = first; i < last; ++i)
                      addScaled(to, grad.data<T>() + std::int64_t(groups.order[i]) * width, width, scale);
                  }
                });
  }));
  return Value(std::move(out));
}

constexpr OpTrait none = OpTrait::None;
constexpr OpRow embeddingRows[] = {
    {"aten::embedding(Tensor weight, Tensor indices, SymInt padding_idx=-1, bool scale_grad_by_freq=False, "
     "bool sparse=False) -> Tensor",
     none, embeddingShape, embeddingKernel},
    {"aten::embedding_dense_backward(Tensor grad_output, Tensor indices, SymInt num_weights, SymInt padding_idx, "
     "bool scale_grad_by_freq) -> Tensor",
     none, embeddingBackwardShape, embeddingBackwardKernel},
};

const OpRegistration embeddingOps({.rows = embeddingRows});

}  // namespace

}  // namespace kerf::inline ops
