#include "engine/passes/pre_grad/pre_grad_passes.h"

#include <algorithm>

#include "engine/passes/call_arguments.h"
#include "engine/passes/forwarding.h"
#include "engine/passes/pre_grad/pieces.h"
#include "engine/passes/pre_grad/torch_replacement.h"

namespace kerf::inline passes {

namespace {

/// A split or chunk of a tensor: how long its pieces are, and who takes which.
struct Split {
  NodeId source;
  std::int64_t dim = 0;
  std::vector<std::int64_t> sizes;
  std::vector<std::pair<NodeId, std::int64_t>> takers;
};

/// None where a size is no number, or a user takes something else than a piece.
std::optional<Split> splitOf(const Graph& graph, NodeId id) {
  const auto call = torchCall(graph.node(id));
  const auto source = call && (call->is("torch.split") || call->is("torch.chunk")) ? call->node(0) : std::nullopt;
  const TensorMeta* meta = source ? tensorOf(graph, *source) : nullptr;
  const std::int64_t dim = meta ? dimOf(*call, 2, meta->sizes.size()).value_or(-1) : -1;
  const auto* pieces = graph.node(id).meta().value.list();
  if (dim < 0 || !pieces || pieces->empty()) return std::nullopt;
  Split split{.source = *source, .dim = dim};
  for (const ValueMeta& piece : *pieces) {
    const auto sizes = piece.tensor() ? fixedSizes(*piece.tensor()) : std::nullopt;
    if (!sizes) return std::nullopt;
    split.sizes.push_back((*sizes)[std::size_t(dim)]);
  }
  for (const NodeId user : graph.node(id).users()) {
    const auto piece = pieceOf(graph, user, {"torch.split", "torch.chunk"});
    if (!piece || piece->call != id) return std::nullopt;
    split.takers.emplace_back(user, piece->index);
  }
  return split;
}

/// x for getitem(split(x, size of x), 0).
std::optional<NodeId> onlyPiece(const Graph& graph, NodeId id) {
  const auto piece = pieceOf(graph, id, {"torch.split", "torch.chunk"});
  const auto split = piece ? splitOf(graph, piece->call) : std::nullopt;
  return split && split->sizes.size() == 1 ? std::optional(split->source) : std::nullopt;
}

/// Which piece of `outer` the split `id` alone reads; none: another one does too, or none is.
std::optional<std::int64_t> pieceSplit(const Graph& graph, const Split& outer, NodeId read) {
  const auto taker = std::ranges::find(outer.takers, read, &std::pair<NodeId, std::int64_t>::first);
  if (taker == outer.takers.end() || graph.node(read).users().size() != 1) return std::nullopt;
  const auto takes = [&](const auto& other) { return other.second == taker->second; };
  return std::ranges::count_if(outer.takers, takes) == 1 ? std::optional(taker->second) : std::nullopt;
}

/// One split in the place of two, whose pieces stand where those of the inner one and the others of the outer were.
class Merge {
 public:
  Merge(const Graph& graph, Split outer, const Split& inner, std::int64_t at) : m_outer(std::move(outer)) {
    const auto count = std::int64_t(inner.sizes.size());
    for (const auto& [taker, index] : m_outer.takers)
      if (index != at) m_places.emplace_back(taker, index < at ? index : index + count - 1);
    for (const auto& [taker, index] : inner.takers) m_places.emplace_back(taker, at + index);
    auto& sizes = m_outer.sizes;
    sizes.erase(sizes.begin() + at);
    sizes.insert(sizes.begin() + at, inner.sizes.begin(), inner.sizes.end());
    std::vector<std::pair<NodeId, std::int64_t>> ordered;
    for (const NodeId id : graph.order()) {
      const auto place = std::ranges::find(m_places, id, &std::pair<NodeId, std::int64_t>::first);
      if (place != m_places.end()) ordered.push_back(*place);
    }
    m_places = std::move(ordered);
  }

  std::vector<NodeId> nodes() const {
    std::vector<NodeId> all;
    for (const auto& [taker, index] : m_places) all.push_back(taker);
    return all;
  }

  std::vector<NodeId> written(TorchWriter& call) const {
    const ArgumentList sizes(m_outer.sizes.begin(), m_outer.sizes.end());
    const NodeId split = call("torch.split", {m_outer.source, Argument::list(sizes), m_outer.dim});
    std::vector<NodeId> pieces;
    for (const auto& [taker, index] : m_places) pieces.push_back(call("operator.getitem", {split, index}));
    return pieces;
  }

 private:
  Split m_outer;
  std::vector<std::pair<NodeId, std::int64_t>> m_places;  ///< who takes which piece of the new split
};

Result<bool> merge(GraphModule& module, TorchReplacement& replacement, NodeId id) {
  const Graph& graph = module.graph;
  const auto inner = splitOf(graph, id);
  if (!inner || inner->takers.empty()) return false;
  const auto piece = pieceOf(graph, inner->source, {"torch.split", "torch.chunk"});
  const auto outer = piece ? splitOf(graph, piece->call) : std::nullopt;
  const auto at = outer && outer->dim == inner->dim ? pieceSplit(graph, *outer, inner->source) : std::nullopt;
  if (!at) return false;
  const Merge both(graph, *outer, *inner, *at);
  return replacement.replace(both.nodes(), [&](TorchWriter& call) { return both.written(call); },
                             {piece->call, inner->source, id});
}

bool isSplit(const Node& node) {
  const auto call = torchCall(node);
  return call && (call->is("torch.split") || call->is("torch.chunk"));
}

Result<void> runMergeSplits(GraphModule& module, const PassContext&) {
  Graph& graph = module.graph;
  if (std::ranges::none_of(graph.order(), [&](NodeId id) { return isSplit(graph.node(id)); })) return {};
  if (forwardAll(graph, [&](NodeId id, const Forwarding&) { return onlyPiece(graph, id); }))
    dropUnreadTorchCalls(graph);
  TorchReplacement replacement(module);
  const AliasGroups aliases(graph);
  const std::vector<NodeId> order(graph.order().begin(), graph.order().end());
  for (const NodeId id : order)
    if (graph.contains(id) && !aliases.touchesMutation(graph.node(id))) KERF_CHECK(merge(module, replacement, id));
  replacement.finish();
  return {};
}

}  // namespace

Pass mergeSplitsPass() {
  return {.name = "merge_splits_pass",
          .stage = PassStage::PreGrad,
          .description = "Splits at once what was split twice, and takes the whole for its only piece.",
          .run = runMergeSplits};
}

}  // namespace kerf::inline passes
