// CompareOptions: what of them same() takes.
#include "engine/accuracy/same_two_models.h"

namespace kerf::inline accuracy {

SameOptions CompareOptions::sameOptions() const {
  SameOptions options;
  options.tolerance = tolerance;
  options.tolerances = tolerances;
  options.equalNan = true;
  options.ignoreNonFloat = ignoreNonFloat;
  options.leastMultiplier = leastMultiplier;
  options.exactSpecials = !torchSame;
  options.exactBits = exactBits;
  return options;
}

}  // namespace kerf::inline accuracy
