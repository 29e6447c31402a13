// Convolutions through mathlib, in the memory format that PyTorch's CPU kernels choose.
#include "engine/mathlib/convolution.h"

#include "engine/ops/core/op_registration.h"
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

// Sizes of the output. Numbers go through convolutionSizes(), which checks them more closely.

/// The lists of a ConvolutionSpec where they may be expressions.
struct SymbolicSpec {
  SymSizes stride, padding, dilation, outputPadding;
  SymInt groups;
  bool transposed = false;
};

SymbolicSpec symbolicSpecFrom(const BoundArguments& args, std::size_t first) {
  return {args.symSizes(first),     args.symSizes(first + 1),   args.symSizes(first + 2),
          args.symSizes(first + 4), args.symInteger(first + 5), args.boolean(first + 3)};
}

bool isSymbolic(const SymbolicSpec& spec) {
  return spec.stride.isSymbolic() || spec.padding.isSymbolic() || spec.dilation.isSymbolic() ||
         spec.outputPadding.isSymbolic() || spec.groups.isSymbolic();
}

/// Length along one spatial dimension; `d` counts these.
Result<SymInt> outputLength(const BoundArguments& args, const SymbolicSpec& spec, SymInt in, SymInt kernel,
                            std::size_t d) {
  const auto at = [d](const SymSizes& list) { return list.size() == 1 ? list[0] : list[d]; };
  const SymInt stride = at(spec.stride), padding = at(spec.padding), dilation = at(spec.dilation);
  const bool valid =
      guardOrTrue(stride >= 1) && guardOrTrue(dilation >= 1) && guardOrTrue(padding >= 0) && guardOrTrue(kernel >= 1);
  if (!valid)
    return mismatch(args, "kernel {}, stride {}, dilation {} or padding {} is out of range", kernel, stride, dilation,
                    padding);
  const SymInt reach = dilation * (kernel - 1);
  if (spec.transposed) {
    const SymInt extra = at(spec.outputPadding);
    if (!extra.isIdentical(0) && !(guardOrTrue(extra >= 0) && guardOrTrue(extra < symMax(stride, dilation))))
      return mismatch(args, "convolution: output_padding {} must be smaller than stride or dilation", extra);
    const SymInt out = (in - 1) * stride - 2 * padding + reach + extra + 1;
    if (!guardOrTrue(out >= 0)) return mismatch(args, "convolution: the output would have size {}", out);
    return out;
  }
  const SymInt padded = in + 2 * padding;
  if (!guardOrTrue(padded >= reach + 1))
    return mismatch(args, "convolution: kernel of extent {} is larger than the padded input {}", reach + 1, padded);
  return floorDiv(padded - reach - 1, stride) + 1;
}

Result<void> checkChannels(const BoundArguments& args, const SymbolicSpec& spec, const SymSizes& input,
                           const SymSizes& weight) {
  const SymInt expected = spec.transposed ? weight[0] : weight[1] * spec.groups;
  const bool divides = guardOrTrue(spec.groups >= 1) && guardOrTrue(weight[0] >= 1) &&
                       (spec.groups.isIdentical(1) || guardOrTrue(floorMod(weight[0], spec.groups) == 0));
  if (!divides)
    return mismatch(args, "convolution: {} groups do not divide weight [{}]", spec.groups, fmt::join(weight, ", "));
  if (guardOrTrue(input[1] == expected)) return {};
  return mismatch(args, "convolution: weight [{}] with {} groups expects {} input channels, not {}",
                  fmt::join(weight, ", "), spec.groups, expected, input[1]);
}

Result<SymSizes> symbolicSizes(const BoundArguments& args, const SymbolicSpec& spec, const SymSizes& input,
                               const SymSizes& weight) {
  if (input.size() < 3 || input.size() > 5 || weight.size() != input.size())
    return mismatch(args, "convolution: input [{}] and weight [{}] must have 3 to 5 dimensions", fmt::join(input, ", "),
                    fmt::join(weight, ", "));
  for (const SymSizes* list : {&spec.stride, &spec.padding, &spec.dilation, &spec.outputPadding})
    if (list->size() != 1 && list->size() != input.size() - 2)
      return mismatch(args, "convolution: a list has {} entries for {} spatial dimensions", list->size(),
                      input.size() - 2);
  KERF_CHECK(checkChannels(args, spec, input, weight));
  SymSizes out{input[0], spec.transposed ? weight[1] * spec.groups : weight[0]};
  for (std::size_t d = 2; d < input.size(); ++d) {
    KERF_TRY(const SymInt length, outputLength(args, spec, input[d], weight[d], d - 2));
    out.push_back(length);
  }
  return out;
}

/// `first`: position of the stride.
Result<SymSizes> outputSizes(const BoundArguments& args, const Tensor& input, const Tensor& weight, std::size_t first) {
  const SymbolicSpec spec = symbolicSpecFrom(args, first);
  const SymSizes &in = input.symSizes(), &kernel = weight.symSizes();
  if (isSymbolic(spec) || in.isSymbolic() || kernel.isSymbolic()) return symbolicSizes(args, spec, in, kernel);
  auto sizes = convolutionSizes(input.sizes(), weight.sizes(), specFrom(args, first));
  if (!sizes) return mismatch(args, "{}", sizes.error().message);
  return SymSizes(std::move(*sizes));
}

/// An input without batch dimension is one sample.
Tensor batched(const Tensor& tensor, std::int64_t rank) {
  if (tensor.dim() != rank - 1) return tensor;
  SymSizes sizes = tensor.symSizes();
  SymSizes strides = tensor.symStrides();
  const SymInt stride = sizes.empty() ? SymInt(1) : sizes[0] * strides[0];
  sizes.insert(sizes.begin(), SymInt(1));
  strides.insert(strides.begin(), stride);
  return tensor.viewAs(std::move(sizes), std::move(strides), tensor.symOffset());
}

Result<Tensor> batchedMeta(const BoundArguments& args) {
  const Tensor& weight = args.tensor(1);
  const Tensor input = batched(args.tensor(0), weight.dim());
  KERF_CHECK(checkTypes(args, input, weight));
  KERF_TRY(const SymSizes sizes, outputSizes(args, input, weight, 3));
  auto strides = formatStrides(sizes, outputFormat(input, weight));
  if (!strides) return metaTensor(input.dtype(), sizes);
  return metaTensor(input.dtype(), sizes, *strides);
}

Result<Value> convolutionShape(const BoundArguments& args) {
  KERF_TRY(const Tensor meta, batchedMeta(args));
  if (args.tensor(0).dim() == args.tensor(1).dim()) return Value(meta);
  SymSizes sizes(meta.symSizes().begin() + 1, meta.symSizes().end());
  SymSizes strides(meta.symStrides().begin() + 1, meta.symStrides().end());
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
  KERF_TRY(const SymSizes sizes, outputSizes(args, input, weight, 4));
  if (!checkEqual(sizes, args.tensor(0).symSizes()))
    return mismatch(args, "argument 'grad_output' has shape [{}], expected [{}]",
                    fmt::join(args.tensor(0).symSizes(), ", "), fmt::join(sizes, ", "));
  const MemoryFormat format = outputFormat(input, weight);
  const auto like = [&](const Tensor& tensor) -> Value {
    const SymSizes& own = tensor.symSizes();
    auto strides = formatStrides(own, format);
    return strides ? metaTensor(tensor.dtype(), own, *strides) : metaTensor(tensor.dtype(), own);
  };
  ValueList outs(3);
  if (wanted(args, 0)) outs[0] = like(input);
  if (wanted(args, 1)) outs[1] = like(weight);
  if (wanted(args, 2)) outs[2] = metaTensor(weight.dtype(), SymSizes{sizes[1]});
  return Value(std::move(outs));
}

Result<Value> backwardKernel(const BoundArguments& args) {
  KERF_TRY(const Value metas, runShapeRule(args));
  KERF_TRY(const ConvolutionGradients gradients,
           convolutionBackward(args.tensor(0), args.tensor(1), args.tensor(2), specFrom(args, 4),
                               {wanted(args, 0), wanted(args, 1), wanted(args, 2)},
                               outputFormat(args.tensor(1), args.tensor(2)) == MemoryFormat::ChannelsLast));
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

constexpr OpRow convolutionRows[] = {
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

const OpRegistration convolutionOps({.rows = convolutionRows});

}  // namespace

}  // namespace kerf::inline ops
