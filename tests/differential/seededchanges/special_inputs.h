// NaN and infinities in the inputs of a compilation, and where they are in what its stages give.
#pragma once

#include "engine/verification/stage_run.h"
#include "tests/differential/fuzzgraph/dice.h"

namespace kerf::seededchanges {

/// Puts a NaN or an infinity at one or two places of about half of the floating inputs that have several elements.
Result<void> placeSpecials(SlotValues& inputs, fuzzgraph::Dice& dice);

/// Whether two values have NaN, or an infinity of one sign, at other places: element by element, by no rule of verifying.
bool hasSpecialsElsewhere(const Value& a, const Value& b);

}  // namespace kerf::seededchanges
