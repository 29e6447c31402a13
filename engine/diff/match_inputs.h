// matchInputs(): what two graphs are given: placeholders of one name or place, and values that one graph computes and
// the other is given, as a backward graph is given what the forward graph saved.
#pragma once

#include <utility>
#include <vector>

#include "engine/diff/partners.h"
#include "engine/diff/value_classes.h"

namespace kerf::inline diff {

/// Positions in both graphs, of which exactly one is a placeholder: same name, same dtype and shape. The name alone
/// proves nothing: confirmGivenValues() looks at the uses.
using GivenValues = std::vector<std::pair<int, int>>;

/// Pairs placeholders of one name, then those that stand in the same order with equal values; outputs too.
void matchInputs(Partners& partners);
GivenValues givenValues(const Partners& partners);
/// Makes partners of those values of which a user in one graph is the partner of a user in the other, at the same
/// place; what computes the same value counts as the value. Returns how many.
int confirmGivenValues(Partners& partners, const GivenValues& values, const Classes& classes);
/// Makes partners of the others too where uses have confirmed some: then the graphs are parts of one, and keep names.
void acceptGivenNames(Partners& partners, const GivenValues& values);

}  // namespace kerf::inline diff
