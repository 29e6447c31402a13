// Gradients of what samples planes elsewhere: upsampling, grid_sampler.
#include "engine/ops/core/op_registration.h"
#include "engine/ops/nn/backward_calls.h"

namespace kerf::inline ops {
namespace {

/// X.vec(self, output_size?, [align_corners], scale_factors?): the size is the result's, each factor an argument.
void upsampledByFactors(Backward& b) {
  const SymSizes& result = b.call.result().symSizes();
  std::vector<Formula> call{b.grad(), Formula(intList(SymSizes(result.begin() + 2, result.end()))),
                            Formula(intList(b.sizes()))};
  if (b.args.values.size() == 4) call.push_back(b[2]);
  const Value& factors = b.args.values.back();
  for (std::size_t d = 2; d < result.size(); ++d) call.emplace_back(factors.isList() ? factors.list()[d - 2] : Value());
  b.give(0, {backwardOf(*b.args.op), std::move(call)});
}

/// X(self, output_size, configuration…) with X_backward(grad, output_size, input_size, configuration…).
void upsampled(Backward& b) {
  if (b.args.op->schema.overload == "vec") return upsampledByFactors(b);
  b.give(0, {backwardOf(*b.args.op), withArguments(b, {b.grad(), b[1], Formula(intList(b.sizes()))}, 2)});
}
void upsampledBackward(Backward& b) { b.give(0, {forwardOf(*b.args.op), withArguments(b, {b.grad(), b[1]}, 3)}); }

// grid_sampler(input, grid, interpolation_mode, padding_mode, align_corners)

OpId samplerBackward(const Formulas& p) {
  return p.args.tensor(0).dim() == 4 ? "aten.grid_sampler_2d_backward.default"_op
                                     : "aten.grid_sampler_3d_backward.default"_op;
}
void gridSampler(Backward& b) {
  giveResults(b, {0, 1}, {samplerBackward(b), {b.grad(), b[0], b[1], b[2], b[3], b[4], outputMask(b, {0, 1})}});
}

/// How each channel depends on its place: channels as images of one channel, so that one call tells them apart.
Formula tangentByGrid(Forward& f) {
  const SymSizes &input = f.args.tensor(0).symSizes(), &grid = f.args.tensor(1).symSizes();
  const SymInt images = input[0] * input[1];
  SymSizes planes{images, 1}, repeated{grid[0], input[1]}, places{images}, ones{images, 1};
  planes.append(input.begin() + 2, input.end());
  repeated.append(grid.begin() + 1, grid.end());
  places.append(grid.begin() + 1, grid.end());
  ones.append(grid.begin() + 1, grid.end() - 1);
  const auto forChannels = [&](const Formula& a) { return reshape(expand(unsqueeze(a, 1), repeated), places); };
  const Formula flow("aten.new_ones.default"_op, {f[0], Formula(intList(ones))});
  const std::vector<Formula> slopes = f.several(
      {samplerBackward(f),
       {flow, reshape(f[0], planes), forChannels(f[1]), f[2], f[3], f[4], Formula(Value(ValueList{false, true}))}});
  if (slopes.size() != 2) return {};
  return reshape(sum(slopes[1] * forChannels(f.tangent(1)), {-1}), f.call.result().symSizes());
}
std::vector<Formula> gridSamplerForward(Forward& f) {
  const Formula byInput = f.has(0) ? Formula(f.args.op->id, {f.tangent(0), f[1], f[2], f[3], f[4]}) : Formula();
  return {sumOf({byInput, f.has(1) ? tangentByGrid(f) : Formula()})};
}

constexpr OpFacts samplingDerivativesTable[] = {
    linear<upsampled>("aten::upsample_nearest1d"),
    linear<upsampled>("aten::upsample_nearest2d"),
    linear<upsampled>("aten::upsample_nearest3d"),
    linear<upsampled>("aten::_upsample_nearest_exact1d"),
    linear<upsampled>("aten::_upsample_nearest_exact2d"),
    linear<upsampled>("aten::_upsample_nearest_exact3d"),
    linear<upsampled>("aten::upsample_linear1d"),
    linear<upsampled>("aten::upsample_bilinear2d"),
    linear<upsampled>("aten::upsample_trilinear3d"),
    linear<upsampled>("aten::upsample_bicubic2d"),
    linear<upsampled>("aten::_upsample_bilinear2d_aa"),
    linear<upsampled>("aten::_upsample_bicubic2d_aa"),
    linear<upsampledBackward>("aten::upsample_nearest1d_backward"),
    linear<upsampledBackward>("aten::upsample_nearest2d_backward"),
    linear<upsampledBackward>("aten::upsample_nearest3d_backward"),
    linear<upsampledBackward>("aten::_upsample_nearest_exact1d_backward"),
    linear<upsampledBackward>("aten::_upsample_nearest_exact2d_backward"),
    linear<upsampledBackward>("aten::_upsample_nearest_exact3d_backward"),
    linear<upsampledBackward>("aten::upsample_linear1d_backward"),
    linear<upsampledBackward>("aten::upsample_bilinear2d_backward"),
    linear<upsampledBackward>("aten::upsample_trilinear3d_backward"),
    linear<upsampledBackward>("aten::upsample_bicubic2d_backward"),
    linear<upsampledBackward>("aten::_upsample_bilinear2d_aa_backward"),
    linear<upsampledBackward>("aten::_upsample_bicubic2d_aa_backward"),
    differentiable<gridSampler, gridSamplerForward>("aten::grid_sampler_2d"),
    differentiable<gridSampler, gridSamplerForward>("aten::grid_sampler_3d"),
    differentiable<gridSampler, gridSamplerForward>("aten::_grid_sampler_2d_cpu_fallback"),
    withoutDerivative("aten::grid_sampler_2d_backward"),
    withoutDerivative("aten::grid_sampler_3d_backward"),
};

const OpRegistration samplingDerivatives({.facts = samplingDerivativesTable});

}  // namespace

}  // namespace kerf::inline ops
