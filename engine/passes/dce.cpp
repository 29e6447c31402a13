// Dead code elimination: Graph::eliminateDeadCode with Kerf's rule of what must stay.
#include "engine/passes/dce.h"

#include <algorithm>

#include "engine/passes/node_facts.h"

namespace kerf::inline passes {

namespace {

/// Attributes that no node reads any more go with the nodes that read them, if a pass made them.
void dropFrozen(GraphModule& module) {
  const auto unread = [&](const auto& named) {
    if (!named.first.starts_with("_frozen_param")) return false;
    return std::ranges::none_of(module.graph.order(), [&](NodeId id) {
      const Node& node = module.graph.node(id);
      return node.op() == Opcode::GetAttr && node.target() == named.first;
    });
  };
  module.attributes.eraseIf(unread);
}

Result<void> runDce(GraphModule& module, const PassContext&) {
  module.graph.eliminateDeadCode(mustStay);
  dropFrozen(module);
  return {};
}

}  // namespace

Pass dcePass() {
  return {.name = "dce", .stage = PassStage::PostGrad, .description = "Drops nodes that nobody uses.", .run = runDce};
}

}  // namespace kerf::inline passes
