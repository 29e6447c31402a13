#include "engine/passes/post_grad/post_grad_passes.h"

#include <algorithm>

#include "engine/passes/call_arguments.h"
#include "engine/passes/call_replacement.h"
#include "engine/passes/node_facts.h"

namespace kerf::inline passes {

namespace {

bool reducesSome(const Node& node) {
  const auto dims = integersNamed(node, "dim");
  return dims && !dims->empty();
}

bool reducesAll(const Node& node, OpId partial, OpId complete) {
  const TensorMeta* meta = node.meta().value.tensor();
  if (!meta || !meta->sizes.empty()) return false;
  return node.isCall(complete) || (node.isCall(partial) && !reducesSome(node));
}

std::int64_t elements(const TensorMeta* meta) {
  const auto sizes = meta ? fixedSizes(*meta) : std::nullopt;
  return sizes ? checkedNumel(*sizes).value_or(0) : 0;
}

/// The reduction along dimensions of the same tensor that stands above `full`.
std::optional<NodeId> partialAbove(const Graph& graph, NodeId source, NodeId full, OpId partial) {
  for (const NodeId id : graph.order()) {
    if (id == full) break;
    const Node& node = graph.node(id);
    if (node.isCall(partial) && reducesSome(node) && nodeNamed(node, "self") == source) return id;
  }
  return std::nullopt;
}

Result<void> runReusePartial(GraphModule& module, const PassContext& context) {
  const auto least = context.options.value<std::int64_t>("min_elements");
  const std::pair<OpId, OpId> extrema[] = {{"aten.amax.default"_op, "aten.max.default"_op},
                                           {"aten.amin.default"_op, "aten.min.default"_op}};
  CallReplacement replacement(module);
  const std::vector<NodeId> order(module.graph.order().begin(), module.graph.order().end());
  for (const NodeId id : order) {
    for (const auto& [partial, complete] : extrema) {
      const Node& node = module.graph.node(id);
      const auto source = reducesAll(node, partial, complete) ? nodeNamed(node, "self") : std::nullopt;
      if (!source || elements(tensorOf(module.graph, *source)) < least) continue;
      const auto reduced = partialAbove(module.graph, *source, id, partial);
      if (!reduced || AliasGroups(module.graph).touchesMutation(node)) continue;
      const OpId op = node.opId();
      KERF_TRY(const bool done, replacement.replace(id, {*reduced}, [&](CallWriter& call, std::span<const Value> in) {
        return call(op, {in[0]});
      }));
      if (done) break;
    }
  }
  replacement.finish();
  return {};
}

}  // namespace

Pass reusePartialPass() {
  return {.name = "reuse_partial",
          .stage = PassStage::PostGrad,
          .description = "Takes the extremum of everything from the extrema along a dimension.",
          .options = {{"min_elements", std::int64_t{4096}, "Smaller tensors are reduced anew."}},
          .run = runReusePartial};
}

}  // namespace kerf::inline passes
