// replaceMatches: what passes do with a matcher.
#pragma once

#include "engine/patterns/pattern_matcher_pass.h"

namespace kerf::inline patterns {

/// Replaces every match in the graph as matcherInput() prepares it; a graph without a match stays untouched.
Result<void> replaceMatches(const PatternMatcherPass& matcher, GraphModule& module);

}  // namespace kerf::inline patterns
