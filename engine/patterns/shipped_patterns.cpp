// Loading of groups from their precompiled traces.
#include "engine/patterns/shipped_patterns.h"

#include <algorithm>
#include <utility>

#include "engine/patterns/activation_patterns.h"
#include "engine/patterns/attention_patterns.h"
#include "engine/patterns/layer_patterns.h"
#include "engine/patterns/precompiled_patterns.h"
#include "engine/patterns/randperm_patterns.h"

namespace kerf::inline patterns {

namespace {

Result<PatternMatcherPass> precompiledAttentionMatcher() {
  KERF_TRY(const PrecompiledPatterns precompiled, parsePrecompiled(precompiledAttention()));
  PatternMatcherPass pass;
  for (ReplacementRule& rule : attentionRules()) {
    const Graph* graph = precompiled.find(rule.name);
    if (graph == nullptr) continue;  // a duplicate
    KERF_CHECK(registerReplacement(pass, std::move(rule), graph));
  }
  return pass;
}

Result<PatternMatcherPass> traced(std::vector<ReplacementRule> rules) {
  PatternMatcherPass pass;
  for (ReplacementRule& rule : rules) {
    const std::string name = rule.name;
    const auto added = registerReplacement(pass, std::move(rule));
    if (!added) return fail(added.error().code, "{}: {}", name, added.error().message);
  }
  return pass;
}

Result<PatternMatcherPass> ofEntries(std::vector<PatternEntry> entries) {
  PatternMatcherPass pass;
  for (PatternEntry& entry : entries) pass.add(std::move(entry));
  return pass;
}

Result<const PatternMatcherPass*> kept(const Result<PatternMatcherPass>& matcher) {
  if (!matcher) return fail(matcher.error());
  return &*matcher;
}

}  // namespace

Result<const PatternMatcherPass*> attentionMatcher() {
  static const Result<PatternMatcherPass> matcher = precompiledAttentionMatcher();
  return kept(matcher);
}

Result<const PatternMatcherPass*> layerMatcher() {
  static const Result<PatternMatcherPass> matcher = traced(layerRules());
  return kept(matcher);
}

Result<const PatternMatcherPass*> activationMatcher() {
  static const Result<PatternMatcherPass> matcher = traced(activationRules());
  return kept(matcher);
}

Result<const PatternMatcherPass*> randpermMatcher() {
  static const Result<PatternMatcherPass> matcher = ofEntries(randpermEntries());
  return kept(matcher);
}

Result<PatternMatcherPass> shippedMatcher() {
  PatternMatcherPass all;
  for (const auto group : {attentionMatcher, layerMatcher, activationMatcher, randpermMatcher}) {
    KERF_TRY(const PatternMatcherPass* const matcher, group());
    for (const PatternEntry& entry : matcher->entries()) all.add(entry);
  }
  return all;
}

}  // namespace kerf::inline patterns
