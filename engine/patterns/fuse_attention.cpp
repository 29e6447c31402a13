#include "engine/patterns/fuse_attention.h"

#include <algorithm>

#include "engine/patterns/replace_matches.h"
#include "engine/patterns/shipped_patterns.h"

namespace kerf::inline patterns {

namespace {

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
  return replaceMatches(*matcher, module);
}

}  // namespace

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
