// firstDifference(): whether two arrays hold the same numbers, up to what another order of operations rounds.
#pragma once

#include <optional>

#include "engine/audit/meaning/number_array.h"

namespace kerf::inline audit {

struct NumberDifference {
  std::size_t element = 0;
  double given = 0, wanted = 0;
};

/// Floats may differ by 1e-5 of their own size and of the mean; NaN equals NaN. Whole numbers must be equal.
/// Which differences count as none is wide: what differs by more is wrong.
std::optional<NumberDifference> firstDifference(const NumberArray& given, const NumberArray& wanted, bool isFloat);
/// Each element is the wanted one but for what float64 rounds: 1e-9 of its own size, and 1e-12 of what elements usually
/// are, or of 1 if that is less, where it is a small rest of larger numbers. No element widens what another may differ by.
bool isSameForSure(const NumberArray& given, const NumberArray& wanted, bool isFloat);

}  // namespace kerf::inline audit
