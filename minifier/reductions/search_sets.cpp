#include "minifier/reductions/search_sets.h"

namespace kerf::inline minifier::inline reductions {

Reduction searchSets() { return {"search_sets", "Keeps a set of calls of which none can be left out.", nullptr}; }

}  // namespace kerf::inline minifier::inline reductions
