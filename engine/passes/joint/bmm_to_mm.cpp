#include "engine/passes/joint/joint_passes.h"

#include "engine/passes/call_arguments.h"
#include "engine/passes/call_replacement.h"
#include "engine/passes/node_facts.h"

namespace kerf::inline passes {

namespace {

bool isOneBatch(const Graph& graph, NodeId id) {
  const TensorMeta* meta = tensorOf(graph, id);
  return meta && meta->sizes.size() == 3 && meta->sizes[0] == dim(1);
}

/// Invalid ids where it is no product of batches of one.
std::pair<NodeId, NodeId> factors(const Graph& graph, const Node& node, const std::string& devices) {
  if (!node.isCall("aten.bmm.default"_op)) return {};
  const auto a = nodeNamed(node, "self"), b = nodeNamed(node, "mat2");
  if (!a || !b || !isOneBatch(graph, *a) || !isOneBatch(graph, *b)) return {};
  return isListed(tensorOf(graph, *a)->device.type, devices) ? std::pair(*a, *b) : std::pair<NodeId, NodeId>();
}

Value written(CallWriter& call, std::span<const Value> inputs) {
  const Value a = call("aten.squeeze.dim"_op, {inputs[0], std::int64_t{0}});
  const Value b = call("aten.squeeze.dim"_op, {inputs[1], std::int64_t{0}});
  return call("aten.unsqueeze.default"_op, {call("aten.mm.default"_op, {a, b}), std::int64_t{0}});
}

Result<void> runBmmToMm(GraphModule& module, const PassContext& context) {
  const auto devices = context.options.value<std::string>("devices");
  CallReplacement replacement(module);
  const std::vector<NodeId> order(module.graph.order().begin(), module.graph.order().end());
  for (const NodeId id : order) {
    const Node& node = module.graph.node(id);
    const auto [a, b] = factors(module.graph, node, devices);
    if (!a.valid() || AliasGroups(module.graph).touchesMutation(node)) continue;
    KERF_CHECK(replacement.replace(id, {a, b}, written));
  }
  replacement.finish();
  return {};
}

}  // namespace

Pass bmmToMmPass() {
  return {.name = "bmm_to_mm",
          .stage = PassStage::Joint,
          .description = "Multiplies matrices where a batch has one.",
          .options = {{"devices", std::string("cuda"), "Device types on which it runs, or all."}},
          .run = runBmmToMm};
}

}  // namespace kerf::inline passes
