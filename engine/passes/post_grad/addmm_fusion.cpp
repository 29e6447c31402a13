#include "engine/passes/post_grad/post_grad_passes.h"

#include <algorithm>

#include "engine/passes/call_arguments.h"
#include "engine/passes/call_replacement.h"
#include "engine/passes/node_facts.h"
#include "engine/passes/post_grad/pointwise_users.h"

namespace kerf::inline passes {

namespace {

struct ProductSum {
  NodeId product, term;
  OpId fused;
};

/// What adding to a call of this op makes of it; OpId{} if nothing.
OpId fusedOp(const Node& node, bool batches) {
  if (node.isCall("aten.mm.default"_op)) return "aten.addmm.default"_op;
  return batches && node.isCall("aten.bmm.default"_op) ? "aten.baddbmm.default"_op : OpId{};
}

bool expandsTo(const TensorMeta& term, const TensorMeta& product) {
  if (term.sizes.size() > product.sizes.size()) return false;
  return std::equal(term.sizes.rbegin(), term.sizes.rend(), product.sizes.rbegin(),
                    [](const Dim& from, const Dim& to) { return from == to || from == dim(1); });
}

std::optional<ProductSum> productSum(const Graph& graph, const Node& node, bool batches) {
  if (!node.isCall("aten.add.Tensor"_op) || node.args().size() != 2 || !node.kwargs().empty()) return std::nullopt;
  const NodeId* terms[] = {node.args()[0].as<NodeId>(), node.args()[1].as<NodeId>()};
  if (!terms[0] || !terms[1] || *terms[0] == *terms[1]) return std::nullopt;
  for (const std::size_t i : {0, 1}) {
    const Node& product = graph.node(*terms[i]);
    const OpId fused = fusedOp(product, batches);
    const TensorMeta* made = product.meta().value.tensor();
    const TensorMeta* term = tensorOf(graph, *terms[1 - i]);
    if (!fused || product.users().size() != 1 || !made || !term) continue;
    if (made->dtype == term->dtype && made->device == term->device && expandsTo(*term, *made))
      return ProductSum{*terms[i], *terms[1 - i], fused};
  }
  return std::nullopt;
}

Result<void> runAddmmFusion(GraphModule& module, const PassContext& context) {
  Graph& graph = module.graph;
  const bool batches = context.options.value<bool>("batches");
  const auto unfused = context.options.value<std::string>("unfused_devices");
  CallReplacement replacement(module);
  std::optional<AliasGroups> aliases;
  const std::vector<NodeId> order(graph.order().begin(), graph.order().end());
  for (auto at = order.rbegin(); at != order.rend(); ++at) {  // the last sum takes a product that two could
    if (!graph.contains(*at)) continue;
    const Node& node = graph.node(*at);
    const auto sum = productSum(graph, node, batches);
    if (!sum) continue;
    const bool isUnfused = isListed(tensorOf(graph, sum->product)->device.type, unfused);
    if (isUnfused && hasPointwiseUsersOnly(graph, node)) continue;
    if (!aliases) aliases.emplace(graph);
    const Node& product = graph.node(sum->product);
    if (aliases->touchesMutation(node) || aliases->touchesMutation(product)) continue;
    const std::vector<NodeId> factors = product.inputs();
    if (factors.empty()) continue;
    KERF_CHECK(replacement.replace(*at, {sum->term, factors.front(), factors.back()},
                                   [&](CallWriter& call, std::span<const Value> inputs) {
                                     return call(sum->fused, ValueList(inputs.begin(), inputs.end()));
                                   },
                                   {sum->product}));
  }
  replacement.finish();
  return {};
}

}  // namespace

Pass addmmFusionPass() {
  return {.name = "addmm_fusion",
          .stage = PassStage::PostGrad,
          .description = "Makes one addmm of a product and the sum that reads it.",
          .options = {{"batches", false, "Also makes baddbmm of bmm and a sum."},
                      {"unfused_devices", std::string("cuda"),
                       "Device types on which a sum stays that can be fused with its users."}},
          .run = runAddmmFusion};
}

}  // namespace kerf::inline passes
