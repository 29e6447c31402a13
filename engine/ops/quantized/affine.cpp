// torchao.*: affine quantization of tensors in blocks, as graphs of quantized models call it; shapes only.
#include "engine/ops/core/op_registration.h"
#include "engine/ops/core/strides.h"

namespace kerf::inline ops {
namespace {

Result<Value> likeInput(const BoundArguments& args, DType dtype) {
  KERF_TRY(SymSizes strides, likeStrides(args.tensor(0), {}));
  return Value(metaTensor(dtype, args.tensor(0).symSizes(), std::move(strides)));
}

Result<Value> quantizedShape(const BoundArguments& args) {
  return likeInput(args, args.dtypeIf(args.position("output_dtype")).value_or(DType::Float32));
}

/// One value per block: the sizes divided by the block's, all dimensions kept.
Result<Value> parametersShape(const BoundArguments& args) {
  const Tensor& input = args.tensor(0);
  const SymSizes block = args.symSizes(args.position("block_size"));
  if (block.size() != input.symSizes().size())
    return mismatch(args, "block_size has {} dimensions, the input {}", block.size(), input.dim());
  SymSizes sizes;
  for (std::size_t i = 0; i < block.size(); ++i) {
    if (guardOrFalse(block[i] < 1)) return mismatch(args, "a block has the size {}", block[i]);
    sizes.push_back(floorDiv(input.symSizes()[i], block[i]));
  }
  const DType scale = args.dtypeIf(args.position("scale_dtype")).value_or(input.dtype());
  const DType zero = args.dtypeIf(args.position("zero_point_dtype")).value_or(DType::Int32);
  return tensorList({metaTensor(scale, sizes), metaTensor(zero, sizes)});
}

Result<Value> shapesOnly(const BoundArguments& args) {
  return fail(ErrorCode::UnsupportedOp, "{}: Kerf knows its shapes only", args.opName());
}

#define KERF_RANGE ", Scalar? quant_min=None, Scalar? quant_max=None"

constexpr OpRow affineQuantizationRows[] = {
    {"torchao::quantize_affine(Tensor input, SymInt[] block_size, Tensor scale, Tensor? zero_point, ScalarType "
     "output_dtype" KERF_RANGE ", str zero_point_domain='INT') -> Tensor",
     OpTrait::None, quantizedShape, shapesOnly},
    {"torchao::dequantize_affine(Tensor input, SymInt[] block_size, Tensor scale, Tensor? zero_point, ScalarType "
     "input_dtype" KERF_RANGE ", str zero_point_domain='INT', ScalarType? output_dtype=None) -> Tensor",
     OpTrait::None, quantizedShape, shapesOnly},
    {"torchao::choose_qparams_affine(Tensor input, str mapping_type, SymInt[] block_size, ScalarType "
     "target_dtype" KERF_RANGE ", float? eps=None, ScalarType? scale_dtype=None, ScalarType? zero_point_dtype=None, "
     "bool preserve_zero=True, str zero_point_domain='INT') -> (Tensor, Tensor)",
     OpTrait::None, parametersShape, shapesOnly},
};

const OpRegistration affineQuantizationOps({.rows = affineQuantizationRows});

}  // namespace

}  // namespace kerf::inline ops

#undef KERF_RANGE
