// BitDistance: two tensors compared by their bits: how many elements are equal, and how many units in the last place the
// others are apart.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "engine/support/fields.h"
#include "engine/tensor/tensor.h"

namespace kerf::inline accuracy {

/// Elements by their distance in units in the last place of the larger of both: 0, up to 1, 2, 4, 8, 64, 1024, more,
/// and those that only one side has as a number.
inline constexpr std::array<double, 7> ulpLimits = {0, 1, 2, 4, 8, 64, 1024};

struct BitDistance {
  std::int64_t elements = 0;
  std::int64_t equal = 0;      ///< in their bits; NaN and NaN are equal, 0 and -0 are not
  std::int64_t unordered = 0;  ///< NaN or infinite on one side, or infinities of two signs
  double mostUlps = 0;         ///< of the others
  double maxAbsError = 0;
  double relativeError = 0;             ///< root of the sum of squared differences over that of squares of the first
  std::vector<std::int64_t> histogram;  ///< for each of ulpLimits elements up to it, then what is beyond

  bool same() const { return equal == elements; }

  KERF_FIELDS(elements, equal, unordered, mostUlps, maxAbsError, relativeError, histogram)
};

/// Both of one shape; ShapeMismatch else. Of two dtypes the coarser one's units count, and integers differ by whole
/// numbers.
Result<BitDistance> bitDistance(const Tensor& a, const Tensor& b);

/// "31 of 32 elements equal in their bits, 1 up to 2 ulp".
std::string bitDistanceText(const BitDistance& distance);

/// The step between 1 and the next number of the dtype; 0 for integers.
double unitRoundoff(DType dtype);

}  // namespace kerf::inline accuracy
