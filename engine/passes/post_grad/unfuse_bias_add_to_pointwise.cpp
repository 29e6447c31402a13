#include "engine/passes/post_grad/post_grad_passes.h"

#include <algorithm>

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

/// A product with a bias, the product alone, and the schema's names of the factors.
struct BiasedProduct {
  OpId fused, product;
  std::string_view left, right;
};

const BiasedProduct* biasedProductOf(const Node& node) {
  static const BiasedProduct table[] = {
      {"aten.addmm.default"_op, "aten.mm.default"_op, "mat1", "mat2"},
      {"aten.baddbmm.default"_op, "aten.bmm.default"_op, "batch1", "batch2"},
  };
  const auto row = std::ranges::find_if(table, [&](const BiasedProduct& known) { return node.isCall(known.fused); });
  return row == std::end(table) ? nullptr : row;
}

/// With a beta of 0 the bias is not even read: NaN times 0 would be NaN.
bool isUnfused(const Graph& graph, const Node& node, const BiasedProduct& row, const std::string& devices) {
  const TensorMeta* meta = node.meta().value.tensor();
  if (!meta || !isListed(meta->device.type, devices) || !hasPointwiseUsersOnly(graph, node)) return false;
  const auto beta = numberNamed(node, "beta");
  return beta && *beta != 0 && numberNamed(node, "alpha") && nodeNamed(node, "self") && nodeNamed(node, row.left) &&
         nodeNamed(node, row.right);
}

Result<void> runUnfuseBiasAddToPointwise(GraphModule& module, const PassContext& context) {
  Graph& graph = module.graph;
  const auto devices = context.options.value<std::string>("devices");
  CallReplacement replacement(module);
  std::optional<AliasGroups> aliases;
  const std::vector<NodeId> order(graph.order().begin(), graph.order().end());
  for (const NodeId id : order) {
    const Node& node = graph.node(id);
    const BiasedProduct* row = biasedProductOf(node);
    if (!row || !isUnfused(graph, node, *row, devices)) continue;
    if (!aliases) aliases.emplace(graph);
    if (aliases->touchesMutation(node)) continue;
    const Argument* alpha = argumentNamed(node, "alpha");
    const Argument* beta = argumentNamed(node, "beta");
    KERF_CHECK(
        replacement.replace(id, {*nodeNamed(node, "self"), *nodeNamed(node, row->left), *nodeNamed(node, row->right)},
                            [&](CallWriter& call, std::span<const Value> inputs) {
                              Value product = call(row->product, {inputs[1], inputs[2]});
                              product = scaled(call, product, alpha);
                              const Value bias = scaled(call, inputs[0], beta);
                              return call("aten.add.Tensor"_op, {bias, product});
                            }));
  }
  replacement.finish();
  return {};
}

}  // namespace

Pass unfuseBiasAddToPointwisePass() {
  return {.name = "unfuse_bias_add_to_pointwise",
          .stage = PassStage::PostGrad,
          .description = "Adds a bias apart from its product where what reads the sum is pointwise.",
          .options = {{"devices", std::string("cuda"), "Device types on which it runs, or all."}},
          .run = runUnfuseBiasAddToPointwise};
}

}  // namespace kerf::inline passes
