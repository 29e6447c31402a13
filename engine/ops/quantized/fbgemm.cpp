// fbgemm.*: jagged tensors and 8-bit products of recommendation models; shapes only.
#include "engine/ops/core/op_call.h"
#include "engine/ops/core/op_registration.h"

namespace kerf::inline ops {
namespace {

Result<Value> shapesOnly(const BoundArguments& args) {
  return fail(ErrorCode::UnsupportedOp, "{}: Kerf knows its shapes only", args.opName());
}

/// One more element than the lengths: the sums begin with 0.
Result<Value> completeSums(const BoundArguments& args) {
  const Tensor& lengths = args.tensor(0);
  SymSizes sizes = lengths.symSizes();
  if (sizes.empty() || sizes.size() > 2)
    return mismatch(args, "t_in must have 1 or 2 dimensions, got {}", sizes.size());
  sizes.back() = sizes.back() + SymInt(1);
  return Value(metaTensor(lengths.dtype(), sizes));
}

Result<Value> sameSums(const BoundArguments& args) {
  return Value(metaTensor(args.tensor(0).dtype(), args.tensor(0).symSizes()));
}

/// [batch, max_lengths…, the values' other dimensions]; the batch is that of the first offsets less one.
Result<Value> paddedShape(const BoundArguments& args) {
  const Tensor& values = args.tensor(0);
  const std::vector<Tensor> offsets = args.tensors(1);
  if (offsets.empty() || offsets[0].dim() != 1 || values.dim() < 1)
    return mismatch(args, "offsets must be tensors of one dimension");
  SymSizes sizes{offsets[0].symSize(0) - SymInt(1)};
  for (const SymInt length : args.symSizes(2)) sizes.push_back(length);
  for (std::int64_t d = 1; d < values.dim(); ++d) sizes.push_back(values.symSize(d));
  return Value(metaTensor(values.dtype(), sizes));
}

/// [M, N] of the operands [M, K] and [N, K], in bfloat16.
Result<Value> rowwiseProduct(const BoundArguments& args) {
  const Tensor &x = args.tensor(0), &w = args.tensor(1);
  if (x.dim() < 2 || w.dim() != 2) return mismatch(args, "the operands must be matrices");
  SymSizes sizes = x.symSizes();
  sizes.back() = w.symSize(0);
  return Value(metaTensor(DType::BFloat16, sizes));
}

constexpr OpRow fbgemmRows[] = {
    {"fbgemm::asynchronous_complete_cumsum(Tensor t_in) -> Tensor", OpTrait::None, completeSums, shapesOnly},
    {"fbgemm::asynchronous_inclusive_cumsum(Tensor t_in) -> Tensor", OpTrait::None, sameSums, shapesOnly},
    {"fbgemm::asynchronous_exclusive_cumsum(Tensor t_in) -> Tensor", OpTrait::None, sameSums, shapesOnly},
    {"fbgemm::jagged_to_padded_dense(Tensor values, Tensor[] offsets, SymInt[] max_lengths, float padding_value=0) -> "
     "Tensor",
     OpTrait::None, paddedShape, shapesOnly},
    {"fbgemm::jagged_to_padded_dense_forward(Tensor values, Tensor[] offsets, SymInt[] max_lengths, float "
     "padding_value=0) -> Tensor",
     OpTrait::None, paddedShape, shapesOnly},
    {"fbgemm::f8f8bf16_rowwise(Tensor XQ, Tensor WQ, Tensor x_scale, Tensor w_scale, Tensor? bias=None, bool "
     "use_fast_accum=True) -> Tensor",
     OpTrait::Matmul, rowwiseProduct, shapesOnly},
};

const OpRegistration fbgemmOps({.rows = fbgemmRows});

}  // namespace

}  // namespace kerf::inline ops
