#include "engine/passes/post_grad/post_grad_passes.h"

#include "engine/ops/core/op_call.h"
#include "engine/passes/call_arguments.h"
#include "engine/passes/call_replacement.h"
#include "engine/passes/node_facts.h"
#include "engine/passes/turned_matrix.h"

namespace kerf::inline passes {

namespace {

struct Product {
  NodeId mm, x, weight;
  std::optional<NodeId> scales;
};

std::optional<NodeId> converted(const Node& node) {
  const bool isConversion = node.isCall("prims.convert_element_type.default"_op);
  return isConversion && !node.args().empty() && node.args()[0].as<NodeId>()
             ? std::optional(*node.args()[0].as<NodeId>())
             : std::nullopt;
}

/// The int8 matrix [n, k] that is converted and turned into the [k, n] of a product, in either order.
std::optional<NodeId> weightOf(const Graph& graph, NodeId factor) {
  const Node& node = graph.node(factor);
  const auto turned = turnedMatrix(node), cast = converted(node);
  const auto weight = turned ? converted(graph.node(*turned)) : cast ? turnedMatrix(graph.node(*cast)) : std::nullopt;
  const TensorMeta* meta = weight ? tensorOf(graph, *weight) : nullptr;
  return meta && meta->dtype == DType::Int8 && meta->sizes.size() == 2 ? weight : std::nullopt;
}

/// A product with converted weights.
std::optional<Product> mixedProduct(const Graph& graph, NodeId id) {
  const Node& mm = graph.node(id);
  if (!mm.isCall("aten.mm.default"_op)) return std::nullopt;
  const auto x = nodeNamed(mm, "self"), other = nodeNamed(mm, "mat2");
  const auto weight = other ? weightOf(graph, *other) : std::nullopt;
  if (!x || !weight || !tensorOf(graph, *x)) return std::nullopt;
  return Product{id, *x, *weight, {}};
}

std::optional<Product> productOf(const Graph& graph, NodeId factor, NodeId scales) {
  auto product = graph.node(factor).users().size() == 1 ? mixedProduct(graph, factor) : std::nullopt;
  const TensorMeta* scale = tensorOf(graph, scales);
  if (!product || !scale || scale->dtype != tensorOf(graph, product->x)->dtype || scale->sizes.size() != 1)
    return std::nullopt;
  if (scale->sizes[0] != tensorOf(graph, product->weight)->sizes[0]) return std::nullopt;
  product->scales = scales;
  return product;
}

std::optional<Product> productOf(const Graph& graph, const Node& node) {
  if (!node.isCall("aten.mul.Tensor"_op)) return std::nullopt;
  const auto a = nodeNamed(node, "self"), b = nodeNamed(node, "other");
  if (!a || !b) return std::nullopt;
  const auto product = productOf(graph, *a, *b);
  return product ? product : productOf(graph, *b, *a);
}

/// Whether a multiplication with scales is what reads a product; that one is looked at then.
bool isScaledLater(const Graph& graph, NodeId mm) {
  const auto& users = graph.node(mm).users();
  return users.size() == 1 && productOf(graph, graph.node(users.front()));
}

std::optional<Product> productAt(const Graph& graph, NodeId id, bool unscaled) {
  if (auto product = productOf(graph, graph.node(id))) return product;
  const TensorMeta* meta = unscaled && !isScaledLater(graph, id) ? tensorOf(graph, id) : nullptr;
  return meta && meta->dtype != DType::Float64 ? mixedProduct(graph, id) : std::nullopt;
}

/// `inputs` are x, the weight and its scales, where there are some.
Value write(const Product& product, CallWriter& call, std::span<const Value> inputs) {
  const Tensor& weight = inputs[1].tensor();
  const Value scales = product.scales ? inputs[2]
                                      : call("aten.full.default"_op, {intList({weight.symSize(0)}), 1.0},
                                             {{"dtype", inputs[0].tensor().dtype()}});
  return call("aten._weight_int8pack_mm.default"_op, {inputs[0], inputs[1], scales});
}

Result<void> runWoqInt8(GraphModule& module, const PassContext& context) {
  if (!context.options.value<bool>("enabled")) return {};
  CallReplacement replacement(module);
  std::optional<AliasGroups> aliases;
  const std::vector<NodeId> order(module.graph.order().begin(), module.graph.order().end());
  for (const NodeId id : order) {
    if (!module.graph.contains(id)) continue;
    const auto product = productAt(module.graph, id, context.options.value<bool>("unscaled"));
    if (!product) continue;
    if (!aliases) aliases.emplace(module.graph);
    if (aliases->touchesMutation(module.graph.node(id)) || aliases->touchesMutation(module.graph.node(product->mm)) ||
        aliases->mutated(product->weight))
      continue;
    std::vector<NodeId> inputs{product->x, product->weight};
    if (product->scales) inputs.push_back(*product->scales);
    std::vector<NodeId> matched;
    if (product->mm != id) matched.push_back(product->mm);
    KERF_CHECK(replacement.replace(
        id, inputs, [&](CallWriter& call, std::span<const Value> values) { return write(*product, call, values); },
        matched));
  }
  replacement.finish();
  return {};
}

}  // namespace

Pass woqInt8Pass() {
  return {.name = "woq_int8",
          .stage = PassStage::PostGrad,
          .description = "Multiplies with int8 weights and their scales in one call.",
          .options = {{"enabled", false, "Whether it runs."},
                      {"unscaled", false, "Also products that nothing scales (torch._inductor's mixed_mm)."}},
          .run = runWoqInt8};
}

}  // namespace kerf::inline passes
