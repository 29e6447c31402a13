#include "engine/passes/post_grad/post_grad_passes.h"

#include <algorithm>

#include "engine/passes/call_arguments.h"
#include "engine/passes/call_replacement.h"
#include "engine/passes/forwarding.h"

namespace kerf::inline passes {

namespace {

/// Of cat, slice, split: wrapped.
std::optional<std::int64_t> dimOf(const Node& node, std::size_t rank) {
  const auto dim = integerNamed(node, "dim");
  return dim ? wrappedDim(*dim, rank) : std::nullopt;
}

struct Cat {
  std::vector<NodeId> parts;
  std::int64_t dim = 0;
};

std::optional<Cat> catOf(const Node& node) {
  const TensorMeta* meta = node.meta().value.tensor();
  if (!node.isCall("aten.cat.default"_op) || !meta) return std::nullopt;
  const auto parts = nodesNamed(node, "tensors");
  const auto dim = dimOf(node, meta->sizes.size());
  if (!parts || !dim) return std::nullopt;
  return Cat{*parts, *dim};
}

bool isSplit(const Node& node) {
  return node.isCall("aten.split_with_sizes.default"_op) || node.isCall("aten.split.Tensor"_op);
}

/// What is split into the pieces, one after the other; none: something else.
std::optional<NodeId> wholeOfPieces(const Graph& graph, const Cat& cat) {
  std::optional<NodeId> split;
  for (std::size_t i = 0; i < cat.parts.size(); ++i) {
    const Node& piece = graph.node(cat.parts[i]);
    const NodeId* from = piece.isCall("operator.getitem"_op) ? piece.args()[0].as<NodeId>() : nullptr;
    const auto* index = from && piece.args().size() > 1 ? piece.args()[1].as<std::int64_t>() : nullptr;
    if (!index || *index != std::int64_t(i) || !isSplit(graph.node(*from)) || (split && *split != *from))
      return std::nullopt;
    split = *from;
  }
  if (!split) return std::nullopt;
  const auto source = nodeNamed(graph.node(*split), "self");
  const TensorMeta* meta = source ? tensorOf(graph, *source) : nullptr;
  const auto* pieces = graph.node(*split).meta().value.list();
  const bool isWhole = meta && pieces && pieces->size() == cat.parts.size();
  return isWhole && dimOf(graph.node(*split), meta->sizes.size()) == cat.dim ? source : std::nullopt;
}

/// The same for slices that begin where the one before ended.
std::optional<NodeId> wholeOfSlices(const Graph& graph, const Cat& cat) {
  std::optional<NodeId> source;
  std::int64_t at = 0;
  for (const NodeId part : cat.parts) {
    const Node& slice = graph.node(part);
    if (!slice.isCall("aten.slice.Tensor"_op)) return std::nullopt;
    const auto from = nodeNamed(slice, "self");
    const TensorMeta* meta = slice.meta().value.tensor();
    const auto sizes = meta ? fixedSizes(*meta) : std::nullopt;
    if (!from || !sizes || (source && source != from) || dimOf(slice, sizes->size()) != cat.dim) return std::nullopt;
    if (integerNamed(slice, "step") != 1 || integerNamed(slice, "start").value_or(0) != at) return std::nullopt;
    source = from;
    at += (*sizes)[std::size_t(cat.dim)];
  }
  return source;  // of the cat's size, or it will not be forwarded
}

/// getitem(split(cat([a, b])), 1) → b, where the split cuts at the seams.
std::optional<NodeId> partOfCat(const Graph& graph, const Node& node) {
  const NodeId* split = node.isCall("operator.getitem"_op) ? node.args()[0].as<NodeId>() : nullptr;
  const auto* index = split && node.args().size() > 1 ? node.args()[1].as<std::int64_t>() : nullptr;
  if (!index || !isSplit(graph.node(*split))) return std::nullopt;
  const auto whole = nodeNamed(graph.node(*split), "self");
  const auto cat = whole ? catOf(graph.node(*whole)) : std::nullopt;
  const auto* pieces = graph.node(*split).meta().value.list();
  if (!cat || !pieces || pieces->size() != cat->parts.size() || *index < 0 ||
      std::size_t(*index) >= cat->parts.size() || graph.node(*whole).users().size() != 1)
    return std::nullopt;
  const TensorMeta* meta = tensorOf(graph, *whole);
  if (dimOf(graph.node(*split), meta->sizes.size()) != cat->dim) return std::nullopt;
  for (std::size_t i = 0; i < pieces->size(); ++i) {
    const TensorMeta* piece = (*pieces)[i].tensor();
    const TensorMeta* part = tensorOf(graph, cat->parts[i]);
    if (!piece || !part || piece->sizes != part->sizes) return std::nullopt;
  }
  return cat->parts[std::size_t(*index)];
}

std::optional<NodeId> standIn(const Graph& graph, const Node& node, const Forwarding& forwarding) {
  if (const auto part = partOfCat(graph, node))
    return forwarding.aliases().returned(node.id()) ? std::nullopt : part;  // the whole was memory of its own
  const auto cat = catOf(node);
  if (!cat || cat->parts.size() < 2) return std::nullopt;
  const auto whole = wholeOfPieces(graph, *cat);
  return whole ? whole : wholeOfSlices(graph, *cat);
}

/// cat([c, slice(c, d, 0, n)], d) of c = cat([a, …], d) → cat([a, …, slice(a, d, 0, n)], d).
Result<bool> joinCats(GraphModule& module, CallReplacement& replacement, NodeId id) {
  const Graph& graph = module.graph;
  const auto outer = catOf(graph.node(id));
  if (!outer || outer->parts.size() != 2) return false;
  const auto inner = catOf(graph.node(outer->parts[0]));
  const Node& slice = graph.node(outer->parts[1]);
  const bool isOwn = inner && inner->dim == outer->dim && graph.node(outer->parts[0]).users().size() == 2 &&
                     slice.isCall("aten.slice.Tensor"_op) && nodeNamed(slice, "self") == outer->parts[0];
  if (!isOwn || integerNamed(slice, "step") != 1 || integerNamed(slice, "start").value_or(0) != 0) return false;
  const TensorMeta* first = tensorOf(graph, inner->parts.front());
  const auto end = integerNamed(slice, "end");
  const auto sizes = first ? fixedSizes(*first) : std::nullopt;
  if (!sizes || !end || *end < 0 || dimOf(slice, sizes->size()) != outer->dim ||
      *end > (*sizes)[std::size_t(outer->dim)])
    return false;
  return replacement.replace(
      id, inner->parts,
      [&](CallWriter& call, std::span<const Value> inputs) {
        ValueList parts(inputs.begin(), inputs.end());
        parts.push_back(call("aten.slice.Tensor"_op, {inputs[0], outer->dim, std::int64_t{0}, *end}));
        return call("aten.cat.default"_op, {std::move(parts), outer->dim});
      },
      {outer->parts[0]});
}

Result<void> runSplitwithsizesCatReplace(GraphModule& module, const PassContext&) {
  Graph& graph = module.graph;
  const bool hasCats =
      std::ranges::any_of(graph.order(), [&](NodeId id) { return graph.node(id).isCall("aten.cat.default"_op); });
  if (!hasCats) return {};
  const std::vector<NodeId> order(graph.order().begin(), graph.order().end());
  const StandIn instead = [&](NodeId id, const Forwarding& all) { return standIn(graph, graph.node(id), all); };
  if (forwardAll(graph, instead)) graph.eliminateDeadCode(mustStay);
  CallReplacement replacement(module);
  const AliasGroups aliases(graph);
  for (const NodeId id : order)
    if (graph.contains(id) && !aliases.touchesMutation(graph.node(id))) KERF_CHECK(joinCats(module, replacement, id));
  replacement.finish();
  return {};
}

}  // namespace

Pass splitwithsizesCatReplacePass() {
  return {.name = "splitwithsizes_cat_replace",
          .stage = PassStage::PostGrad,
          .description = "Takes the whole for its pieces put together, and parts for the pieces of what they made.",
          .run = runSplitwithsizesCatReplace};
}

}  // namespace kerf::inline passes
