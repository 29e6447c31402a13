// Gradients of softmax and its relatives.
#include "engine/ops/core/op_registration.h"
#include "engine/ops/nn/backward_calls.h"

namespace kerf::inline ops {
namespace {

// All of them have their dimension as argument 1, their backward ops as argument 2

Formula summed(const Formulas& p, const Formula& a, std::size_t dim) { return sum(a, {p.args.integer(dim)}, true); }

/// Softmax's Jacobian is symmetric: y · (flow - Σ flow · y).
Formula softmaxFlow(const CallRecord& call, const Formula& flow) {
  return {"aten._softmax_backward_data.default"_op,
          {flow, call.results[0], call.args.values[1], Value(call.args.tensor(0).dtype())}};
}
void softmax(Backward& b) { b.give(0, softmaxFlow(b.call, b.grad())); }
/// The tangent has the dtype of the result.
std::vector<Formula> softmaxForward(Forward& f) {
  const DType dtype = f.call.result().dtype();
  const Formula flow = typed(f, f.tangent(), dtype);
  return {Formula("aten._softmax_backward_data.default"_op, {flow, f.result(), f[1], Value(dtype)})};
}

void logSoftmax(Backward& b) {
  b.give(0,
         {"aten._log_softmax_backward_data.default"_op, {b.grad(), b.result(), b[1], Value(b.args.tensor(0).dtype())}});
}
/// t - Σ softmax · t
std::vector<Formula> logSoftmaxForward(Forward& f) {
  const Formula flow = typed(f, f.tangent(), f.call.result().dtype());
  return {flow - summed(f, exp(f.result()) * flow, 1)};
}

/// _softmax_backward_data(grad_output, output, dim, input_dtype) = y · (g - Σ g · y).
Formula softmaxBackwardByGrad(const Formulas& p, const Formula& flow) {
  return {"aten._softmax_backward_data.default"_op, {flow, p[1], p[2], p[3]}};
}
Formula softmaxBackwardByOutput(const Formulas& p, const Formula& flow) {
  return flow * (p[0] - summed(p, p[0] * p[1], 2)) - p[0] * summed(p, flow * p[1], 2);
}
void softmaxBackward(Backward& b) {
  const Formula flow = typed(b, b.grad(), b.args.tensor(1).dtype());
  b.give(0, softmaxBackwardByGrad(b, flow));
  b.give(1, softmaxBackwardByOutput(b, flow));
}
std::vector<Formula> softmaxBackwardForward(Forward& f) {
  const Formula byOutput =
      f.has(1) ? f.tangent(1) * (f[0] - summed(f, f[0] * f[1], 2)) - f[1] * summed(f, f[0] * f.tangent(1), 2)
               : Formula();
  return {typed(f, sumOf({f.has(0) ? softmaxBackwardByGrad(f, f.tangent(0)) : Formula(), byOutput}),
                f.call.result().dtype())};
}

/// _log_softmax_backward_data(grad_output, output, dim, input_dtype) = g - exp(y) · Σ g.
void logSoftmaxBackward(Backward& b) {
  const Formula flow = typed(b, b.grad(), b.args.tensor(1).dtype());
  b.give(0, flow - summed(b, flow * exp(b[1]), 2));
  b.give(1, -summed(b, b[0], 2) * exp(b[1]) * flow);
}
std::vector<Formula> logSoftmaxBackwardForward(Forward& f) {
  const Formula odds = exp(f[1]);
  return {typed(f,
                sumOf({f.has(0) ? f.tangent(0) - odds * summed(f, f.tangent(0), 2) : Formula(),
                       f.has(1) ? -(odds * f.tangent(1) * summed(f, f[0], 2)) : Formula()}),
                f.call.result().dtype())};
}

constexpr OpFacts softmaxDerivativesTable[] = {
    differentiable<softmax, softmaxForward>("aten::_softmax"),
    differentiable<softmax, softmaxForward>("aten::_safe_softmax"),
    differentiable<softmax, softmaxForward>("aten::softmax.int"),
    differentiable<logSoftmax, logSoftmaxForward>("aten::_log_softmax"),
    differentiable<logSoftmax, logSoftmaxForward>("aten::log_softmax.int"),
    differentiable<softmaxBackward, softmaxBackwardForward>("aten::_softmax_backward_data"),
    differentiable<logSoftmaxBackward, logSoftmaxBackwardForward>("aten::_log_softmax_backward_data"),
};

const OpRegistration softmaxDerivatives({.facts = softmaxDerivativesTable});

}  // namespace

}  // namespace kerf::inline ops
