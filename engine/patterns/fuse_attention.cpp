// The pass and its table, made at first use.
#include "engine/patterns/fuse_attention.h"

#include <algorithm>

#include "engine/passes/no_op_removal.h"
#include "engine/patterns/attention_patterns.h"
#include "engine/patterns/matcher_input.h"
#include "engine/patterns/precompiled_patterns.h"

namespace kerf::inline patterns {

namespace {

Result<PatternMatcherPass> loadAttention() {
  KERF_TRY(const PrecompiledPatterns precompiled, parsePrecompiled(precompiledAttention()));
  PatternMatcherPass pass;
  for (ReplacementRule& rule : attentionRules()) {
    const Graph* graph = precompiled.find(rule.name);
    if (graph == nullptr) continue;  // a duplicate
    KERF_CHECK(registerReplacement(pass, std::move(rule), graph));
  }
  return pass;
}

/// Every form has two products and an exponential.
bool mayHaveAttention(const Graph& graph) {
  const auto count = [&graph](OpId op) {
    return std::ranges::count_if(graph.order(), [&](NodeId id) { return graph.node(id).isCall(op); });
  };
  return count("aten.bmm.default"_op) >= 2 && count("aten.exp.default"_op) >= 1;
}

Result<void> run(GraphModule& module, const PassContext&) {
  if (!mayHaveAttention(module.graph)) return {};
  KERF_TRY(const PatternMatcherPass* const matcher, attentionMatcher());
  KERF_TRY(GraphModule prepared, matcherInput(module));
  KERF_TRY(const auto replaced, matcher->apply(prepared));
  if (!replaced.empty()) module = std::move(prepared);
  return {};
}

}  // namespace

Result<const PatternMatcherPass*> attentionMatcher() {
  static const Result<PatternMatcherPass> matcher = loadAttention();
  if (!matcher) return fail(matcher.error());
  return &*matcher;
}

void loadPatternsFor(const GraphModule& module) {
  if (mayHaveAttention(module.graph)) (void)attentionMatcher();
}

Pass fuseAttentionPass() {
  return {.name = "fuse_attention",
          .stage = PassStage::Joint,
          .description = "Makes attention that is written out one fused call.",
          .run = run};
}

}  // namespace kerf::inline patterns
