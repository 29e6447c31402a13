// Dead code elimination: Graph::eliminateDeadCode with Kerf's rule of what must stay.
#include "engine/passes/dce.h"

#include <algorithm>

#include "engine/passes/node_facts.h"

namespace kerf::inline passes {

namespace {

/// Attributes that no node reads any more go with the nodes that read them, if a pass made them.
bool dropFrozen(GraphModule& module) {
  const auto unread = [&](const auto& named) {
    if (!named.first.starts_with("_frozen_param")) return false;
    return std::ranges::none_of(module.graph.order(), [&](NodeId id) {
      const Node& node = module.graph.node(id);
      return node.op() == Opcode::GetAttr && node.target() == named.first;
    });
  };
  return std::erase_if(module.attributes, unread) > 0;
}

Result<bool> run(GraphModule& module) {
  const std::size_t erased = module.graph.eliminateDeadCode(mustStay);
  return dropFrozen(module) || erased > 0;
}

}  // namespace

Pass dcePass() {
  return {.name = "dce", .stage = "post_grad", .description = "Drops nodes that nobody uses.", .run = run};
}

}  // namespace kerf::inline passes
