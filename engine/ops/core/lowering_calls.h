// What the functions of a Lowering are given: one element of a result, or one reduced element, and the builder for it.
#pragma once

#include <span>

#include "engine/loops/expr_builder.h"
#include "engine/ops/core/op_call.h"

namespace kerf::inline ops {

/// One element of an element-wise result, and the builder that its expression goes into.
struct PointwiseCall {
  ExprBuilder& b;
  const BoundArguments& bound;    ///< tensors in it have no storage
  DType dtype;                    ///< of the result
  std::span<const int> operands;  ///< converted to `compute` (or Bool for a condition); -1: a missing optional
  DType compute;                  ///< promoted type in which arithmetic happens
  IndexMap map;                   ///< index of the element, per dimension of the result

  int x(std::size_t i) const { return operands[i]; }
  int number(double value) const { return b.constant(value, compute); }
};

/// A reduction: the element expression goes in, one value comes out.
struct ReductionCall {
  ExprBuilder& b;
  const BoundArguments& bound;
  DType dtype;   ///< of the result
  int item;      ///< which result of a tuple is wanted
  int element;   ///< in its stored type
  SymInt count;  ///< of the elements that are reduced into one
  bool reduces;  ///< false: every reduced dimension has size 1
  /// `count` as a float64.
  int elements() const { return b.size(count, DType::Float64); }
  int reduce(ExprOp op, int value) const { return reduces ? b.reduce(op, value) : value; }
};

}  // namespace kerf::inline ops
