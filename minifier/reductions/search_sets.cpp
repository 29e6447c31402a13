#include "minifier/reductions/search_sets.h"

namespace kerf::inline minifier::inline reductions {

Reduction searchSets() {
  const auto none = [](const ReductionInput&, ResumePoint) { return std::vector<Edit>{}; };
  return {"search_sets", "Keeps a set of calls of which none can be left out.", none, true};
}

}  // namespace kerf::inline minifier::inline reductions
