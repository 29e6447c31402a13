#include "engine/passes/post_grad/post_grad_passes.h"

#include <algorithm>

#include "engine/passes/call_arguments.h"
#include "engine/passes/call_replacement.h"
#include "engine/passes/node_facts.h"
#include "engine/passes/turned_matrix.h"

namespace kerf::inline passes {

namespace {

/// What a product is scaled by: a number, or a tensor of one value or of one for each column.
struct Scale {
  double number = 1;
  std::optional<NodeId> tensor;
};

struct ScaledProduct {
  NodeId x, weight;       ///< int8 [m, k], and the int8 [k, n] or [n, k] that is its other factor
  bool isTurned = false;  ///< the weight is [n, k]
  Scale scale;
  std::optional<NodeId> other;  ///< what the sums are multiplied by besides
  std::vector<NodeId> matched;  ///< calls that the new one stands for, but the last
};

bool isFloatTensor(const TensorMeta* meta) { return meta && isFloating(meta->dtype); }

/// One value, or one for each of the result's columns.
bool scalesColumns(const Graph& graph, NodeId id, const Dim& columns) {
  const TensorMeta* meta = tensorOf(graph, id);
  if (!isFloatTensor(meta) || meta->sizes.size() > 2) return false;
  const auto isOne = [](const Dim& size) { return size == dim(1); };
  if (std::ranges::all_of(meta->sizes, isOne)) return true;
  return meta->sizes.back() == columns && std::all_of(meta->sizes.begin(), meta->sizes.end() - 1, isOne);
}

/// A weight that lives on: it is packed for every run here, and once where PyTorch freezes a graph.
bool isStatic(const Graph& graph, NodeId id) {
  return graph.node(id).op() == Opcode::Placeholder || graph.node(id).op() == Opcode::GetAttr;
}

/// `id` as the product of int8 matrices, converted to floats or not.
std::optional<ScaledProduct> sumsOf(const Graph& graph, NodeId id) {
  ScaledProduct product;
  const Node* node = &graph.node(id);
  if (node->users().size() != 1) return std::nullopt;
  product.matched.push_back(id);
  if (node->isCall("prims.convert_element_type.default"_op)) {
    const NodeId* sums = node->args().empty() ? nullptr : node->args()[0].as<NodeId>();
    if (!sums || !isFloatTensor(node->meta().value.tensor())) return std::nullopt;
    node = &graph.node(*sums);
    product.matched.insert(product.matched.begin(), *sums);
  }
  if (!node->isCall("aten._int_mm.default"_op) || node->users().size() != 1) return std::nullopt;
  const auto x = nodeNamed(*node, "self"), w = nodeNamed(*node, "mat2");
  if (!x || !w) return std::nullopt;
  const auto turned = turnedMatrix(graph.node(*w));
  product.x = *x;
  product.weight = turned.value_or(*w);
  product.isTurned = turned.has_value();
  return isStatic(graph, product.weight) ? std::optional(std::move(product)) : std::nullopt;
}

/// Factors of a multiplication, in either order.
std::vector<std::pair<Argument, Argument>> factorsOf(const Node& node) {
  const Argument *a = argumentNamed(node, "self"), *b = argumentNamed(node, "other");
  if (!node.isCall("aten.mul.Tensor"_op) || !a || !b) return {};
  return {{*a, *b}, {*b, *a}};
}

/// The sums of `product` times something of any form.
std::optional<ScaledProduct> multipliedSums(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  if (node.users().size() != 1) return std::nullopt;
  for (const auto& [factor, other] : factorsOf(node)) {
    const NodeId *sums = factor.as<NodeId>(), *by = other.as<NodeId>();
    auto product = sums && by ? sumsOf(graph, *sums) : std::nullopt;
    if (!product || !isFloatTensor(tensorOf(graph, *by))) continue;
    if (tensorOf(graph, *sums)->sizes != node.meta().value.tensor()->sizes) continue;
    product->other = *by;
    product->matched.push_back(id);
    return product;
  }
  return std::nullopt;
}

std::optional<ScaledProduct> scaledProduct(const Graph& graph, const Node& node) {
  const TensorMeta* result = node.meta().value.tensor();
  if (!isFloatTensor(result) || result->dtype == DType::Float64 || result->sizes.size() != 2) return std::nullopt;
  for (const auto& [factor, scale] : factorsOf(node)) {
    const NodeId *sums = factor.as<NodeId>(), *tensor = scale.as<NodeId>();
    if (!sums || (tensor && !scalesColumns(graph, *tensor, result->sizes[1]))) continue;
    auto product = sumsOf(graph, *sums);
    if (!product) product = multipliedSums(graph, *sums);
    const auto number = numberOf(scale);
    if (!product || (!tensor && !number)) continue;
    product->scale = {number.value_or(1), tensor ? std::optional(*tensor) : std::nullopt};
    return product;
  }
  return std::nullopt;
}

/// `inputs` are x, weight, then scale and other factor where there are those.
Value write(const ScaledProduct& product, DType dtype, CallWriter& call, std::span<const Value> inputs) {
  Value weight = inputs[1];
  if (!product.isTurned) weight = call("aten.permute.default"_op, {weight, ValueList{1, 0}});
  const Value packed = call("onednn.qlinear_prepack.default"_op, {weight, {}});
  const auto uniform = [&](std::int64_t count, Value value, DType type) {
    return call("aten.full.default"_op, {ValueList{count}, std::move(value)}, {{"dtype", type}});
  };
  Value scales = product.scale.tensor ? inputs[2] : uniform(1, 1.0, DType::Float32);
  if (product.scale.tensor && call.state()) {
    if (scales.tensor().dtype() != DType::Float32)
      scales = call("prims.convert_element_type.default"_op, {scales, DType::Float32});
    if (scales.isTensor() && scales.tensor().dim() != 1) scales = call("aten.view.default"_op, {scales, ValueList{-1}});
  }
  const Value result = call("onednn.qlinear_pointwise.default"_op, {inputs[0],
                                                                    product.scale.number,
                                                                    0,
                                                                    packed,
                                                                    scales,
                                                                    uniform(1, 0, DType::Int32),
                                                                    {},
                                                                    1.0,
                                                                    0,
                                                                    dtype,
                                                                    std::string("none"),
                                                                    ValueList{},
                                                                    std::string()});
  return product.other ? call("aten.mul.Tensor"_op, {result, inputs.back()}) : result;
}

Result<void> runFusedIntMmMul(GraphModule& module, const PassContext& context) {
  if (!context.options.value<bool>("enabled")) return {};
  CallReplacement replacement(module);
  std::optional<AliasGroups> aliases;
  const std::vector<NodeId> order(module.graph.order().begin(), module.graph.order().end());
  for (const NodeId id : order) {
    if (!module.graph.contains(id)) continue;
    const auto product = scaledProduct(module.graph, module.graph.node(id));
    if (!product) continue;
    if (!aliases) aliases.emplace(module.graph);
    const auto isWritten = [&](NodeId node) { return aliases->touchesMutation(module.graph.node(node)); };
    if (isWritten(id) || std::ranges::any_of(product->matched, isWritten) || aliases->mutated(product->weight))
      continue;
    std::vector<NodeId> inputs{product->x, product->weight};
    if (product->scale.tensor) inputs.push_back(*product->scale.tensor);
    if (product->other) inputs.push_back(*product->other);
    const DType dtype = module.graph.node(id).meta().value.tensor()->dtype;
    KERF_CHECK(replacement.replace(
        id, inputs,
        [&](CallWriter& call, std::span<const Value> values) { return write(*product, dtype, call, values); },
        product->matched));
  }
  replacement.finish();
  return {};
}

}  // namespace

Pass fusedIntMmMulPass() {
  return {.name = "fused_int_mm_mul",
          .stage = PassStage::PostGrad,
          .description = "Multiplies int8 matrices and scales the result in one call.",
          .options = {{"enabled", false, "Whether it runs."}},
          .run = runFusedIntMmMul};
}

}  // namespace kerf::inline passes
