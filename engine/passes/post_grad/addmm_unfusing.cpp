#include "engine/passes/post_grad/addmm_unfusing.h"

#include "engine/passes/call_arguments.h"
#include "engine/passes/call_replacement.h"
#include "engine/passes/node_facts.h"
#include "engine/passes/post_grad/pointwise_users.h"

namespace kerf::inline passes {

namespace {

Value scaled(CallWriter& call, const Value& value, const Argument* factor) {
  const auto number = factor ? numberOf(*factor) : std::optional(1.0);
  if (*number == 1) return value;
  const auto* whole = factor->as<std::int64_t>();
  return call("aten.mul.Tensor"_op, {value, whole ? Value(*whole) : Value(*number)});
}

bool isUnfused(const Graph& graph, const Node& node, const std::string& devices) {
  if (!node.isCall("aten.addmm.default"_op)) return false;
  const TensorMeta* meta = node.meta().value.tensor();
  if (!meta || !isListed(meta->device.type, devices) || !hasPointwiseUsersOnly(graph, node)) return false;
  return numberNamed(node, "beta") && numberNamed(node, "alpha") && nodeNamed(node, "self") &&
         nodeNamed(node, "mat1") && nodeNamed(node, "mat2");
}

Result<void> runAddmmUnfusing(GraphModule& module, const PassContext& context) {
  Graph& graph = module.graph;
  const auto devices = context.options.value<std::string>("devices");
  CallReplacement replacement(module);
  std::optional<AliasGroups> aliases;
  const std::vector<NodeId> order(graph.order().begin(), graph.order().end());
  for (const NodeId id : order) {
    const Node& node = graph.node(id);
    if (!isUnfused(graph, node, devices)) continue;
    if (!aliases) aliases.emplace(graph);
    if (aliases->touchesMutation(node)) continue;
    const Argument* alpha = argumentNamed(node, "alpha");
    const Argument* beta = argumentNamed(node, "beta");
    KERF_CHECK(replacement.replace(id, {*nodeNamed(node, "self"), *nodeNamed(node, "mat1"), *nodeNamed(node, "mat2")},
                                   [&](CallWriter& call, std::span<const Value> inputs) {
                                     Value product = call("aten.mm.default"_op, {inputs[1], inputs[2]});
                                     product = scaled(call, product, alpha);
                                     const Value bias = scaled(call, inputs[0], beta);
                                     return call("aten.add.Tensor"_op, {bias, product});
                                   }));
  }
  replacement.finish();
  return {};
}

}  // namespace

Pass addmmUnfusingPass() {
  return {.name = "addmm_unfusing",
          .stage = PassStage::PostGrad,
          .description = "Adds a bias apart from its product where what reads the sum is pointwise.",
          .options = {{"devices", std::string("cuda"), "Device types on which it runs, or all."}},
          .run = runAddmmUnfusing};
}

}  // namespace kerf::inline passes
