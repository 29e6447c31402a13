#include "engine/patterns/replace_matches.h"

#include <utility>

#include "engine/patterns/matcher_input.h"

namespace kerf::inline patterns {

Result<void> replaceMatches(const PatternMatcherPass& matcher, GraphModule& module) {
  KERF_TRY(GraphModule prepared, matcherInput(module));
  KERF_TRY(const auto replaced, matcher.apply(prepared));
  if (!replaced.empty()) module = std::move(prepared);
  return {};
}

}  // namespace kerf::inline patterns
