#include "engine/patterns/recomposition.h"

#include "engine/patterns/replace_matches.h"
#include "engine/patterns/shipped_patterns.h"

namespace kerf::inline patterns {

namespace {

Result<void> run(GraphModule& module, const PassContext& context) {
  if (!context.options.value<bool>("enabled")) return {};
  KERF_TRY(const PatternMatcherPass* const matcher, layerMatcher());
  return replaceMatches(*matcher, module);
}

}  // namespace

Pass recompositionPass() {
  return {.name = "recomposition",
          .stage = PassStage::Joint,
          .description = "Makes softmax, gelu, layer and RMS norms that are written out one op again.",
          .options = {{"enabled", false, "Whether it runs."}},
          .run = run};
}

}  // namespace kerf::inline patterns
