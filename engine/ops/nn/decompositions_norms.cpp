// Decompositions of normalizations and their backward ops into var_mean and arithmetic.
#include "engine/ops/core/decomposition_rows.h"
#include "engine/ops/core/formula.h"
#include "engine/ops/core/op_math.h"
#include "engine/ops/nn/families.h"

namespace kerf::inline ops {
namespace {

Sizes dimsFrom(std::int64_t first, std::int64_t rank) {
  Sizes dims;
  for (std::int64_t d = first; d < rank; ++d) dims.push_back(d);
  return dims;
}

/// Variance and mean over dims, kept as dimensions of 1.
std::array<Formula, 2> varianceAndMean(Program& p, const Formula& x, const Sizes& dims) {
  return p.several<2>({"aten.var_mean.correction"_op,
                       {x, intList(dims)},
                       {{"correction", std::int64_t{0}}, {"keepdim", true}}});
}

Formula castIfGiven(const Formula& x, DType dtype) { return x.isNone() ? x : to(x, dtype); }

struct Normalized {
  Formula out, mean, inverse;
};
/// (x - mean) · rsqrt(var + eps) over dims.
Normalized normalized(Program& p, const Formula& x, const Sizes& dims, double eps) {
  const auto [variance, mean] = varianceAndMean(p, x, dims);
  const Formula inverse = p(rsqrt(variance + eps));
  return {p((x - mean) * inverse), mean, inverse};
}

/// native_layer_norm(input, normalized_shape, weight, bias, eps)
Result<Value> layerNorm(const BoundArguments& args, const OpRunner& run) {
  const Tensor& input = args.tensor(0);
  const auto rank = input.dim(), inner = std::int64_t(args.symSizes(1).size());
  if (inner == 0 || inner > rank) return mismatch(args, "normalized_shape does not fit the input");
  Program p(args, run);
  const Formula x = p(to(contiguous(p[0]), opMathType(input.dtype())));
  const Normalized norm = normalized(p, x, dimsFrom(rank - inner, rank), args.number(4));
  Formula out = norm.out;
  if (!args.none(2)) out = out * p[2];
  if (!args.none(3)) out = out + p[3];
  out = p(to(out, input.dtype()));
  return p.done(std::vector<Formula>{out, to(norm.mean, input.dtype()), to(norm.inverse, input.dtype())});
}

/// native_layer_norm_backward(grad_out, input, normalized_shape, mean, rstd, weight, bias, output_mask)
Result<Value> layerNormBackward(const BoundArguments& args, const OpRunner& run) {
  const Tensor& input = args.tensor(1);
  const auto rank = input.dim(), axis = rank - std::int64_t(args.symSizes(2).size());
  if (axis < 0) return mismatch(args, "normalized_shape does not fit the input");
  const Sizes inner = dimsFrom(axis, rank), outer = dimsFrom(0, axis);
  SymInt count = 1, groups = 1;
  for (std::int64_t d = 0; d < rank; ++d) (d < axis ? groups : count) = (d < axis ? groups : count) * input.symSize(d);
  const ValueList& mask = args.values[7].list();
  const auto wants = [&](std::size_t i) { return mask[i].as<bool>() && *mask[i].as<bool>(); };
  Program p(args, run);
  if (guardOrFalse(groups == 0) || guardOrFalse(count == 0)) {
    const SymSizes shape(input.symSizes().begin() + axis, input.symSizes().end());
    const auto zeros = [&](std::size_t i, const SymSizes& sizes) { return wants(i) ? newZeros(p[1], sizes) : Formula(); };
    return p.done(std::vector<Formula>{zeros(0, input.symSizes()), zeros(1, shape), zeros(2, shape)});
  }
  const DType wide = opMathType(input.dtype());
  const auto cast = [&](std::size_t i) { return args.none(i) ? Formula() : p(contiguous(to(p[i], wide))); };
  const Formula grad = cast(0), x = cast(1), weight = cast(5), bias = cast(6);
  const Formula mean = p(unsqueezedTo(p[3], rank)), inverse = p(unsqueezedTo(p[4], rank));
  const Formula xHat = p((x - mean) * inverse);
  const Formula gradHat = weight.isNone() ? grad : p(grad * weight);
  const Formula a = p(gradHat * count);
  const Formula b = p(sum(gradHat, inner, true));
  const Formula c = p(xHat * sum(gradHat * xHat, inner, true));
  const Formula rest = p(a - b - c);
  Formula ofInput, ofWeight, ofBias;
  if (wants(0)) ofInput = p(inverse / count * rest);
  if (wants(1) && !weight.isNone()) ofWeight = p(outer.empty() ? grad * xHat : sum(grad * xHat, outer));
  if (wants(2) && !bias.isNone()) ofBias = p(outer.empty() ? clone(grad) : sum(grad, outer));
  ofInput = p(castIfGiven(ofInput, input.dtype()));
  if (!ofWeight.isNone()) ofWeight = p(to(ofWeight, args.tensor(5).dtype()));
  if (!ofBias.isNone()) ofBias = p(to(ofBias, args.tensor(6).dtype()));
  return p.done(std::vector<Formula>{ofInput, ofWeight, ofBias});
}

/// native_group_norm(input, weight, bias, N, C, HxW, group, eps)
Result<Value> groupNorm(const BoundArguments& args, const OpRunner& run) {
  const Tensor& input = args.tensor(0);
  const SymInt batch = args.symInteger(3), channels = args.symInteger(4), positions = args.symInteger(5);
  const SymInt groups = args.symInteger(6);
  if (input.dim() < 2 || guardOrFalse(floorMod(channels, groups) != 0)) return mismatch(args, "channels do not make groups");
  Program p(args, run);
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

/// native_group_norm_backward(grad_output, input, mean, rstd, weight, N, C, HxW, group, output_mask)
Result<Value> groupNormBackward(const BoundArguments& args, const OpRunner& run) {
  const Tensor& input = args.tensor(1);
  const SymInt n = args.symInteger(5), c = args.symInteger(6), hw = args.symInteger(7), groups = args.symInteger(8);
  const SymInt each = floorDiv(c, groups);
  const ValueList& mask = args.values[9].list();
  const auto wants = [&](std::size_t i) { return mask[i].as<bool>() && *mask[i].as<bool>(); };
  Program p(args, run);
  const Formula dots = p(sum(view(p[0] * p[1], {n, c, hw}), Sizes{2}));
  const Formula sums = p(sum(view(p[0], {n, c, hw}), Sizes{2}));
  Formula ofInput, ofWeight, ofBias;
  if (wants(0)) {
    const double scale = 1.0 / (double(std::int64_t(hw)) * double(std::int64_t(each)));
    const auto perGroup = [&](const Formula& x) {
      return p(sum(reshape(args.none(4) ? x : x * unsqueeze(p[4], 0), {n, groups, each}), Sizes{2}));
    };
    const Formula dotsOfGroup = perGroup(dots), sumsOfGroup = perGroup(sums);
    const Formula gamma = args.none(4) ? full({1, groups, each}, 1, args.tensor(3).dtype(), input.device())
                                       : reshape(p[4], {1, groups, each});
    Formula c1 = p(unsqueeze(p[3], -1) * gamma);
    Formula c2 = p((sumsOfGroup * p[2] - dotsOfGroup) * p[3] * p[3] * p[3] * scale);
    Formula c3 = p(-c2 * p[2] - sumsOfGroup * p[3] * scale);
    c1 = p(unsqueeze(c1, -1));
    c2 = p(unsqueeze(unsqueeze(c2, -1), -1));
    c3 = p(unsqueeze(unsqueeze(c3, -1), -1));
    const SymSizes grouped{n, groups, each, hw};
    const Formula flows = p(reshape(p[0], grouped) * c1 + reshape(p[1], grouped) * c2 + c3);
    ofInput = p(reshape(flows, input.symSizes()));
  }
  const auto byGroup = [&](const Formula& x) { return view(x, {n, groups, each}); };
  if (wants(1))
    ofWeight = p(reshape(
        sum((byGroup(dots) - byGroup(sums) * unsqueeze(p[2], -1)) * unsqueeze(p[3], -1), Sizes{0}), {c}));
  if (wants(2)) ofBias = p(sum(sums, Sizes{0}));
  return p.done(std::vector<Formula>{ofInput, ofWeight, ofBias});
}

constexpr OpFacts table[] = {
    decomposes("aten::native_layer_norm", layerNorm),
    decomposes("aten::native_layer_norm_backward", layerNormBackward),
    decomposes("aten::native_group_norm", groupNorm),
    decomposes("aten::native_group_norm_backward", inOpMath<groupNormBackward>),
};

}  // namespace

OpFactRows normDecompositions() { return table; }

}  // namespace kerf::inline ops
