// Gradient and jvp columns of an op against central differences of its kernel.
#pragma once

#include "engine/conformance/difference_point.h"

namespace kerf::inline conformance {

struct DifferenceCheck {
  enum class Outcome {
    Agrees,
    Differs,
    Constant,  ///< the op lets nothing flow, and differences are zero
    Missing,   ///< there is no rule
    Skipped,
  };
  Outcome outcome = Outcome::Skipped;
  std::string text;  ///< what differs, which rule is missing, why it was skipped
  /// The largest of <cotangent, differences> against <gradient, direction>, against <cotangent, jvp>, and of these two
  /// against each other, relative to the sum of the absolute terms of the first.
  double gradientError = 0;
  double jvpError = 0;
  double dualError = 0;
};

/// What `gradientError` and `jvpError` may be.
constexpr double differenceTolerance = 1e-6;

/// In float64 or complex128, for each floating-point argument along a random direction with random cotangents of all
/// results through which something flows. Of four step sizes the best one counts. Where differences of neighbouring
/// steps do not agree with each other either, the point is not smooth, and another is tried.
DifferenceCheck checkByDifferences(const BoundArguments& call, NumberField field);

/// Gradient and jvp run on the call as it is, and on tensors without data, give the sizes and dtype of their argument.
/// Outcome Differs says what does not.
DifferenceCheck checkForms(const BoundArguments& call);

}  // namespace kerf::inline conformance
