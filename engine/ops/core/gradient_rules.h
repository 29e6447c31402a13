// The dialect of gradient and jvp columns: rules written as formulas (formula.h) over one call, its results and what
// flows to or from them.
//
//     void cumsum(Backward& b) { b.give(0, flip(cumsum(flip(b.grad(), dim), dim), dim)); }
#pragma once

#include "engine/ops/core/formula.h"
#include "engine/ops/core/op_facts.h"

namespace kerf::inline ops {

/// What the slope of an element-wise op is a formula of.
struct SlopeCall {
  const CallRecord& call;
  Formula flow;              ///< the result's gradient, or the argument's tangent (conjugated where complex)
  std::size_t argument = 0;  ///< by which argument

  Formula x(std::size_t i = 0) const { return call.args.values[i]; }
  Formula y() const { return call.results[0]; }
  /// conj(), where the op computes complex numbers.
  Formula conj(const Formula& slope) const;
};

/// The flow through the slope of an op by SlopeCall::argument; none: nothing flows.
using SlopeFormula = Formula (*)(const SlopeCall&);

/// Gradients of the arguments: summed to their sizes, in their dtypes.
Result<ValueList> gradientByFormula(SlopeFormula slope, const CallRecord& call, const ValueList& grads,
                                    const OpRunner& run);
Result<Value> jvpByFormula(SlopeFormula slope, const CallRecord& call, const ValueList& tangents, const OpRunner& run);

/// A gradient program: give() for each argument that takes a gradient, and wants one.
class Backward : public Formulas {
 public:
  Backward(const CallRecord& record, const ValueList& grads, const OpRunner& run);
  const CallRecord& call;

  /// The gradient of a result; none where nothing flows to it.
  Formula grad(std::size_t k = 0) const { return m_grads[k]; }
  bool has(std::size_t k) const { return !m_grads[k].isNone(); }
  /// The gradient of a result, zeros where nothing flows to it.
  Formula orZeros(std::size_t k);
  /// The gradients of a result that is a list of tensors.
  std::vector<Formula> listedGrads(std::size_t k = 0);
  Formula result(std::size_t k = 0) const { return call.results[k]; }
  bool wants(std::size_t i) const { return call.wants(i); }
  const SymSizes& sizes(std::size_t i = 0) const { return args.tensor(i).symSizes(); }
  std::int64_t dims(std::size_t i = 0) const { return args.tensor(i).dim(); }
  /// A dimension of argument 0 that is given by argument `i`, counted from the front.
  std::int64_t dim(std::size_t i) const;

  /// Runs `gradient` and makes it the gradient of argument `i`, unless nobody wants it. Converted to its dtype; summed
  /// over what was broadcast.
  void give(std::size_t i, const Formula& gradient);
  /// Of an argument that is a list of tensors.
  void give(std::size_t i, const std::vector<Formula>& gradients);
  /// By argument `i` PyTorch has no derivative: UnsupportedOp where it is asked for.
  void refuse(std::size_t i);
  Result<ValueList> gradients();

 private:
  Value fitted(const Formula& gradient, const Tensor& argument);
  const ValueList& m_grads;
  ValueList m_results;
  std::optional<Error> m_refused;
};

/// A jvp program.
class Forward : public Formulas {
 public:
  Forward(const CallRecord& record, const ValueList& tangents, const OpRunner& run)
      : Formulas(record.args, run), call(record), m_tangents(tangents) {}
  const CallRecord& call;

  bool has(std::size_t i) const { return !m_tangents[i].isNone(); }
  /// None where the argument has none.
  Formula tangent(std::size_t i = 0) const { return m_tangents[i]; }
  /// The tangent of an argument, zeros where it has none.
  Formula orZeros(std::size_t i = 0);
  Formula result(std::size_t k = 0) const { return call.results[k]; }
  std::int64_t dims(std::size_t i = 0) const { return args.tensor(i).dim(); }
  std::int64_t dim(std::size_t i) const;
  /// Whether argument `i` has a tangent, though PyTorch has no derivative by it: the jvp is UnsupportedOp.
  bool refuses(std::size_t i);
  /// The jvp itself: one formula, or one for each of several results.
  Result<Value> result(const std::vector<Formula>& tangents);

 private:
  const ValueList& m_tangents;
  std::optional<Error> m_refused;
};

using BackwardRule = void (*)(Backward&);
/// The tangent of the result; of several results one of each, none where there is none.
using ForwardRule = std::vector<Formula> (*)(Forward&);

Result<ValueList> gradientByRule(BackwardRule rule, const CallRecord& call, const ValueList& grads,
                                 const OpRunner& run);
Result<Value> jvpByRule(ForwardRule rule, const CallRecord& call, const ValueList& tangents, const OpRunner& run);

template <SlopeFormula slope>
Result<ValueList> formulaGradient(const CallRecord& call, const ValueList& grads, const OpRunner& run) {
  return gradientByFormula(slope, call, grads, run);
}
template <SlopeFormula slope>
Result<Value> formulaJvp(const CallRecord& call, const ValueList& tangents, const OpRunner& run) {
  return jvpByFormula(slope, call, tangents, run);
}
template <BackwardRule rule>
Result<ValueList> ruleGradient(const CallRecord& call, const ValueList& grads, const OpRunner& run) {
  return gradientByRule(rule, call, grads, run);
}
template <ForwardRule rule>
Result<Value> ruleJvp(const CallRecord& call, const ValueList& tangents, const OpRunner& run) {
  return jvpByRule(rule, call, tangents, run);
}

// Rows

template <SlopeFormula formula>
constexpr OpFacts slope(const char* op) {
  return {.op = op, .gradient = formulaGradient<formula>, .jvp = formulaJvp<formula>};
}
/// An op that is linear in each of its tensors.
template <BackwardRule rule>
constexpr OpFacts linear(const char* op) {
  return {.op = op, .gradient = ruleGradient<rule>, .jvp = multilinearJvp};
}
/// An op that is linear in all of its tensors taken together.
template <BackwardRule rule>
constexpr OpFacts jointlyLinear(const char* op) {
  return {.op = op, .gradient = ruleGradient<rule>, .jvp = linearJvp};
}
template <BackwardRule rule, ForwardRule forward>
constexpr OpFacts differentiable(const char* op) {
  return {.op = op, .gradient = ruleGradient<rule>, .jvp = ruleJvp<forward>};
}

/// An op that PyTorch has no forward mode of.
template <BackwardRule rule>
constexpr OpFacts onlyBackward(const char* op) {
  return {.op = op, .gradient = ruleGradient<rule>, .jvp = noDerivativeTangent};
}

// Formulas as the C++ of autograd has them: numbers go to the overloads for numbers

Formula times(const Formula& a, const Formula& number);
Formula plus(const Formula& a, const Formula& number);
Formula over(const Formula& a, const Formula& number);
Formula square(const Formula& a);
/// number - a
Formula minusFrom(const Formula& number, const Formula& a);
/// a * number, `a` itself for 1.
Formula scaledBy(const Formula& a, const Formula& number);

/// Puts dimensions of one back that a reduction took away: sorted, counted from the front.
Formula unsqueezed(Formula a, const Sizes& dims);

}  // namespace kerf::inline ops
