#include "engine/passes/pre_grad/pre_grad_passes.h"

#include <algorithm>

#include "engine/passes/call_arguments.h"
#include "engine/passes/forwarding.h"
#include "engine/passes/pre_grad/pieces.h"
#include "engine/passes/pre_grad/torch_replacement.h"

namespace kerf::inline passes {

namespace {

/// What an unbind takes apart, and along which dimension.
struct Unbind {
  NodeId source;
  std::int64_t dim = 0;
};

std::optional<Unbind> unbindOfAll(const Graph& graph, const std::vector<NodeId>& pieces) {
  const auto node = callOfAll(graph, pieces, {"torch.unbind"});
  if (!node) return std::nullopt;
  const TorchCall call = *torchCall(graph.node(*node));
  const auto source = call.node(0);
  const TensorMeta* meta = source ? tensorOf(graph, *source) : nullptr;
  const auto dim = meta ? dimOf(call, 1, meta->sizes.size()) : std::nullopt;
  return dim ? std::optional(Unbind{*source, *dim}) : std::nullopt;
}

/// stack(unbind(x)) → x
std::optional<NodeId> wholeOf(const Graph& graph, NodeId id) {
  const auto stack = torchCall(graph.node(id), "torch.stack");
  const TensorMeta* meta = tensorOf(graph, id);
  const auto parts = stack && meta ? stack->nodes(0) : std::nullopt;
  const auto unbind = parts ? unbindOfAll(graph, *parts) : std::nullopt;
  return unbind && dimOf(*stack, 1, meta->sizes.size()) == unbind->dim ? std::optional(unbind->source) : std::nullopt;
}

/// unbind(stack([a, b]))[1] → b
std::optional<NodeId> partOf(const Graph& graph, NodeId id) {
  const auto piece = pieceOf(graph, id, {"torch.unbind"});
  if (!piece) return std::nullopt;
  const TorchCall unbind = *torchCall(graph.node(piece->call));
  const auto whole = unbind.node(0);
  const auto stack = whole ? torchCall(graph.node(*whole), "torch.stack") : std::nullopt;
  const TensorMeta* meta = whole ? tensorOf(graph, *whole) : nullptr;
  const auto parts = stack && meta ? stack->nodes(0) : std::nullopt;
  if (!parts || graph.node(*whole).users().size() != 1) return std::nullopt;
  const auto dim = dimOf(*stack, 1, meta->sizes.size());
  return dim && dim == dimOf(unbind, 1, meta->sizes.size()) ? std::optional((*parts)[std::size_t(piece->index)])
                                                            : std::nullopt;
}

std::optional<NodeId> standIn(const Graph& graph, NodeId id, const Forwarding& forwarding) {
  if (const auto part = partOf(graph, id))
    return forwarding.aliases().returned(id) ? std::nullopt : part;  // the whole was memory of its own
  return wholeOf(graph, id);
}

/// cat(unbind(x, d), d) is x with its dimensions d and d + 1 as one; a view of x, where the cat was not.
Result<void> flatten(const Graph& graph, TorchReplacement& replacement, const AliasGroups& aliases, NodeId id) {
  const auto cat = torchCall(graph.node(id), "torch.cat");
  const TensorMeta* meta = tensorOf(graph, id);
  const auto parts = cat && meta ? cat->nodes(0) : std::nullopt;
  const auto unbind = parts && parts->size() > 1 ? unbindOfAll(graph, *parts) : std::nullopt;
  if (!unbind || dimOf(*cat, 1, meta->sizes.size()) != unbind->dim || aliases.touchesMutation(graph.node(id)) ||
      aliases.mutated(unbind->source) || aliases.returned(id))
    return {};
  KERF_CHECK(replacement.replace({id}, [&](TorchWriter& call) {
    return std::vector{call("torch.flatten", {unbind->source, unbind->dim, unbind->dim + 1})};
  }));
  return {};
}

Result<void> runUnbindStack(GraphModule& module, const PassContext&) {
  Graph& graph = module.graph;
  const std::vector<NodeId> order(graph.order().begin(), graph.order().end());
  if (std::ranges::none_of(order, [&](NodeId id) { return torchCall(graph.node(id), "torch.unbind").has_value(); }))
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

Pass unbindStackPass() {
  return {.name = "unbind_stack_pass",
          .stage = PassStage::PreGrad,
          .description = "Takes the whole for its slices stacked, parts for slices of what they were stacked to.",
          .run = runUnbindStack};
}

}  // namespace kerf::inline passes
