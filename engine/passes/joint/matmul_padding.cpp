#include "engine/passes/joint/matmul_padding.h"

#include "engine/passes/call_arguments.h"
#include "engine/passes/call_replacement.h"
#include "engine/passes/node_facts.h"

namespace kerf::inline passes {

namespace {

/// A product of [m, k] and [k, n], or of batches of them.
struct Product {
  OpId op;
  NodeId a, b;
  std::int64_t m = 0, k = 0, n = 0;
};

std::optional<Product> productOf(const Graph& graph, const Node& node, const std::string& devices) {
  const bool isBatch = node.isCall("aten.bmm.default"_op);
  if (!isBatch && !node.isCall("aten.mm.default"_op)) return std::nullopt;
  const auto a = nodeNamed(node, "self"), b = nodeNamed(node, "mat2");
  const TensorMeta *left = a ? tensorOf(graph, *a) : nullptr, *right = b ? tensorOf(graph, *b) : nullptr;
  const auto x = left ? fixedSizes(*left) : std::nullopt, y = right ? fixedSizes(*right) : std::nullopt;
  if (!x || !y || !isListed(left->device.type, devices) || x->size() < 2 || y->size() != x->size()) return std::nullopt;
  const std::size_t last = x->size() - 1;
  return Product{node.opId(), *a, *b, (*x)[last - 1], (*x)[last], (*y)[last]};
}

/// Sizes that tensor cores take whole; 0 for dtypes that they do not multiply.
std::int64_t alignmentOf(DType dtype) {
  if (dtype == DType::Float16 || dtype == DType::BFloat16) return 8;
  return dtype == DType::Float32 ? 4 : 0;
}

std::int64_t missing(std::int64_t size, std::int64_t alignment) { return (alignment - size % alignment) % alignment; }

double intensity(const Product& p) {
  const double m = double(p.m), k = double(p.k), n = double(p.n);
  return m * k * n / (m * k + k * n + m * n);
}

Value padded(CallWriter& call, const Value& factor, std::int64_t columns, std::int64_t rows) {
  if (columns == 0 && rows == 0) return factor;
  const ValueList pad{std::int64_t{0}, columns, std::int64_t{0}, rows};
  return call("aten.constant_pad_nd.default"_op, {factor, pad, 0.0});
}

Value cut(CallWriter& call, const Value& product, std::int64_t dim, std::int64_t size) {
  return call("aten.slice.Tensor"_op, {product, dim, std::int64_t{0}, size});
}

Value written(CallWriter& call, std::span<const Value> inputs, const Product& p, std::int64_t alignment) {
  const std::int64_t m = missing(p.m, alignment), k = missing(p.k, alignment), n = missing(p.n, alignment);
  Value result = call(p.op, {padded(call, inputs[0], k, m), padded(call, inputs[1], n, k)});
  if (m != 0) result = cut(call, result, -2, p.m);
  if (n != 0) result = cut(call, result, -1, p.n);
  if (m == 0 && n == 0) return result;
  return call("aten.clone.default"_op, {result}, {{"memory_format", MemoryFormat::Contiguous}});
}

Result<void> run(GraphModule& module, const PassContext& context) {
  const auto devices = context.options.value<std::string>("devices");
  const double least = context.options.value<double>("min_intensity");
  CallReplacement replacement(module);
  std::optional<AliasGroups> aliases;
  const std::vector<NodeId> order(module.graph.order().begin(), module.graph.order().end());
  for (const NodeId id : order) {
    const Node& node = module.graph.node(id);
    const auto product = productOf(module.graph, node, devices);
    const TensorMeta* meta = node.meta().value.tensor();
    const std::int64_t alignment = product && meta ? alignmentOf(meta->dtype) : 0;
    if (alignment == 0 || product->m * product->k * product->n == 0 || intensity(*product) < least) continue;
    if (missing(product->m, alignment) + missing(product->k, alignment) + missing(product->n, alignment) == 0) continue;
    if (!aliases) aliases.emplace(module.graph);
    if (aliases->touchesMutation(node)) continue;
    KERF_CHECK(replacement.replace(id, {product->a, product->b}, [&](CallWriter& call, std::span<const Value> inputs) {
      return written(call, inputs, *product, alignment);
    }));
  }
  replacement.finish();
  return {};
}

}  // namespace

Pass matmulPaddingPass() {
  return {.name = "matmul_padding",
          .stage = PassStage::Joint,
          .description = "Pads factors of large products to sizes that tensor cores take whole.",
          .options = {{"devices", std::string("cuda"), "Device types on which it runs, or all."},
                      {"min_intensity", 100.0, "Least multiplications for each element of factors and result."}},
          .run = run};
}

}  // namespace kerf::inline passes
