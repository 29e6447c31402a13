// Gradients and forward-mode derivatives of ops: programs over other ops, written beside the op's rows as columns.
// Formulas are those of PyTorch's derivatives.yaml.
#pragma once

#include "engine/ops/core/composite.h"

namespace kerf::inline ops {

/// One forward call and what it gave.
struct CallRecord {
  const BoundArguments& args;
  const ValueList& results;  ///< one per schema return
  /// By schema argument: whether its gradient is asked for (what PyTorch calls output_mask). Empty: all are. A program
  /// may leave out what nobody wants, and need not.
  std::vector<bool> wanted = {};

  const Tensor& result() const { return results[0].tensor(); }
  /// Whether argument `i` is a tensor, or a list of tensors, that may have a gradient and is asked for one.
  bool wants(std::size_t i) const;
};

/// Reverse mode: gradients of the arguments, one Value per schema argument, from those of the results, one per result.
/// None: nothing flows; at least one of `grads` is something else (orZeros() gives the others a value). Tensors that
/// the schema lists ("Tensor[]"), among arguments and results, have a list, in which None stands for no gradient. A
/// gradient has the sizes and dtype of its argument. Of complex numbers it is PyTorch's: grad · conj(slope).
using Gradient = Result<ValueList> (*)(const CallRecord&, const ValueList& grads, const OpRunner&);
/// Forward mode: the tangent of the result from those of the arguments, one Value per schema argument; None: zero. Of
/// several results a list, one per schema return.
using Jvp = Result<Value> (*)(const CallRecord&, const ValueList& tangents, const OpRunner&);

/// `flow` times the derivative of an element-wise op's result by argument `i`; None where the argument takes no
/// gradient. It may be wider than the argument, which broadcasts.
using Slope = Value (*)(CompositeSteps&, const CallRecord&, const Tensor& flow, std::size_t i);

/// Gradient and jvp of an element-wise op by its slope.
Result<ValueList> gradientBySlope(Slope slope, const CallRecord& call, const ValueList& grads, const OpRunner& run);
Result<Value> jvpBySlope(Slope slope, const CallRecord& call, const ValueList& tangents, const OpRunner& run);

template <Slope slope>
Result<ValueList> elementGradient(const CallRecord& call, const ValueList& grads, const OpRunner& run) {
  return gradientBySlope(slope, call, grads, run);
}
template <Slope slope>
Result<Value> elementJvp(const CallRecord& call, const ValueList& tangents, const OpRunner& run) {
  return jvpBySlope(slope, call, tangents, run);
}

/// Forward mode of ops that are linear in each tensor argument (view, sum, mm): the op itself, with each tangent in its
/// argument's place, added up.
Result<Value> multilinearJvp(const CallRecord& call, const ValueList& tangents, const OpRunner& run);
/// Of ops that are linear in all tensor arguments taken together (cat, where, index_add): the op itself on all
/// tangents, zeros where there is none.
Result<Value> linearJvp(const CallRecord& call, const ValueList& tangents, const OpRunner& run);

/// The gradient of result `k`, or zeros like it where nothing flows to it.
Tensor orZeros(CompositeSteps& steps, const CallRecord& call, const ValueList& grads, std::size_t k);
/// The gradient column of ops that have none: results are whole numbers or bools, or do not depend on the values of
/// the arguments smoothly (floor, sign, argmax, zeros_like), as derivatives.yaml says.
Result<ValueList> nothingFlows(const CallRecord& call, const ValueList& grads, const OpRunner& run);
Result<Value> noTangent(const CallRecord& call, const ValueList& tangents, const OpRunner& run);

/// The columns of ops that PyTorch has no derivative of (its "not implemented"): UnsupportedOp.
Result<ValueList> noDerivative(const CallRecord& call, const ValueList& grads, const OpRunner& run);
Result<Value> noDerivativeTangent(const CallRecord& call, const ValueList& tangents, const OpRunner& run);

/// The inverse of broadcasting: sums over dimensions that `sizes` lacks or has as 1.
Tensor sumToSize(CompositeSteps& steps, const Tensor& tensor, const SymSizes& sizes);

}  // namespace kerf::inline ops
