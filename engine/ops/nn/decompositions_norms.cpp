// Decompositions of normalizations and their backward ops into var_mean and arithmetic.
#include "engine/ops/core/formula.h"
#include "engine/ops/core/op_math.h"
#include "engine/ops/core/op_registration.h"

namespace kerf::inline ops {
namespace {

Sizes dimsFrom(std::int64_t first, std::int64_t rank) {
  Sizes dims;
  for (std::int64_t d = first; d < rank; ++d) dims.push_back(d);
  return dims;
}

/// Variance and mean over dims, kept as dimensions of 1.
std::array<Formula, 2> varianceAndMean(Formulas& p, const Formula& x, const Sizes& dims) {
  return p.several<2>(
      {"aten.var_mean.correction"_op, {x, intList(dims)}, {{"correction", std::int64_t{0}}, {"keepdim", true}}});
}

struct Normalized {
  Formula out, mean, inverse;
};
/// (x - mean) · rsqrt(var + eps) over dims.
Normalized normalized(Formulas& p, const Formula& x, const Sizes& dims, double eps) {
  const auto [variance, mean] = varianceAndMean(p, x, dims);
  const Formula inverse = p(rsqrt(variance + eps));
  return {p((x - mean) * inverse), mean, inverse};
}

/// native_layer_norm(input, normalized_shape, weight, bias, eps)
Result<Value> nativeLayerNorm(const BoundArguments& args, const OpRunner& run) {
  const Tensor& input = args.tensor(0);
  const auto rank = input.dim(), inner = std::int64_t(args.symSizes(1).size());
  if (inner == 0 || inner > rank) return mismatch(args, "normalized_shape does not fit the input");
  Formulas p(args, run);
  const Formula x = p(to(contiguous(p[0]), opMathType(input.dtype())));
  const Normalized norm = normalized(p, x, dimsFrom(rank - inner, rank), args.number(4));
  Formula out = norm.out;
  if (!args.none(2)) out = out * p[2];
  if (!args.none(3)) out = out + p[3];
  out = p(to(out, input.dtype()));
  return p.done(std::vector<Formula>{out, to(norm.mean, input.dtype()), to(norm.inverse, input.dtype())});
}

/// Whether the i-th gradient is asked for, by an output_mask.
bool wants(const BoundArguments& args, std::size_t mask, std::size_t i) {
  const bool* asked = args.values[mask].list()[i].as<bool>();
  return asked != nullptr && *asked;
}

/// A layer norm's dimensions: those that it runs over, those before them, and the product of the former.
struct LayerDims {
  Sizes inner, outer;
  SymInt count = 1;
  bool isEmpty = false;
};
LayerDims layerDims(const Tensor& input, std::int64_t axis) {
  LayerDims dims{dimsFrom(axis, input.dim()), dimsFrom(0, axis)};
  for (const std::int64_t d : dims.inner) dims.count = dims.count * input.symSize(d);
  dims.isEmpty = guardOrFalse(input.symNumel() == 0);
  return dims;
}

/// rstd / count · (count · grad - Σ grad - x̂ · Σ grad · x̂), the sums over inner dimensions.
Formula layerFlow(Formulas& p, const Formula& gradHat, const Formula& xHat, const Formula& inverse,
                  const LayerDims& dims) {
  const Formula a = p(gradHat * dims.count);
  const Formula b = p(sum(gradHat, dims.inner, true));
  const Formula c = p(xHat * sum(gradHat * xHat, dims.inner, true));
  const Formula rest = p(a - b - c);
  return p(inverse / dims.count * rest);
}

/// Zeros for the gradients that are asked for: of a layer norm of nothing.
Result<Value> noLayerFlow(Formulas& p, const Tensor& input, std::int64_t axis) {
  const SymSizes shape(input.symSizes().begin() + axis, input.symSizes().end());
  const auto zeros = [&](std::size_t i) {
    return wants(p.args, 7, i) ? newZeros(p[1], i == 0 ? input.symSizes() : shape) : Formula();
  };
  return p.done(std::vector<Formula>{zeros(0), zeros(1), zeros(2)});
}

/// native_layer_norm_backward(grad_out, input, normalized_shape, mean, rstd, weight, bias, output_mask)
Result<Value> nativeLayerNormBackward(const BoundArguments& args, const OpRunner& run) {
  const Tensor& input = args.tensor(1);
  const auto axis = input.dim() - std::int64_t(args.symSizes(2).size());
  if (axis < 0) return mismatch(args, "normalized_shape does not fit the input");
  const LayerDims dims = layerDims(input, axis);
  Formulas p(args, run);
  if (dims.isEmpty) return noLayerFlow(p, input, axis);
  const DType wide = opMathType(input.dtype());
  const auto cast = [&](std::size_t i) { return args.none(i) ? Formula() : p(contiguous(to(p[i], wide))); };
  const Formula grad = cast(0), x = cast(1), weight = cast(5);
  const Formula mean = p(unsqueezedTo(p[3], input.dim())), inverse = p(unsqueezedTo(p[4], input.dim()));
  const Formula xHat = p((x - mean) * inverse);
  const Formula gradHat = weight.isNone() ? grad : p(grad * weight);
  const auto overOuter = [&](const Formula& flow) { return dims.outer.empty() ? flow : sum(flow, dims.outer); };
  Formula ofInput, ofWeight, ofBias;
  if (wants(args, 7, 0)) ofInput = p(to(layerFlow(p, gradHat, xHat, inverse, dims), input.dtype()));
  if (wants(args, 7, 1) && !weight.isNone()) ofWeight = p(to(overOuter(grad * xHat), args.tensor(5).dtype()));
  if (wants(args, 7, 2) && !args.none(6))
    ofBias = p(to(dims.outer.empty() ? clone(grad) : overOuter(grad), args.tensor(6).dtype()));
  return p.done(std::vector<Formula>{ofInput, ofWeight, ofBias});
}

/// native_group_norm(input, weight, bias, N, C, HxW, group, eps)
Result<Value> nativeGroupNorm(const BoundArguments& args, const OpRunner& run) {
  const Tensor& input = args.tensor(0);
  const SymInt batch = args.symInteger(3), channels = args.symInteger(4), positions = args.symInteger(5);
  const SymInt groups = args.symInteger(6);
  if (input.dim() < 2 || guardOrFalse(floorMod(channels, groups) != 0))
    return mismatch(args, "channels do not make groups");
  Formulas p(args, run);
  const Formula x = p(contiguous(to(p[0], opMathType(input.dtype()))));
  const Formula grouped = p(view(x, {batch, groups, floorDiv(channels, groups), positions}));
  const Normalized norm = normalized(p, grouped, {2, 3}, args.number(7));
  Formula out = p(view(norm.out, input.symSizes()));
  const auto perChannel = [&](std::size_t i) {
    SymSizes sizes(input.symSizes().size(), 1);
    sizes[1] = channels;
    return p(view(p[i], sizes));
  };
  if (!args.none(1)) out = p(out * perChannel(1));
  if (!args.none(2)) out = p(out + perChannel(2));
  const Formula mean = p(squeeze(norm.mean, Sizes{2, 3})), inverse = p(squeeze(norm.inverse, Sizes{2, 3}));
  return p.done(std::vector<Formula>{to(out, input.dtype()), to(mean, input.dtype()), to(inverse, input.dtype())});
}

/// What a group norm's gradients are made of.
struct GroupFlow {
  SymInt batch, channels, positions, groups, each;  ///< `each` channels a group
  Formula dots, sums;                               ///< per channel: Σ grad · x and Σ grad
};

/// The gradient of the input: grad · c1 + x · c2 + c3, per group.
Formula groupInputFlow(Formulas& p, const GroupFlow& flow, const Tensor& input) {
  const Formula scale = p.quotient(1, flow.positions * flow.each);
  const bool hasWeight = !p.args.none(4);
  const auto perGroup = [&](const Formula& x) {
    return p(sum(reshape(hasWeight ? x * unsqueeze(p[4], 0) : x, {flow.batch, flow.groups, flow.each}), Sizes{2}));
  };
  const Formula dots = perGroup(flow.dots), sums = perGroup(flow.sums), mean = p[2], inverse = p[3];
  const SymSizes oneBatch{1, flow.groups, flow.each};
  const Formula gamma = hasWeight ? reshape(p[4], oneBatch) : full(oneBatch, 1, inverse.dtype(), input.device());
  Formula c1 = p(unsqueeze(inverse, -1) * gamma);
  Formula c2 = p((sums * mean - dots) * inverse * inverse * inverse * scale);
  Formula c3 = p(-c2 * mean - sums * inverse * scale);
  c1 = p(unsqueeze(c1, -1));
  c2 = p(unsqueeze(unsqueeze(c2, -1), -1));
  c3 = p(unsqueeze(unsqueeze(c3, -1), -1));
  const SymSizes grouped{flow.batch, flow.groups, flow.each, flow.positions};
  return p(reshape(p(reshape(p[0], grouped) * c1 + reshape(p[1], grouped) * c2 + c3), input.symSizes()));
}

/// native_group_norm_backward(grad_output, input, mean, rstd, weight, N, C, HxW, group, output_mask)
Result<Value> nativeGroupNormBackward(const BoundArguments& args, const OpRunner& run) {
  GroupFlow flow{args.symInteger(5), args.symInteger(6), args.symInteger(7), args.symInteger(8), 1, {}, {}};
  flow.each = floorDiv(flow.channels, flow.groups);
  const SymSizes perChannel{flow.batch, flow.channels, flow.positions};
  Formulas p(args, run);
  flow.dots = p(sum(view(p[0] * p[1], perChannel), Sizes{2}));
  flow.sums = p(sum(view(p[0], perChannel), Sizes{2}));
  Formula ofInput, ofWeight, ofBias;
  if (wants(args, 9, 0)) ofInput = groupInputFlow(p, flow, args.tensor(1));
  if (wants(args, 9, 1)) {
    const auto byGroup = [&](const Formula& x) { return view(x, {flow.batch, flow.groups, flow.each}); };
    const Formula centered = p((byGroup(flow.dots) - byGroup(flow.sums) * unsqueeze(p[2], -1)) * unsqueeze(p[3], -1));
    ofWeight = p(reshape(sum(centered, Sizes{0}), {flow.channels}));
  }
  if (wants(args, 9, 2)) ofBias = p(sum(flow.sums, Sizes{0}));
  return p.done(std::vector<Formula>{ofInput, ofWeight, ofBias});
}

constexpr OpFacts normDecompositionsTable[] = {
    decomposes("aten::native_layer_norm", nativeLayerNorm),
    decomposes("aten::native_layer_norm_backward", nativeLayerNormBackward),
    decomposes("aten::native_group_norm", nativeGroupNorm),
    decomposes("aten::native_group_norm_backward", inOpMath<nativeGroupNormBackward>),
};

const OpRegistration normDecompositions({.facts = normDecompositionsTable});

}  // namespace

}  // namespace kerf::inline ops
