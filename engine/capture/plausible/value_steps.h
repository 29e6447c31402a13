// What an op's result says of one of its arguments: the same elements, a multiple plus a number, or only that it grows
// with them. Private to engine/capture.
#pragma once

#include "engine/capture/plausible/use_site.h"

namespace kerf::inline capture {

/// result = scale * argument + offset, element by element (moved or repeated at most); or, not `exact`, positive where
/// the argument is.
struct ValueStep {
  double scale = 1, offset = 0;
  bool exact = true;
};

/// The step from the site's argument to its node's value; nothing where the result says nothing of the argument.
std::optional<ValueStep> stepThrough(const UseSite& site);

}  // namespace kerf::inline capture
