// Gradients of batch norm in its forms. All of them have input, weight and bias as their first arguments.
#include "engine/ops/core/op_registration.h"
#include "engine/ops/nn/backward_calls.h"
#include "engine/ops/nn/norm_terms.h"

namespace kerf::inline ops {
namespace {

/// An argument by its name; none where the form has no such argument.
Formula named(const Formulas& p, std::string_view name) {
  const auto& arguments = p.args.op->schema.arguments;
  for (std::size_t i = 0; i < arguments.size(); ++i)
    if (arguments[i].name == name) return p[i];
  return {};
}

bool trains(const Formulas& p) {
  const std::string& name = p.args.op->schema.name;
  if (name.ends_with("_no_training") || name.ends_with("_no_update")) return false;
  for (const char* flag : {"training", "train", "update"})
    if (const Formula value = named(p, flag); !value.isNone()) return *value.value().as<bool>();
  return true;
}

/// Mean and inverse deviation that a call normalized with; `saved` are its own.
NormTerms termsOf(const Formulas& p, std::size_t input, const Formula& savedMean, const Formula& savedInverse) {
  NormTensors tensors{.input = p[input], .weight = named(p, "weight"), .mean = savedMean, .inverse = savedInverse};
  const bool fixed = !trains(p);
  if (fixed) {
    tensors.mean = named(p, "running_mean");
    tensors.inverse = rsqrt(plus(named(p, "running_var"), named(p, "eps")));
  }
  return {batchLayout(p.args.tensor(input), fixed), tensors};
}

/// What backward ops of both kinds start with.
std::vector<Formula> backwardArguments(Backward& b) {
  return {b.grad(), b[0], b[1], named(b, "running_mean"), named(b, "running_var"), b.result(1), b.result(2)};
}

void giveBatchNorm(Backward& b, const std::vector<Formula>& all) {
  b.give(1, all[1]);
  b.give(2, all[2]);
  const bool more = b.wants(0) && trains(b) && (b.has(1) || b.has(2));
  if (!more) return b.give(0, all[0]);
  const NormTerms terms = termsOf(b, 0, b.result(1), b.result(2));
  b.give(0, sumOf({all[0], reshape(terms.throughStatistics(b.grad(1), b.grad(2)), b.sizes())}));
}

/// native_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps) and its like:
/// (output, save_mean, save_invstd, …).
void batchNorm(Backward& b) {
  std::vector<Formula> args = backwardArguments(b), all(3);
  args.insert(args.end(), {Formula(trains(b)), named(b, "eps"), Formula(outputMask(b, {0, 1, 2}))});
  if (b.has(0)) all = b.several({"aten.native_batch_norm_backward.default"_op, args});
  all.resize(3);
  giveBatchNorm(b, all);
}

/// _batch_norm_with_update, _batch_norm_no_update: a fourth result is the reserve of accelerators.
void unifiedBatchNorm(Backward& b) {
  if (b[1].isNone()) return batchNorm(b);  // batch_norm_backward must have a weight
  std::vector<Formula> args = backwardArguments(b), all(3);
  args.insert(args.end(), {Formula(trains(b)), named(b, "eps"), Formula(outputMask(b, {0, 1, 2})), b.result(3)});
  if (b.has(0)) all = b.several({"aten.batch_norm_backward.default"_op, args});
  all.resize(3);
  giveBatchNorm(b, all);
}

/// With the sizes and dtypes of the results.
std::vector<Formula> fitted(Forward& f, std::vector<Formula> tangents) {
  for (std::size_t k = 0; k < tangents.size(); ++k) {
    if (f.call.results[k].isNone()) tangents[k] = {};
    if (tangents[k].isNone()) continue;
    const Tensor& result = f.call.results[k].tensor();
    tangents[k] = typed(f, reshape(tangents[k], result.symSizes()), result.dtype());
  }
  return tangents;
}
std::vector<Formula> batchNormForward(Forward& f) {
  const NormTerms terms = termsOf(f, 0, f.result(1), f.result(2));
  return fitted(f, terms.tangents({.input = f.tangent(0), .weight = f.tangent(1), .bias = f.tangent(2)}));
}

// native_batch_norm_backward and batch_norm_backward(grad_out, input, weight, running_mean, running_var, save_mean,
// save_invstd, train, eps, output_mask)

void batchNormBackward(Backward& b) {
  const NormSecondFlows flows =
      termsOf(b, 1, b[5], b[6]).secondOrder(b[0], {.input = b.grad(0), .weight = b.grad(1), .bias = b.grad(2)});
  b.give(0, flows.grad);
  b.give(1, flows.input);
  b.give(2, flows.weight);
  const auto channels = [&](std::size_t i, const Formula& flow) {
    if (!flow.isNone() && b.wants(i)) b.give(i, reshape(flow, b.sizes(i)));
  };
  channels(5, flows.mean);
  channels(6, flows.inverse);
}
std::vector<Formula> batchNormBackwardForward(Forward& f) {
  const bool train = trains(f);
  const NormFlows flows = termsOf(f, 1, f[5], f[6])
                              .secondTangents(f[0], {.grad = f.tangent(0),
                                                     .input = f.tangent(1),
                                                     .weight = f.tangent(2),
                                                     .mean = train ? f.tangent(5) : Formula(),
                                                     .inverse = train ? f.tangent(6) : Formula()});
  return fitted(f, {flows.input, flows.weight, flows.bias});
}

constexpr OpFacts batchNormDerivativesTable[] = {
    differentiable<batchNorm, batchNormForward>("aten::native_batch_norm"),
    differentiable<batchNorm, batchNormForward>("aten::_native_batch_norm_legit"),
    differentiable<batchNorm, batchNormForward>("aten::_native_batch_norm_legit.no_stats"),
    differentiable<batchNorm, batchNormForward>("aten::_native_batch_norm_legit_no_training"),
    differentiable<unifiedBatchNorm, batchNormForward>("aten::_batch_norm_with_update"),
    differentiable<unifiedBatchNorm, batchNormForward>("aten::_batch_norm_no_update"),
    differentiable<batchNormBackward, batchNormBackwardForward>("aten::native_batch_norm_backward"),
    differentiable<batchNormBackward, batchNormBackwardForward>("aten::batch_norm_backward"),
};

const OpRegistration batchNormDerivatives({.facts = batchNormDerivativesTable});

}  // namespace

}  // namespace kerf::inline ops
