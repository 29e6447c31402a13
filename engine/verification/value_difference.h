// How far two stages' values of the same slot are apart.
#pragma once

#include <string>

#include "engine/support/result.h"
#include "engine/tensor/value.h"

namespace kerf::inline verification {

struct ValueDifference {
  std::string reason;        ///< what keeps them from being compared ("shape [2] and [3]"); empty: nothing
  double maxAbsError = 0;    ///< over elements that are finite in both
  double relativeError = 0;  ///< the larger of rms(a - b) / rms(a) and max |a - b| / max |a|
  std::int64_t finite = 0;   ///< elements that were compared
  std::int64_t elements = 0;

  bool comparable() const { return reason.empty(); }
};

/// Tensors element by element (in fp64, complex ones as two numbers), numbers as they are, lists item by item. Another
/// shape, another kind of value, or a NaN or infinity on one side only is a reason.
Result<ValueDifference> differenceOf(const Value& a, const Value& b);

}  // namespace kerf::inline verification
