#include "engine/passes/post_grad/post_grad_passes.h"

#include "engine/ops/core/op_math.h"
#include "engine/passes/call_arguments.h"
#include "engine/passes/call_replacement.h"
#include "engine/passes/node_facts.h"

namespace kerf::inline passes {

namespace {

struct Limits {
  std::int64_t rows, columns;
};

struct Product {
  std::vector<NodeId> inputs;  ///< factors, then the term that is added
  std::int64_t innerDim = 1;   ///< of the expanded product
};

std::optional<Sizes> sizesOf(const Graph& graph, NodeId id) {
  const TensorMeta* meta = tensorOf(graph, id);
  return meta && isFloating(meta->dtype) ? fixedSizes(*meta) : std::nullopt;
}

bool isBound(const Sizes& a, const Sizes& b, const Limits& limits) {
  if (a.size() == 2) return a[0] >= limits.rows && b[0] < limits.columns && b[1] < limits.columns;
  const int small = int(a[1] < limits.columns) + int(a[2] < limits.columns) + int(b[2] < limits.columns);
  return a[0] >= limits.rows && small >= 2;
}

std::optional<Product> boundProduct(const Graph& graph, const Node& node, const Limits& limits) {
  const bool adds = node.isCall("aten.addmm.default"_op);
  if (!adds && !node.isCall("aten.mm.default"_op) && !node.isCall("aten.bmm.default"_op)) return std::nullopt;
  if (adds && (numberNamed(node, "beta") != 1.0 || numberNamed(node, "alpha") != 1.0)) return std::nullopt;
  const auto a = nodeNamed(node, adds ? "mat1" : "self"), b = nodeNamed(node, "mat2");
  const auto sizes = a ? sizesOf(graph, *a) : std::nullopt, other = b ? sizesOf(graph, *b) : std::nullopt;
  if (!sizes || !other || sizes->size() != other->size() || !isBound(*sizes, *other, limits)) return std::nullopt;
  Product product{{*a, *b}, std::int64_t(sizes->size()) - 1};
  if (!adds) return product;
  const auto term = nodeNamed(node, "self");
  if (!term) return std::nullopt;
  product.inputs.push_back(*term);
  return product;
}

/// The value in `dtype`; nothing of what could not be written.
Value converted(CallWriter& call, const Value& value, DType dtype) {
  if (!value.isTensor() || value.tensor().dtype() == dtype) return value;
  return call("prims.convert_element_type.default"_op, {value, dtype});
}

/// 16-bit floats are multiplied and summed in float32 and rounded once, as products do.
Value written(CallWriter& call, const Product& product, std::span<const Value> inputs) {
  const DType dtype = inputs[0].tensor().dtype(), wide = opMathType(dtype);
  const Value rows = call("aten.unsqueeze.default"_op, {converted(call, inputs[0], wide), product.innerDim + 1});
  const Value columns = call("aten.unsqueeze.default"_op, {converted(call, inputs[1], wide), product.innerDim - 1});
  const Value products = call("aten.mul.Tensor"_op, {rows, columns});
  Value result = call("aten.sum.dim_IntList"_op, {products, ValueList(1, Value(product.innerDim))});
  if (inputs.size() == 3) result = call("aten.add.Tensor"_op, {result, converted(call, inputs[2], wide)});
  return converted(call, result, dtype);
}

Result<void> runDecomposeMm(GraphModule& module, const PassContext& context) {
  if (!context.options.value<bool>("enabled")) return {};
  const Limits limits{context.options.value<std::int64_t>("min_rows"),
                      context.options.value<std::int64_t>("max_columns")};
  CallReplacement replacement(module);
  const AliasGroups aliases(module.graph);
  const std::vector<NodeId> order(module.graph.order().begin(), module.graph.order().end());
  for (const NodeId id : order) {
    const Node& node = module.graph.node(id);
    const auto product = boundProduct(module.graph, node, limits);
    if (!product || aliases.touchesMutation(node)) continue;
    KERF_CHECK(replacement.replace(id, product->inputs, [&](CallWriter& call, std::span<const Value> inputs) {
      return written(call, *product, inputs);
    }));
  }
  replacement.finish();
  return {};
}

}  // namespace

Pass decomposeMmPass() {
  return {.name = "decompose_mm_pass",
          .stage = PassStage::PostGrad,
          .description = "Multiplies and sums where a product of long, narrow matrices is bound by memory.",
          .options = {{"enabled", false, "Whether it runs."},
                      {"min_rows", std::int64_t{10240}, "Least rows of the first factor."},
                      {"max_columns", std::int64_t{32}, "All other sizes are below this."}},
          .run = runDecomposeMm};
}

}  // namespace kerf::inline passes
