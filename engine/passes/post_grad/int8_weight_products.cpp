#include "engine/passes/post_grad/int8_weight_products.h"

#include "engine/passes/call_arguments.h"
#include "engine/passes/call_replacement.h"
#include "engine/passes/node_facts.h"

namespace kerf::inline passes {

namespace {

struct Product {
  NodeId mm, x, weight, scales;
};

/// What a transposition of a matrix turns.
std::optional<NodeId> transposed(const Node& node) {
  if (node.isCall("aten.t.default"_op)) return nodeNamed(node, "self");
  if (!node.isCall("aten.permute.default"_op)) return std::nullopt;
  const auto dims = integersNamed(node, "dims");
  return dims && *dims == Sizes{1, 0} ? nodeNamed(node, "self") : std::nullopt;
}

std::optional<NodeId> converted(const Node& node) {
  const bool isConversion = node.isCall("prims.convert_element_type.default"_op);
  return isConversion && !node.args().empty() && node.args()[0].as<NodeId>()
             ? std::optional(*node.args()[0].as<NodeId>())
             : std::nullopt;
}

/// The int8 matrix [n, k] that is converted and turned into the [k, n] of a product, in either order.
std::optional<NodeId> weightOf(const Graph& graph, NodeId factor) {
  const Node& node = graph.node(factor);
  const auto turned = transposed(node), cast = converted(node);
  const auto weight = turned ? converted(graph.node(*turned)) : cast ? transposed(graph.node(*cast)) : std::nullopt;
  const TensorMeta* meta = weight ? tensorOf(graph, *weight) : nullptr;
  return meta && meta->dtype == DType::Int8 && meta->sizes.size() == 2 ? weight : std::nullopt;
}

std::optional<Product> productOf(const Graph& graph, NodeId factor, NodeId scales) {
  const Node& mm = graph.node(factor);
  if (!mm.isCall("aten.mm.default"_op) || mm.users().size() != 1) return std::nullopt;
  const auto x = nodeNamed(mm, "self"), other = nodeNamed(mm, "mat2");
  const auto weight = other ? weightOf(graph, *other) : std::nullopt;
  const TensorMeta *left = x ? tensorOf(graph, *x) : nullptr, *scale = tensorOf(graph, scales);
  if (!weight || !left || !scale || scale->dtype != left->dtype || scale->sizes.size() != 1) return std::nullopt;
  if (scale->sizes[0] != tensorOf(graph, *weight)->sizes[0]) return std::nullopt;
  return Product{factor, *x, *weight, scales};
}

std::optional<Product> productOf(const Graph& graph, const Node& node) {
  if (!node.isCall("aten.mul.Tensor"_op)) return std::nullopt;
  const auto a = nodeNamed(node, "self"), b = nodeNamed(node, "other");
  if (!a || !b) return std::nullopt;
  const auto product = productOf(graph, *a, *b);
  return product ? product : productOf(graph, *b, *a);
}

Result<void> run(GraphModule& module, const PassContext& context) {
  if (!context.options.value<bool>("enabled")) return {};
  CallReplacement replacement(module);
  std::optional<AliasGroups> aliases;
  const std::vector<NodeId> order(module.graph.order().begin(), module.graph.order().end());
  for (const NodeId id : order) {
    const auto product = productOf(module.graph, module.graph.node(id));
    if (!product) continue;
    if (!aliases) aliases.emplace(module.graph);
    if (aliases->touchesMutation(module.graph.node(id)) || aliases->touchesMutation(module.graph.node(product->mm)) ||
        aliases->mutated(product->weight))
      continue;
    KERF_CHECK(
        replacement.replace(id, {product->x, product->weight, product->scales},
                            [](CallWriter& call, std::span<const Value> inputs) {
                              return call("aten._weight_int8pack_mm.default"_op, {inputs[0], inputs[1], inputs[2]});
                            },
                            {product->mm}));
  }
  replacement.finish();
  return {};
}

}  // namespace

Pass int8WeightProductsPass() {
  return {.name = "int8_weight_products",
          .stage = PassStage::PostGrad,
          .description = "Multiplies with int8 weights and their scales in one call.",
          .options = {{"enabled", false, "Whether it runs."}},
          .run = run};
}

}  // namespace kerf::inline passes
