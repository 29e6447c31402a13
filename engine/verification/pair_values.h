// The values that the stages of a pair have in common, each judged, and what they say together.
#pragma once

#include "engine/verification/stage_runs.h"

namespace kerf::inline verification {

/// Judges every value of `before` that one of `after` gives too, and inputs that only one side writes into. Fills the
/// verdict's kind, its reason and its values.
Result<void> compareOutcomes(const StageOutcome& before, const std::vector<StageOutcomePtr>& after, double tolerance,
                             bool exact, PairVerdict& verdict);

}  // namespace kerf::inline verification
