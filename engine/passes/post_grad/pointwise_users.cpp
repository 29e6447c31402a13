#include "engine/passes/post_grad/pointwise_users.h"

#include <algorithm>

#include "engine/passes/node_facts.h"

namespace kerf::inline passes {

namespace {

bool isPointwiseUse(const Graph& graph, const Node& user) {
  const OpInfo* op = opOf(user);
  if (!op) return false;
  if (user.isCall("operator.getitem"_op) || has(op->traits, OpTrait::View)) return hasPointwiseUsersOnly(graph, user);
  return has(op->traits, OpTrait::Pointwise);
}

}  // namespace

bool hasPointwiseUsersOnly(const Graph& graph, const Node& node) {
  return std::ranges::all_of(node.users(), [&](NodeId user) { return isPointwiseUse(graph, graph.node(user)); });
}

}  // namespace kerf::inline passes
