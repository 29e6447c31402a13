// Gradients of convolutions, and of those once more.
#include "engine/ops/core/op_registration.h"
#include "engine/ops/nn/backward_calls.h"

namespace kerf::inline ops {
namespace {

/// convolution(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups), with the geometry
/// of a call that has its stride at `first`.
Formula convolved(const Formulas& p, std::size_t first, const Formula& input, const Formula& weight) {
  std::vector<Formula> args{input, weight, Formula()};
  for (std::size_t i = first; i < first + 6; ++i) args.push_back(p[i]);
  return {"aten.convolution.default"_op, args};
}

/// convolution_backward(grad_output, input, weight, bias_sizes, stride, …, groups, output_mask).
Formula convolvedBack(const Formulas& p, std::size_t first, std::vector<Formula> tensors, const Value& mask,
                      const Formula& biasSizes = {}) {
  tensors.push_back(biasSizes);
  for (std::size_t i = first; i < first + 6; ++i) tensors.push_back(p[i]);
  tensors.emplace_back(mask);
  return {"aten.convolution_backward.default"_op, tensors};
}

/// A bias for every position of an output, which has the channels before its `spatial` dimensions.
Formula spread(const Formula& bias, const Tensor& output, std::int64_t spatial) {
  SymSizes sizes(1, output.symSize(output.dim() - spatial - 1));
  for (std::int64_t d = 0; d < spatial; ++d) sizes.push_back(1);
  return expand(view(bias, sizes), output.symSizes());
}

/// An argument, conjugated where it is complex.
Formula conjugated(const Formulas& p, std::size_t i) {
  return isComplex(p.args.tensor(i).dtype()) ? Formula("aten._conj.default"_op, {p[i]}) : p[i];
}

void convolution(Backward& b) {
  const Formula sizes = b[2].isNone() ? Formula() : Formula(intList(b.sizes(2)));
  giveResults(b, {0, 1, 2},
              convolvedBack(b, 3, {b.grad(), conjugated(b, 0), conjugated(b, 1)}, outputMask(b, {0, 1, 2}), sizes));
}

std::vector<Formula> convolutionForward(Forward& f) {
  const std::int64_t spatial = f.dims(1) - 2;
  return {sumOf({f.has(0) ? convolved(f, 3, f.tangent(0), f[1]) : Formula(),
                 f.has(1) ? convolved(f, 3, f[0], f.tangent(1)) : Formula(),
                 f.has(2) ? spread(f.tangent(2), f.call.result(), spatial) : Formula()})};
}

/// Each result is linear in two of gradient, input and weight, so that it is one of the other two that meets them.
void convolutionBackward(Backward& b) {
  const Formula grad = conjugated(b, 0), input = conjugated(b, 1), weight = conjugated(b, 2);
  const Formula ofInput = b.grad(0), ofWeight = b.grad(1), ofBias = b.grad(2);
  const std::int64_t spatial = b.dims(2) - 2;
  b.give(0, sumOf({b.has(0) ? convolved(b, 4, ofInput, weight) : Formula(),
                   b.has(1) ? convolved(b, 4, input, ofWeight) : Formula(),
                   b.has(2) ? spread(ofBias, b.args.tensor(0), spatial) : Formula()}));
  if (b.has(1) && b.wants(1)) b.give(1, b.several<3>(convolvedBack(b, 4, {grad, input, ofWeight}, onlyResult(0)))[0]);
  if (b.has(0) && b.wants(2)) b.give(2, b.several<3>(convolvedBack(b, 4, {grad, ofInput, weight}, onlyResult(1)))[1]);
}

std::vector<Formula> convolutionBackwardForward(Forward& f) {
  const Formula grad = f[0], input = f[1], weight = f[2];
  std::vector<Formula> total(3);
  if (f.has(0)) total = f.several(convolvedBack(f, 4, {f.tangent(0), input, weight}, f.args.values[10], f[3]));
  total.resize(3);
  if (f.has(2) && !f.result(0).isNone())
    total[0] = sumOf({total[0], f.several<3>(convolvedBack(f, 4, {grad, input, f.tangent(2)}, onlyResult(0)))[0]});
  if (f.has(1) && !f.result(1).isNone())
    total[1] = sumOf({total[1], f.several<3>(convolvedBack(f, 4, {grad, f.tangent(1), weight}, onlyResult(1)))[1]});
  return total;
}

constexpr OpFacts convolutionDerivativesTable[] = {
    differentiable<convolution, convolutionForward>("aten::convolution"),
    differentiable<convolutionBackward, convolutionBackwardForward>("aten::convolution_backward"),
};

const OpRegistration convolutionDerivatives({.facts = convolutionDerivativesTable});

}  // namespace

}  // namespace kerf::inline ops
