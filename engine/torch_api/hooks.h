// Hooks: Python functions that see, and may change, gradients on their way.
#pragma once

#include "engine/torch_api/grad_node.h"

namespace kerf::inline torch_api {

/// Hooks of tensors on the gradient of each result (a leaf's on its accumulator).
Result<void> runTensorHooks(GradNode& node, ValueList& grads);
Result<ValueList> runPreHooks(GradNode& node, const ValueList& grads);
Result<void> runPostHooks(GradNode& node, ValueList& next, const ValueList& grads);
/// register_post_accumulate_grad_hook.
Result<void> runAccumulateHooks(Variable& leaf);

/// A handle with remove() for a hook that was put into `hooks` of what `keeper` keeps alive.
Ref hookHandle(std::shared_ptr<void> keeper, std::vector<Ref>& hooks);

}  // namespace kerf::inline torch_api
