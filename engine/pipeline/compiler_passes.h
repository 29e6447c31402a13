// The passes of a compilation: those of the table, those that match patterns, and the user's own at the hook points.
#pragma once

#include <functional>

#include "engine/passes/pass.h"

namespace kerf::inline pipeline {

/// Every pass, in the order in which they run: attention is looked for once calls that change nothing are gone, and
/// before views are cleaned up.
std::vector<Pass> compilerPasses();

/// A user's own change of a graph. What it leaves is linted and shown as that of any pass.
using GraphHook = std::function<Result<void>(GraphModule&)>;

struct PassHooks {
  GraphHook preGrad{};   ///< on the captured graph
  GraphHook joint{};     ///< on the joint graph, or the one of inference
  GraphHook postGrad{};  ///< on each graph that will be compiled
};
/// `passes` with each hook at the end of its stage, as "pre_grad_custom_pass", "joint_custom_post_pass" and
/// "post_grad_custom_post_pass".
std::vector<Pass> withHooks(std::vector<Pass> passes, const PassHooks& hooks);

}  // namespace kerf::inline pipeline
