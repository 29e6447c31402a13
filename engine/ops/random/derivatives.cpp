// What flows through random tensors: dropout and rrelu keep their draws; other draws do not depend on their arguments
// as autograd sees them, which gives zeros.
#include "engine/ops/core/gradient_rules.h"
#include "engine/ops/core/op_registration.h"

namespace kerf::inline ops {
namespace {

/// 1 / (1 - p), as the kept elements were scaled.
double dropoutScale(const BoundArguments& args) {
  const bool trains = args.none(2) || args.boolean(2);
  const double p = args.number(1);
  return !trains ? 1 : p == 1 ? 0 : 1 / (1 - p);
}
Formula kept(const CallRecord& call, const Formula& flow, double scale) {
  return {"aten.native_dropout_backward.default"_op, {flow, call.results[1], scale}};
}

/// native_dropout(input, p, train) → (output, mask).
void dropout(Backward& b) {
  if (b.has(0)) b.give(0, kept(b.call, b.grad(), dropoutScale(b.args)));
}
std::vector<Formula> dropoutForward(Forward& f) {
  return {kept(f.call, f.tangent(0), dropoutScale(f.args)), Formula()};
}
/// _fused_dropout(self, p) → (output, mask of bytes), with p the share that is kept.
Formula fusedKept(const CallRecord& call, const Formula& flow) {
  const double p = call.args.number(1);
  return times(flow * Formula(call.results[1]), p == 0 ? 0 : 1 / p);
}
void fusedDropout(Backward& b) {
  if (b.has(0)) b.give(0, fusedKept(b.call, b.grad()));
}
std::vector<Formula> fusedDropoutForward(Forward& f) { return {fusedKept(f.call, f.tangent(0)), Formula()}; }

/// rrelu_with_noise(self, noise, lower, upper, training, generator): the slopes that were drawn are in the noise.
Formula rreluFlow(const CallRecord& call, const Formula& flow) {
  const ValueList& v = call.args.values;
  const Formula noise = call.results.size() > 1 ? call.results[1] : v[1];
  return {"aten.rrelu_with_noise_backward.default"_op, {flow, v[0], noise, v[2], v[3], v[4], false}};
}
void rrelu(Backward& b) {
  if (b.has(0)) b.give(0, rreluFlow(b.call, b.grad()));
}
std::vector<Formula> rreluForward(Forward& f) {
  if (!f.has(0)) return {Formula()};
  return {rreluFlow(f.call, f.tangent(0))};
}

/// _standard_gamma(self): its draw moves with the shape (implicit reparameterization).
void gamma(Backward& b) { b.give(0, b.grad() * Formula("aten._standard_gamma_grad.default"_op, {b[0], b.result()})); }
std::vector<Formula> gammaForward(Forward& f) {
  return {f.tangent(0) * Formula("aten._standard_gamma_grad.default"_op, {f[0], f.result()})};
}

void zeros(Backward& b) {
  for (std::size_t i = 0; i < b.args.values.size(); ++i)
    if (b.wants(i)) b.give(i, zerosLike(b[i]));
}
constexpr OpFacts draws(const char* op) { return {.op = op, .gradient = ruleGradient<zeros>, .jvp = noTangent}; }

constexpr OpFacts randomDerivativesTable[] = {
    differentiable<dropout, dropoutForward>("aten::native_dropout"),
    differentiable<fusedDropout, fusedDropoutForward>("aten::_fused_dropout"),
    differentiable<rrelu, rreluForward>("aten::rrelu_with_noise"),
    differentiable<rrelu, rreluForward>("aten::rrelu_with_noise_functional"),
    differentiable<gamma, gammaForward>("aten::_standard_gamma"),
    withoutDerivative("aten::_standard_gamma_grad"),
    withoutDerivative("aten::_sample_dirichlet"),
    draws("aten::bernoulli"),
    draws("aten::binomial"),
    draws("aten::cauchy"),
    draws("aten::exponential"),
    draws("aten::geometric"),
    draws("aten::log_normal"),
    draws("aten::normal"),
    draws("aten::normal_functional"),
    draws("aten::poisson"),
    draws("aten::random"),
    draws("aten::uniform"),
    notDifferentiable("aten::multinomial"),
    notDifferentiable("aten::rand"),
    notDifferentiable("aten::rand_like"),
    notDifferentiable("aten::randint"),
    notDifferentiable("aten::randint_like"),
    notDifferentiable("aten::randn"),
    notDifferentiable("aten::randn_like"),
    notDifferentiable("aten::randperm"),
    notDifferentiable("prims::inductor_lookup_seed"),
    notDifferentiable("prims::inductor_randint"),
    notDifferentiable("prims::inductor_random"),
    notDifferentiable("prims::inductor_seed"),
    notDifferentiable("prims::inductor_seeds"),
    notDifferentiable("rngprims::philox_rand"),
};

const OpRegistration randomDerivatives({.facts = randomDerivativesTable});

}  // namespace

}  // namespace kerf::inline ops
