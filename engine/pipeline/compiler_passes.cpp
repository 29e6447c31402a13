#include "engine/pipeline/compiler_passes.h"

#include <algorithm>

#include "engine/passes/manager/pass_table.h"
#include "engine/patterns/addmm_activation.h"
#include "engine/patterns/fuse_attention.h"
#include "engine/patterns/randperm_index.h"
#include "engine/patterns/recomposition.h"
#include "engine/patterns/user_patterns.h"

namespace kerf::inline pipeline {

namespace {

/// A pass that matches patterns, the pass of the table that it runs before, and why.
struct MatchingPass {
  Pass (*make)();
  std::string_view before, place;
};
constexpr MatchingPass matchingPasses[] = {
    {userPatternsPass, "pointless_view", "before Kerf's own patterns, which might take what yours look for"},
    {randpermIndexPass, "pointless_view", "before pointless_view: the pattern has the slice of a permutation"},
    {fuseAttentionPass, "pointless_view",
     "before passes on views, conversions, scores and products, which take it apart"},
    {recompositionPass, "pointless_view", "after fuse_attention, which looks for the parts of a softmax"},
    {addmmActivationPass, "reuse_partial", "after addmm_fusion, which writes the addmm that it looks for"}};

/// Named as Inductor's options for the user's passes.
struct HookPoint {
  PassStage stage;
  std::string_view name;
  GraphHook PassHooks::* hook;
};
constexpr HookPoint hookPoints[] = {{PassStage::PreGrad, "pre_grad_custom_pass", &PassHooks::preGrad},
                                    {PassStage::Joint, "joint_custom_post_pass", &PassHooks::joint},
                                    {PassStage::PostGrad, "post_grad_custom_post_pass", &PassHooks::postGrad}};

Pass hookPass(const HookPoint& point, GraphHook hook) {
  return {.name = std::string(point.name),
          .stage = point.stage,
          .scope = PassScope::OuterOnly,
          .description = "The user's own change of the graph.",
          .run = [hook = std::move(hook)](GraphModule& module, const PassContext&) { return hook(module); }};
}

}  // namespace

std::vector<Pass> compilerPasses() {
  std::vector<Pass> passes = defaultPasses();
  for (const auto& [make, before, place] : matchingPasses) {
    Pass pass = make();
    pass.place = place;
    passes.insert(std::ranges::find(passes, before, &Pass::name), std::move(pass));
  }
  return passes;
}

std::vector<Pass> withHooks(std::vector<Pass> passes, const PassHooks& hooks) {
  for (const HookPoint& point : hookPoints) {
    const GraphHook& hook = hooks.*point.hook;
    if (!hook) continue;
    const auto place = std::ranges::upper_bound(passes, point.stage, {}, &Pass::stage);
    passes.insert(place, hookPass(point, hook));
  }
  return passes;
}

}  // namespace kerf::inline pipeline
