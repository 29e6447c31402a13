#include "engine/patterns/randperm_index.h"

#include <algorithm>

#include "engine/patterns/replace_matches.h"
#include "engine/patterns/shipped_patterns.h"

namespace kerf::inline patterns {

namespace {

Result<void> run(GraphModule& module, const PassContext&) {
  const Graph& graph = module.graph;
  const auto draws = [&graph](NodeId id) { return graph.node(id).isCall("aten.randperm.default"_op); };
  if (std::ranges::none_of(graph.order(), draws)) return {};
  KERF_TRY(const PatternMatcherPass* const matcher, randpermMatcher());
  return replaceMatches(*matcher, module);
}

}  // namespace

Pass randpermIndexPass() {
  return {.name = "randperm_index",
          .stage = PassStage::Joint,
          .description = "Reads and adds at the places of a random permutation without checks for bounds and repeats.",
          .run = run};
}

}  // namespace kerf::inline patterns
