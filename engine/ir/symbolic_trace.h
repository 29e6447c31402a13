// symbolicTrace: one graph of a module and the modules that it calls, as torch.fx.Tracer.trace makes it: calls of leaf
// modules stay, those of others become their nodes, and arguments that are known become constants.
//
//     h = self.block(x, 2)          block: mul = aten.mul(a, b); return mul      →      mul = aten.mul(x, 2)
#pragma once

#include <functional>
#include <map>
#include <string>

#include "engine/ir/graph_module.h"

namespace kerf::inline ir {

struct TraceRules {
  /// Whether a call of the module at `path` stays one node. By default no; those without a graph always do.
  std::function<bool(std::string_view path, const Submodule& module)> isLeaf = {};
  /// Values of placeholders by name, which are no inputs of the trace any more (torch.fx's concrete_args).
  std::map<std::string, Argument, std::less<>> concreteArguments = {};
  /// Attributes of a module that was traced through are found below its path ("block.weight"); where not, they keep
  /// their own ("weight") as long as nothing else has it.
  bool keepsPaths = false;
};

/// The result has no submodules that nothing uses. BadUsage for a concrete argument that no placeholder takes, or a
/// node as one; BadInput for a call that does not fit its module's inputs; TooLarge for modules that nest without end.
Result<GraphModule> symbolicTrace(const GraphModule& root, const TraceRules& rules = {});

}  // namespace kerf::inline ir
