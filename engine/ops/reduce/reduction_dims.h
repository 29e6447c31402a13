// What the derivatives of reductions ask about a call: which dimensions went, and how to put them back.
#pragma once

#include "engine/ops/core/gradient_rules.h"

namespace kerf::inline ops {

struct ReductionDims {
  Sizes dims;       ///< sorted, counted from the front
  bool all = true;  ///< every dimension, without naming them
  bool kept = false;
  SymInt count = 1;       ///< of elements behind one result
  double correction = 1;  ///< of variances

  /// `x`, which has the result's sizes, with ones where dimensions went.
  Formula restored(const Formula& x) const;
  /// A sum over these dimensions, which has the result's sizes.
  Formula sum(const Formula& x) const;
};

/// By the arguments "dim", "keepdim" and "correction", where the schema has them.
ReductionDims reductionDims(const BoundArguments& args);
/// All dimensions but one, kept.
ReductionDims allBut(const Tensor& self, std::int64_t dim);

/// The slope of a p-norm along its tensor. `norm` has ones where dimensions went.
Formula normSlope(Formulas& p, const Formula& self, double order, const Formula& norm, const ReductionDims& dims);

}  // namespace kerf::inline ops
