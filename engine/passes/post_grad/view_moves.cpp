#include "engine/passes/post_grad/view_moves.h"

#include <algorithm>

#include "engine/passes/call_arguments.h"
#include "engine/passes/call_replacement.h"
#include "engine/passes/node_facts.h"

namespace kerf::inline passes {

namespace {

/// Sources of the views that a cat along dimension 0 puts together, if rows are as long in all of them.
std::optional<std::vector<NodeId>> viewedSources(const Graph& graph, const Node& cat) {
  if (!cat.isCall("aten.cat.default"_op)) return std::nullopt;
  const auto parts = nodesNamed(cat, "tensors");
  if (integerNamed(cat, "dim") != 0 || !parts || parts->size() < 2) return std::nullopt;
  std::vector<NodeId> sources;
  std::optional<std::vector<Dim>> row;
  for (const NodeId part : *parts) {
    const Node& view = graph.node(part);
    const auto source =
        view.isCall("aten.view.default"_op) && view.users().size() == 1 ? nodeNamed(view, "self") : std::nullopt;
    const TensorMeta* meta = source ? tensorOf(graph, *source) : nullptr;
    const TensorMeta* viewed = view.meta().value.tensor();
    if (!meta || !viewed || meta->sizes.size() < 2 || viewed->sizes.empty() || meta->sizes[0] != viewed->sizes[0] ||
        !isFixedRowMajor(*meta))
      return std::nullopt;
    const std::vector<Dim> own(meta->sizes.begin() + 1, meta->sizes.end());
    if (row && *row != own) return std::nullopt;
    row = own;
    sources.push_back(*source);
  }
  return sources;
}

Result<void> runViewMoves(GraphModule& module, const PassContext& context) {
  if (!context.options.value<bool>("enabled")) return {};
  CallReplacement replacement(module);
  const AliasGroups aliases(module.graph);
  const std::vector<NodeId> order(module.graph.order().begin(), module.graph.order().end());
  for (const NodeId id : order) {
    const Node& node = module.graph.node(id);
    const auto sources = viewedSources(module.graph, node);
    const auto sizes = sources ? fixedSizes(*node.meta().value.tensor()) : std::nullopt;
    if (!sizes || aliases.touchesMutation(node)) continue;
    KERF_CHECK(replacement.replace(
        id, *sources,
        [&](CallWriter& call, std::span<const Value> inputs) {
          const Value whole = call("aten.cat.default"_op, {ValueList(inputs.begin(), inputs.end()), std::int64_t{0}});
          const Value viewed = call("aten.view.default"_op, {whole, ValueList(sizes->begin(), sizes->end())});
          return viewed;
        },
        *nodesNamed(node, "tensors")));
  }
  replacement.finish();
  return {};
}

}  // namespace

Pass viewMovesPass() {
  return {.name = "view_moves",
          .stage = PassStage::PostGrad,
          .description = "Views what was put together once, not each part before.",
          .options = {{"enabled", false, "Whether it runs."}},
          .run = runViewMoves};
}

}  // namespace kerf::inline passes
