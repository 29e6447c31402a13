// smallerValues(): the order in which a number is made smaller.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

namespace kerf::inline minifier::inline reductions {

/// Least value first, then ever nearer to the present one: whatever still fails is found by halving, and what was asked
/// before it was found is what is asked after it.
///
///     (1, 16)      →      1, 9, 13, 15
///     (1, 14)      →      1, 9, 13
inline std::vector<std::int64_t> smallerValues(std::int64_t least, std::int64_t present) {
  std::vector<std::int64_t> values;
  if (least >= present) return values;
  values.push_back(least);
  const auto most = std::uint64_t(present - 1 - least);  // its leading bits, one more each time
  std::uint64_t bits = 0;
  for (std::uint64_t bit = std::bit_floor(most); bit > 0; bit /= 2) {
    if ((most & bit) == 0) continue;
    bits |= bit;
    values.push_back(least + std::int64_t(bits));
  }
  return values;
}

}  // namespace kerf::inline minifier::inline reductions
