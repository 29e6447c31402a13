// The patterns that come with Kerf, in the groups in which passes use them.
#pragma once

#include "engine/patterns/pattern_matcher_pass.h"

namespace kerf::inline patterns {

/// Matchers of a group each, made when first asked for and kept: attention's from precompiled traces, others, which are
/// few and small, by tracing.
Result<const PatternMatcherPass*> attentionMatcher();
Result<const PatternMatcherPass*> layerMatcher();
Result<const PatternMatcherPass*> activationMatcher();
Result<const PatternMatcherPass*> randpermMatcher();
/// All of them in one.
Result<PatternMatcherPass> shippedMatcher();

}  // namespace kerf::inline patterns
