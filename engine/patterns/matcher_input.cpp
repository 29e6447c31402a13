// Shapes and no-ops.
#include "engine/patterns/matcher_input.h"

#include <algorithm>

#include "engine/ops/core/op_registry.h"
#include "engine/passes/dce.h"
#include "engine/passes/remove_noop_ops.h"

namespace kerf::inline patterns {

Result<GraphModule> matcherInput(const GraphModule& module) {
  GraphModule prepared = module;
  const bool known = std::ranges::all_of(module.graph.order(), [&](NodeId id) {
    const Node& node = module.graph.node(id);
    return node.op() != Opcode::CallFunction || node.meta().value.known();
  });
  if (!known) KERF_CHECK(propagateShapes(prepared));
  for (const Pass& pass : {removeNoopOpsPass(), dcePass()}) KERF_CHECK(pass.run(prepared, {pass.options, ""}));
  return prepared;
}

}  // namespace kerf::inline patterns
