#include "engine/pipeline/compiler_passes.h"

#include <algorithm>

#include "engine/passes/pass_table.h"
#include "engine/patterns/fuse_attention.h"

namespace kerf::inline pipeline {

namespace {

constexpr std::string_view firstPassAfterMatching = "view_cleanup";

struct HookPoint {
  PassStage stage;
  GraphHook PassHooks::*hook;
};
constexpr HookPoint hookPoints[] = {{PassStage::PreGrad, &PassHooks::preGrad},
                                    {PassStage::Joint, &PassHooks::joint},
                                    {PassStage::PostGrad, &PassHooks::postGrad}};

Pass hookPass(PassStage stage, GraphHook hook) {
  return {.name = fmt::format("{}_hook", stageName(stage)),
          .stage = stage,
          .scope = PassScope::OuterOnly,
          .description = "The user's own change of the graph.",
          .run = [hook = std::move(hook)](GraphModule& module, const PassContext&) { return hook(module); }};
}

}  // namespace

std::vector<Pass> compilerPasses() {
  std::vector<Pass> passes = defaultPasses();
  const auto place = std::ranges::find(passes, firstPassAfterMatching, &Pass::name);
  passes.insert(place, fuseAttentionPass());
  return passes;
}

std::vector<Pass> withHooks(std::vector<Pass> passes, const PassHooks& hooks) {
  for (const auto& [stage, member] : hookPoints) {
    const GraphHook& hook = hooks.*member;
    if (!hook) continue;
    const auto place = std::ranges::upper_bound(passes, stage, {}, &Pass::stage);
    passes.insert(place, hookPass(stage, hook));
  }
  return passes;
}

}  // namespace kerf::inline pipeline
