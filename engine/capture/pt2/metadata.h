// applyNodeMetadata: what torch.export recorded of a node's origin, into the fields that Kerf shows.
#pragma once

#include "engine/ir/node.h"

namespace kerf::inline capture::pt2 {

/// Keeps `entries` verbatim in meta.extra and fills source file and line and the stack trace (from the innermost frame
/// of "stack_trace"), the module path (the innermost entry of "nn_module_stack") and the nodes it came from
/// ("from_node"). Entries that do not have the form that PyTorch writes are only kept.
void applyNodeMetadata(std::vector<std::pair<std::string, std::string>> entries, NodeMeta& meta);

}  // namespace kerf::inline capture::pt2
