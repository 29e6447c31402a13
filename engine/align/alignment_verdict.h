// The verdict on two aligned runs, from what was found of each pair: which is the first, what follows from it.
#pragma once

#include <cstddef>
#include <vector>

#include "engine/align/alignment.h"
#include "engine/align/value_index.h"

namespace kerf::inline align {

/// The steps of the second run, and where values are in each.
struct AlignedSteps {
  const std::vector<RunStep>& b;
  const ValueIndex& valuesA;
  const ValueIndex& valuesB;
};

/// Results that nothing is said of: without a partner, further ones that may hold what nobody wrote, and those smaller
/// than the rounding of the largest.
struct UnjudgedResults {
  std::size_t alone = 0, aside = 0, below = 0;
};

/// Gives each pair its role by its inputs and outputs; the alignment its first pair, notes and verdict.
void giveVerdict(RunAlignment& alignment, const AlignedSteps& steps, const UnjudgedResults& unjudged);

}  // namespace kerf::inline align
