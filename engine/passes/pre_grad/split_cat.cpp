#include "engine/passes/pre_grad/pre_grad_passes.h"

#include <algorithm>

#include "engine/passes/call_arguments.h"
#include "engine/passes/forwarding.h"
#include "engine/passes/pre_grad/pieces.h"
#include "engine/passes/pre_grad/torch_replacement.h"

namespace kerf::inline passes {

namespace {

struct Cat {
  std::vector<NodeId> parts;
  std::int64_t dim = 0;
};

std::optional<Cat> catOf(const Graph& graph, NodeId id) {
  const auto call = torchCall(graph.node(id), "torch.cat");
  const TensorMeta* meta = tensorOf(graph, id);
  const auto parts = call && meta ? call->nodes(0) : std::nullopt;
  const auto dim = parts ? dimOf(*call, 1, meta->sizes.size()) : std::nullopt;
  return dim ? std::optional(Cat{*parts, *dim}) : std::nullopt;
}

/// cat(split(x)) → x
std::optional<NodeId> wholeOf(const Graph& graph, const Cat& cat) {
  const auto split = callOfAll(graph, cat.parts, {"torch.split", "torch.chunk"});
  if (!split) return std::nullopt;
  const TorchCall call = *torchCall(graph.node(*split));
  const auto source = call.node(0);
  const TensorMeta* meta = source ? tensorOf(graph, *source) : nullptr;
  return meta && dimOf(call, 2, meta->sizes.size()) == cat.dim ? source : std::nullopt;
}

/// split(cat([a, b]))[1] → b, where the split cuts at the seams.
std::optional<NodeId> partOf(const Graph& graph, NodeId id) {
  const auto piece = pieceOf(graph, id, {"torch.split", "torch.chunk"});
  if (!piece) return std::nullopt;
  const TorchCall split = *torchCall(graph.node(piece->call));
  const auto whole = split.node(0);
  const auto cat = whole ? catOf(graph, *whole) : std::nullopt;
  const auto& pieces = *graph.node(piece->call).meta().value.list();
  if (!cat || cat->parts.size() != pieces.size() || graph.node(*whole).users().size() != 1 ||
      dimOf(split, 2, tensorOf(graph, *whole)->sizes.size()) != cat->dim)
    return std::nullopt;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const TensorMeta* part = tensorOf(graph, cat->parts[i]);
    if (!part || !pieces[i].tensor() || pieces[i].tensor()->sizes != part->sizes) return std::nullopt;
  }
  return cat->parts[std::size_t(piece->index)];
}

std::optional<NodeId> standIn(const Graph& graph, NodeId id, const Forwarding& forwarding) {
  if (const auto part = partOf(graph, id))
    return forwarding.aliases().returned(id) ? std::nullopt : part;  // the whole was memory of its own
  const auto cat = catOf(graph, id);
  return cat && cat->parts.size() > 1 ? wholeOf(graph, *cat) : std::nullopt;
}

/// cat([a, cat([b, c])]) → cat([a, b, c]), where nobody else reads the inner one.
Result<void> flatten(const Graph& graph, TorchReplacement& replacement, const AliasGroups& aliases, NodeId id) {
  const auto outer = catOf(graph, id);
  if (!outer || aliases.touchesMutation(graph.node(id))) return {};
  ArgumentList parts;
  std::vector<NodeId> merged;
  for (const NodeId part : outer->parts) {
    const auto inner = catOf(graph, part);
    const bool joins = inner && inner->dim == outer->dim && graph.node(part).users().size() == 1 &&
                       !aliases.touchesMutation(graph.node(part));
    if (joins) merged.push_back(part);
    if (joins)
      parts.insert(parts.end(), inner->parts.begin(), inner->parts.end());
    else
      parts.emplace_back(part);
  }
  if (merged.empty()) return {};
  KERF_CHECK(replacement.replace(
      {id}, [&](TorchWriter& call) { return std::vector{call("torch.cat", {Argument::list(parts), outer->dim})}; },
      merged));
  return {};
}

Result<void> runSplitCat(GraphModule& module, const PassContext&) {
  Graph& graph = module.graph;
  const std::vector<NodeId> order(graph.order().begin(), graph.order().end());
  if (std::ranges::none_of(order, [&](NodeId id) { return torchCall(graph.node(id), "torch.cat").has_value(); }))
    return {};
  if (forwardAll(graph, [&](NodeId id, const Forwarding& forwarding) { return standIn(graph, id, forwarding); }))
    dropUnreadTorchCalls(graph);
  TorchReplacement replacement(module);
  const AliasGroups aliases(graph);
  for (const NodeId id : order)
    if (graph.contains(id)) KERF_CHECK(flatten(graph, replacement, aliases, id));
  replacement.finish();
  return {};
}

}  // namespace

Pass splitCatPass() {
  return {
      .name = "split_cat_pass",
      .stage = PassStage::PreGrad,
      .description = "Takes the whole for its pieces put together, parts for pieces, and one cat for a cat of cats.",
      .run = runSplitCat};
}

}  // namespace kerf::inline passes
