#include "engine/passes/joint/joint_passes.h"

#include "engine/passes/call_arguments.h"
#include "engine/passes/call_replacement.h"
#include "engine/passes/joint/padded_product.h"
#include "engine/passes/joint/padding_benchmark.h"
#include "engine/passes/node_facts.h"

namespace kerf::inline passes {

namespace {

/// Whether rows alone are missing, below rows that lie as far apart as before: tensor cores gain nothing then. (Of
/// vit_b_16's recorded graphs Inductor, which measures, leaves the products of 394 rows as they are.)
bool addsRowsOnly(const Graph& graph, const PaddedProduct& product) {
  if (product.missing(product.k()) != 0 || product.missing(product.n()) != 0) return false;
  const TensorMeta* left = graph.node(product.a).meta().value.tensor();
  const auto strides = left ? left->concreteStrides() : std::nullopt;
  return strides && !strides->empty() && (strides->back() == 1 || product.k() == 1);
}

/// By measuring, where that is asked for and possible; what is not measured is decided by its intensity. (Of the
/// products that Inductor padded, measuring, in vit_b_16's recorded backward graph the least has 384; gpt2's by its
/// vocabulary of 50,257, which it left as it is, has 192.)
bool pays(const Graph& graph, const PaddedProduct& product, const Device& device, const PassOptions& options) {
  if (options.value<bool>("benchmark") && device.type == "cpu") {
    const auto times = PaddingBenchmark::shared().times(product);
    if (times) return times->padded < times->plain;
  }
  return !addsRowsOnly(graph, product) && product.intensity() >= options.value<double>("min_intensity");
}

std::optional<PaddedProduct> worthPadding(const Graph& graph, const Node& node, const PassOptions& options) {
  const TensorMeta* meta = node.meta().value.tensor();
  if (!meta || !isListed(meta->device.type, options.value<std::string>("devices"))) return std::nullopt;
  auto product = paddedProductOf(graph, node);
  return product && pays(graph, *product, meta->device, options) ? product : std::nullopt;
}

Result<void> runPadMm(GraphModule& module, const PassContext& context) {
  CallReplacement replacement(module);
  std::optional<AliasGroups> aliases;
  const std::vector<NodeId> order(module.graph.order().begin(), module.graph.order().end());
  for (const NodeId id : order) {
    const Node& node = module.graph.node(id);
    const auto product = worthPadding(module.graph, node, context.options);
    if (!product) continue;
    if (!aliases) aliases.emplace(module.graph);
    if (aliases->touchesMutation(node)) continue;
    std::vector<NodeId> inputs{product->a, product->b};
    if (product->term.valid()) inputs.push_back(product->term);
    KERF_CHECK(replacement.replace(id, inputs, [&](CallWriter& call, std::span<const Value> values) {
      return writePadded(std::ref(call), values, *product);
    }));
  }
  replacement.finish();
  return {};
}

}  // namespace

Pass padMmPass() {
  return {.name = "pad_mm",
          .stage = PassStage::Joint,
          .description = "Pads factors of large products to sizes that tensor cores take whole.",
          .options = {{"devices", std::string("cuda"), "Device types on which it runs, or all."},
                      {"min_intensity", 250.0, "Least multiplications for each element that padding copies."},
                      {"benchmark", false, "Measures products on the CPU here, and pads what is faster so."}},
          .run = runPadMm};
}

}  // namespace kerf::inline passes
