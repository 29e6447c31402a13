// Nodes of graphs that AOTAutograd compiles: their way back is a compiled graph, too, and has no derivative of its own.
#pragma once

#include "engine/torch_api/grad_node.h"

namespace kerf::inline torch_api {

/// While it lives, calls that are taped are of a compiled graph: their nodes are called CompiledFunctionBackward.
class CompiledGraphScope {
 public:
  explicit CompiledGraphScope(bool isCompiled);
  ~CompiledGraphScope();
  CompiledGraphScope(const CompiledGraphScope&) = delete;
  CompiledGraphScope& operator=(const CompiledGraphScope&) = delete;

 private:
  bool m_before;
};

/// Whether a compiled graph runs now.
bool isInCompiledGraph();

/// Makes a node one of the compiled graph that runs, if one does. A view of what comes from outside stays what it is: the
/// compiled function makes it anew.
void noteCompiled(GradNode& node, bool isView);

/// node.backward() where a graph of the gradient is wanted: what it gives needs a gradient if anything that it read does, and
/// differentiating that fails, in PyTorch's words.
Result<ValueList> passCompiled(GradNode& node, const ValueList& grads, const OpCaller& ops);

}  // namespace kerf::inline torch_api
