// Edits of the modules nested in a GraphModule, as torch.fx.GraphModule has them.
//
//     self.block, self.block.fc; nothing calls them      →      deleteAllUnusedSubmodules: none
#pragma once

#include "engine/ir/graph_module.h"

namespace kerf::inline ir {

/// Adds it, or puts it in the place of the one that has the path. BadUsage where the path is no dotted name, or is that
/// of a tensor.
Result<void> addSubmodule(GraphModule& module, std::string_view path, Submodule submodule);
/// With all that lies below it ("block" takes "block.fc" along); false if there was none.
bool deleteSubmodule(GraphModule& module, std::string_view path);
/// Those that no node calls, reads or passes on, and that neither hold nor lie in one that is used; returns the count.
std::size_t deleteAllUnusedSubmodules(GraphModule& module);
/// Tensors that no node reads, and that lie in no module that a node calls or passes on; returns the count.
std::size_t deleteAllUnusedAttributes(GraphModule& module);

}  // namespace kerf::inline ir
