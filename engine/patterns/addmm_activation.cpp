#include "engine/patterns/addmm_activation.h"

#include "engine/patterns/replace_matches.h"
#include "engine/patterns/shipped_patterns.h"

namespace kerf::inline patterns {

namespace {

Result<void> run(GraphModule& module, const PassContext& context) {
  if (!context.options.value<bool>("enabled")) return {};
  KERF_TRY(const PatternMatcherPass* const matcher, activationMatcher());
  return replaceMatches(*matcher, module);
}

}  // namespace

Pass addmmActivationPass() {
  return {.name = "addmm_activation",
          .stage = PassStage::PostGrad,
          .description = "Makes one call of a biased product and the relu or gelu that alone reads it.",
          .options = {{"enabled", false, "Whether it runs."}},
          .run = run};
}

}  // namespace kerf::inline patterns
