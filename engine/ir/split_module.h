// splitModule: a graph as a graph of calls, each of a module with the nodes of one part, as torch.fx's split_module;
// and back again.
//
//     a = sin(x); b = cos(a); return b      →      submod_0 = self.submod_0(x); submod_1 = self.submod_1(submod_0)
//     parts of a and b: 0 and 1                    submod_0: return sin(x)       submod_1: return cos(a)
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "engine/ir/graph_module.h"

namespace kerf::inline ir {

struct SplitModule {
  GraphModule module;              ///< calls the parts in an order that their values allow
  std::vector<std::string> parts;  ///< paths of the modules it calls, in that order: "submod_0"
};

struct SplitOptions {
  std::string prefix = "submod_";
  /// Nodes that must run after all that stood before them and before all that stood after them: effects. By default
  /// none.
  std::function<bool(const Node&)> isOrdered = {};
};

/// `partOf` is asked of every call. Inputs and output stay outside, attributes go where they are read. BadUsage naming
/// a node where two parts need each other's values.
Result<SplitModule> splitModule(const GraphModule& module, const std::function<std::int64_t(const Node&)>& partOf,
                                const SplitOptions& options = {});

/// One graph again: the nodes of the parts in the place of their calls. Values are those of the graph that was split.
Result<GraphModule> reassemble(const SplitModule& split);

}  // namespace kerf::inline ir
