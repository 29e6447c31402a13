// Gradients of pooling and padding.
#include "engine/ops/core/op_registration.h"
#include "engine/ops/nn/backward_calls.h"

namespace kerf::inline ops {
namespace {

// Linear layers: X(self, configuration…) with X_backward(grad, self, configuration…)

void linearLayer(Backward& b) { b.give(0, {backwardOf(*b.args.op), withArguments(b, {b.grad(), b[0]}, 1)}); }
void linearLayerBackward(Backward& b) {
  b.give(0, {forwardOf(*b.args.op), withArguments(b, {b.grad()}, 2)});
  b.give(1, zerosLike(b[1]));
}
/// Only the gradient matters.
std::vector<Formula> linearLayerBackwardForward(Forward& f) {
  if (!f.has(0)) return {Formula()};
  return {Formula(f.args.op->id, withArguments(f, {f.tangent(0)}, 1))};
}

// Adaptive averages: the backward op reads the output's size from the gradient

template <int spatial>
void adaptiveAverage(Backward& b) {
  b.give(0, {spatial == 2 ? "aten._adaptive_avg_pool2d_backward.default"_op
                          : "aten._adaptive_avg_pool3d_backward.default"_op,
             {b.grad(), b[0]}});
}
/// In one dimension, by a second one of size one.
void adaptiveAverage1(Backward& b) {
  const Formula wide("aten._adaptive_avg_pool2d_backward.default"_op, {unsqueeze(b.grad(), -2), unsqueeze(b[0], -2)});
  b.give(0, squeeze(wide, -2));
}
template <int spatial>
void adaptiveAverageBackward(Backward& b) {
  const SymSizes& output = b.sizes(0);
  const SymSizes size(output.end() - spatial, output.end());
  b.give(0, {spatial == 2 ? "aten._adaptive_avg_pool2d.default"_op : "aten._adaptive_avg_pool3d.default"_op,
             {b.grad(), Formula(intList(size))}});
  b.give(1, zerosLike(b[1]));
}

// Maxima, with their positions in the planes as the second result

/// The elements of the last `spatial` dimensions that `indices` names.
Formula chosen(const Formula& planes, const Formula& indices, std::int64_t spatial) {
  const Formula taken("aten.gather.default"_op, {flatten(planes, -spatial), -1, flatten(indices, -spatial)});
  return reshape(taken, indices.sizes());
}
template <int spatial>
std::vector<Formula> maximumForward(Forward& f) {
  return {f.has(0) ? chosen(f.tangent(0), f.result(1), spatial) : Formula(), Formula()};
}
/// X(self, configuration…) with X_backward(grad, self, configuration…, indices).
void maximum(Backward& b) {
  std::vector<Formula> args = withArguments(b, {b.grad(), b[0]}, 1);
  args.push_back(b.result(1));
  b.give(0, {backwardOf(*b.args.op), args});
}
/// adaptive_max_pool(self, output_size).
void adaptiveMaximum(Backward& b) { b.give(0, {backwardOf(*b.args.op), {b.grad(), b[0], b.result(1)}}); }
void maximum1(Backward& b) {
  const Formula wide("aten.adaptive_max_pool2d_backward.default"_op,
                     {unsqueeze(b.grad(), -2), unsqueeze(b[0], -2), unsqueeze(b.result(1), -2)});
  b.give(0, squeeze(wide, -2));
}
/// fractional_max_pool(self, kernel_size, output_size, random_samples).
void fractionalMaximum(Backward& b) { b.give(0, {backwardOf(*b.args.op), {b.grad(), b[0], b[1], b[2], b.result(1)}}); }
/// X_backward(grad_output, self, …, indices).
template <int spatial>
void maximumBackward(Backward& b) {
  b.give(0, chosen(b.grad(), b[b.args.values.size() - 1], spatial));
  b.give(1, zerosLike(b[1]));
}
/// max_unpool(self, indices, output_size, …).
template <int spatial>
void unpooled(Backward& b) {
  b.give(0, chosen(b.grad(), b[1], spatial));
}

/// _low_memory_max_pool_with_offsets(self, kernel_size, stride, padding, dilation, ceil_mode) → (output, offsets).
Formula indicesOf(const Formulas& p, const CallRecord& call, std::int64_t& spatial) {
  spatial = std::int64_t(p.args.symSizes(1).size());
  const SymSizes& input = p.args.tensor(0).symSizes();
  const SymSizes size(input.end() - spatial, input.end());
  return {"prims._low_memory_max_pool_offsets_to_indices.default"_op,
          {call.results[1], p[1], Formula(intList(size)), p[2], p[3], p[4]}};
}
void lowMemoryMaximum(Backward& b) {
  std::int64_t spatial = 0;
  const Formula indices = indicesOf(b, b.call, spatial);
  b.give(0, {spatial == 2 ? "aten.max_pool2d_with_indices_backward.default"_op
                          : "aten.max_pool3d_with_indices_backward.default"_op,
             {b.grad(), b[0], b[1], b[2], b[3], b[4], b[5], indices}});
}
std::vector<Formula> lowMemoryMaximumForward(Forward& f) {
  std::int64_t spatial = 0;
  const Formula indices = f(indicesOf(f, f.call, spatial));
  if (!f.ok()) return {Formula(), Formula()};
  return {chosen(f.tangent(0), indices, spatial), Formula()};
}

constexpr OpFacts backwardLayer(const char* op) {
  return {.op = op, .gradient = ruleGradient<linearLayerBackward>, .jvp = ruleJvp<linearLayerBackwardForward>};
}
template <int spatial>
constexpr OpFacts backwardAverage(const char* op) {
  return {
      .op = op, .gradient = ruleGradient<adaptiveAverageBackward<spatial>>, .jvp = ruleJvp<linearLayerBackwardForward>};
}
template <int spatial>
constexpr OpFacts backwardMaximum(const char* op) {
  return {.op = op, .gradient = ruleGradient<maximumBackward<spatial>>, .jvp = ruleJvp<linearLayerBackwardForward>};
}

constexpr OpFacts poolingDerivativesTable[] = {
    linear<linearLayer>("aten::avg_pool2d"),
    linear<linearLayer>("aten::avg_pool3d"),
    linear<linearLayer>("aten::reflection_pad1d"),
    linear<linearLayer>("aten::reflection_pad2d"),
    linear<linearLayer>("aten::reflection_pad3d"),
    linear<linearLayer>("aten::replication_pad1d"),
    linear<linearLayer>("aten::replication_pad2d"),
    linear<linearLayer>("aten::replication_pad3d"),
    backwardLayer("aten::avg_pool2d_backward"),
    backwardLayer("aten::avg_pool3d_backward"),
    backwardLayer("aten::reflection_pad1d_backward"),
    backwardLayer("aten::reflection_pad2d_backward"),
    backwardLayer("aten::reflection_pad3d_backward"),
    backwardLayer("aten::replication_pad1d_backward"),
    backwardLayer("aten::replication_pad2d_backward"),
    backwardLayer("aten::replication_pad3d_backward"),
    linear<adaptiveAverage1>("aten::adaptive_avg_pool1d"),
    linear<adaptiveAverage<2>>("aten::adaptive_avg_pool2d"),
    linear<adaptiveAverage<3>>("aten::adaptive_avg_pool3d"),
    linear<adaptiveAverage<2>>("aten::_adaptive_avg_pool2d"),
    linear<adaptiveAverage<3>>("aten::_adaptive_avg_pool3d"),
    backwardAverage<2>("aten::_adaptive_avg_pool2d_backward"),
    backwardAverage<3>("aten::_adaptive_avg_pool3d_backward"),
    differentiable<maximum1, maximumForward<1>>("aten::adaptive_max_pool1d"),
    differentiable<adaptiveMaximum, maximumForward<2>>("aten::adaptive_max_pool2d"),
    differentiable<adaptiveMaximum, maximumForward<3>>("aten::adaptive_max_pool3d"),
    differentiable<maximum, maximumForward<2>>("aten::max_pool2d_with_indices"),
    differentiable<maximum, maximumForward<3>>("aten::max_pool3d_with_indices"),
    differentiable<fractionalMaximum, maximumForward<2>>("aten::fractional_max_pool2d"),
    differentiable<fractionalMaximum, maximumForward<3>>("aten::fractional_max_pool3d"),
    differentiable<lowMemoryMaximum, lowMemoryMaximumForward>("prims::_low_memory_max_pool_with_offsets"),
    notDifferentiable("prims::_low_memory_max_pool_offsets_to_indices"),
    backwardMaximum<2>("aten::adaptive_max_pool2d_backward"),
    backwardMaximum<3>("aten::adaptive_max_pool3d_backward"),
    backwardMaximum<2>("aten::max_pool2d_with_indices_backward"),
    backwardMaximum<3>("aten::max_pool3d_with_indices_backward"),
    backwardMaximum<2>("aten::fractional_max_pool2d_backward"),
    backwardMaximum<3>("aten::fractional_max_pool3d_backward"),
    linear<unpooled<2>>("aten::max_unpool2d"),
    linear<unpooled<3>>("aten::max_unpool3d"),
};

const OpRegistration poolingDerivatives({.facts = poolingDerivativesTable});

}  // namespace

}  // namespace kerf::inline ops
