// Convolutions through mathlib, in the memory format that PyTorch's CPU kernels choose.
#include "engine/mathlib/convolution.h"

#include "engine/ops/core/op_row.h"
#include "engine/ops/core/strides.h"
#include "engine/tensor/copy.h"

namespace kerf::inline ops {
namespace {

/// Arguments from `first` on: stride, padding, dilation, transposed, output_padding, groups.
ConvolutionSpec specFrom(const BoundArguments& args, std::size_t first) {
  return {args.sizes(first),       args.sizes(first + 1), args.sizes(first + 2),
          args.boolean(first + 3), args.sizes(first + 4), args.integer(first + 5)};
}

MemoryFormat outputFormat(const Tensor& input, const Tensor& weight) {
  for (const Tensor* tensor : {&input, &weight})
    if (const MemoryFormat format = suggestFormat(*tensor); format != MemoryFormat::Contiguous) return format;
  return MemoryFormat::Contiguous;
}

Result<void> checkTypes(const BoundArguments& args, const Tensor& input, const Tensor& weight) {
  if (input.dtype() != weight.dtype())
    return mismatch(args, "input and weight must have one dtype, got {} and {}", dtypeInfo(input.dtype()).torchName,
                    dtypeInfo(weight.dtype()).torchName);
  if (input.dim() < 2 || input.dim() > 5) return mismatch(args, "input has {} dimensions", input.dim());
  return {};
}

/// An input without batch dimension is one sample.
Tensor batched(const Tensor& tensor, std::int64_t rank) {
  if (tensor.dim() != rank - 1) return tensor;
  Sizes sizes = tensor.sizes();
  Sizes strides = tensor.strides();
  const std::int64_t stride = sizes.empty() ? 1 : sizes[0] * strides[0];
  sizes.insert(sizes.begin(), 1);
  strides.insert(strides.begin(), stride);
  return Tensor(tensor.storage(), tensor.dtype(), std::move(sizes), std::move(strides), tensor.offset());
}

Result<Tensor> batchedMeta(const BoundArguments& args) {
  const Tensor& weight = args.tensor(1);
  const Tensor input = batched(args.tensor(0), weight.dim());
  KERF_CHECK(checkTypes(args, input, weight));
  auto sizes = convolutionSizes(input.sizes(), weight.sizes(), specFrom(args, 3));
  if (!sizes) return mismatch(args, "{}", sizes.error().message);
  auto strides = formatStrides(*sizes, outputFormat(input, weight));
  if (!strides) return metaTensor(input.dtype(), *sizes);
  return metaTensor(input.dtype(), *sizes, *strides);
}

Result<Value> convolutionShape(const BoundArguments& args) {
  KERF_TRY(const Tensor meta, batchedMeta(args));
  if (args.tensor(0).dim() == args.tensor(1).dim()) return Value(meta);
  Sizes sizes(meta.sizes().begin() + 1, meta.sizes().end());
  Sizes strides(meta.strides().begin() + 1, meta.strides().end());
  return Value(metaTensor(meta.dtype(), std::move(sizes), std::move(strides)));
}

Result<Value> convolutionKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeOutput(args));
  const Tensor& weight = args.tensor(1);
  const Tensor* bias = args.tensorIf(2);
  KERF_CHECK(convolutionInto(batched(args.tensor(0), weight.dim()), weight, bias ? *bias : Tensor(), specFrom(args, 3),
                             batched(out, weight.dim())));
  return Value(std::move(out));
}

// convolution_backward(grad_output, input, weight, bias_sizes, stride, padding, dilation, transposed, output_padding,
// groups, output_mask)

bool wanted(const BoundArguments& args, std::size_t i) {
  const Value& mask = args.values[10];
  return mask.isList() && i < mask.list().size() && mask.list()[i].as<bool>() && *mask.list()[i].as<bool>();
}

Result<Value> backwardShape(const BoundArguments& args) {
  const Tensor& input = args.tensor(1);
  const Tensor& weight = args.tensor(2);
  KERF_CHECK(checkTypes(args, input, weight));
  KERF_TRY(const Sizes sizes, convolutionSizes(input.sizes(), weight.sizes(), specFrom(args, 4)));
  if (sizes != args.tensor(0).sizes())
    return mismatch(args, "argument 'grad_output' has shape [{}], expected [{}]",
                    fmt::join(args.tensor(0).sizes(), ", "), fmt::join(sizes, ", "));
  const MemoryFormat format = outputFormat(input, weight);
  const auto like = [&](const Tensor& tensor) -> Value {
    auto strides = formatStrides(tensor.sizes(), format);
    return strides ? metaTensor(tensor.dtype(), tensor.sizes(), *strides) : metaTensor(tensor.dtype(), tensor.sizes());
  };
  ValueList outs(3);
  if (wanted(args, 0)) outs[0] = like(input);
  if (wanted(args, 1)) outs[1] = like(weight);
  if (wanted(args, 2)) outs[2] = metaTensor(weight.dtype(), Sizes{sizes[1]});
  return Value(std::move(outs));
}

Result<Value> backwardKernel(const BoundArguments& args) {
  KERF_TRY(const Value metas, runShapeRule(args));
  KERF_TRY(const ConvolutionGradients gradients,
           convolutionBackward(args.tensor(0), args.tensor(1), args.tensor(2), specFrom(args, 4),
                               {wanted(args, 0), wanted(args, 1), wanted(args, 2)}));
  ValueList outs;
  for (const Tensor* gradient : {&gradients.input, &gradients.weight, &gradients.bias}) {
    const Value& meta = metas.list()[outs.size()];
    if (meta.isNone()) {
      outs.emplace_back();
      continue;
    }
    if (gradient->strides() == meta.tensor().strides()) {
      outs.emplace_back(*gradient);
      continue;
    }
    KERF_TRY(Tensor out, allocate(meta.tensor()));
    KERF_CHECK(copyElements(*gradient, out));
    outs.emplace_back(std::move(out));
  }
  return Value(std::move(outs));
}

constexpr OpRow rows[] = {
    {"aten::convolution(Tensor input, Tensor weight, Tensor? bias, SymInt[] stride, SymInt[] padding, SymInt[] "
     "dilation, "
     "bool transposed, SymInt[] output_padding, SymInt groups) -> Tensor",
     OpTrait::Convolution, convolutionShape, convolutionKernel},
    {"aten::convolution_backward(Tensor grad_output, Tensor input, Tensor weight, SymInt[]? bias_sizes, SymInt[] "
     "stride, "
     "SymInt[] padding, SymInt[] dilation, bool transposed, SymInt[] output_padding, SymInt groups, bool[3] "
     "output_mask) -> "
     "(Tensor, Tensor, Tensor)",
     OpTrait::Convolution, backwardShape, backwardKernel},
};

}  // namespace

OpRows convolutionOps() { return rows; }

}  // namespace kerf::inline ops
