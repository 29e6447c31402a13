// Batch rules: a call on one example of vmap as one call on all of them.
#pragma once

#include "engine/ops/core/composite.h"

namespace kerf::inline autograd {

/// A bound call whose tensors are one example each.
struct BatchedCall {
  const BoundArguments& bound;
  /// The tensor with all examples in dimension 0; null where all examples share the tensor.
  std::function<const Tensor*(const Tensor&)> physical;
  SymInt size;  ///< how many examples there are
};

/// The result for all examples, in dimension 0. None for ops without a rule, and for calls that a rule does not take.
std::optional<Result<Value>> callOnExamples(const BatchedCall& call, const OpRunner& run);

}  // namespace kerf::inline autograd
