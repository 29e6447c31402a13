#include "engine/passes/post_grad/post_grad_passes.h"

#include <algorithm>

#include "engine/passes/call_arguments.h"
#include "engine/passes/forwarding.h"

namespace kerf::inline passes {

namespace {

bool isSlice(const Node& node) { return node.isCall("aten.slice.Tensor"_op); }
bool isScatter(const Node& node) { return node.isCall("aten.slice_scatter.default"_op); }

/// Which elements of a tensor a slice takes.
struct Region {
  std::int64_t dim = 0, start = 0, end = 0, step = 1;
  bool operator==(const Region&) const = default;
};

/// Start or end as a place in [0, size]; none where it is no number.
std::optional<std::int64_t> placeOf(const Node& node, std::string_view name, std::int64_t size,
                                    std::int64_t otherwise) {
  const Argument* given = argumentNamed(node, name);
  if (!given || given->isNone()) return otherwise;
  const auto* place = given->as<std::int64_t>();
  if (!place) return std::nullopt;
  return std::clamp<std::int64_t>(*place < 0 ? *place + size : *place, 0, size);
}

/// Of slice and slice_scatter.
std::optional<Region> regionOf(const Graph& graph, const Node& node) {
  const auto self = nodeNamed(node, "self");
  const TensorMeta* meta = self ? tensorOf(graph, *self) : nullptr;
  const auto sizes = meta ? fixedSizes(*meta) : std::nullopt;
  const auto given = integerNamed(node, "dim"), step = integerNamed(node, "step");
  const auto dim = sizes && given ? wrappedDim(*given, sizes->size()) : std::nullopt;
  if (!dim || !step) return std::nullopt;
  const std::int64_t size = (*sizes)[std::size_t(*dim)];
  const auto start = placeOf(node, "start", size, 0), end = placeOf(node, "end", size, size);
  if (!start || !end) return std::nullopt;
  return Region{*dim, *start, *end, *step};
}

/// What `name` of a node is, if that is such a call on the region of the node.
const Node* sameRegion(const Graph& graph, const Node& node, std::string_view name, bool (*isOf)(const Node&)) {
  const auto operand = nodeNamed(node, name);
  if (!operand || !isOf(graph.node(*operand))) return nullptr;
  const auto own = regionOf(graph, node), inner = regionOf(graph, graph.node(*operand));
  return own && own == inner ? &graph.node(*operand) : nullptr;
}

std::optional<NodeId> standIn(const Graph& graph, const Node& node) {
  if (isSlice(node)) {
    const Node* written = sameRegion(graph, node, "self", isScatter);
    return written ? nodeNamed(*written, "src") : std::nullopt;
  }
  if (!isScatter(node)) return std::nullopt;
  const Node* read = sameRegion(graph, node, "src", isSlice);
  const auto self = nodeNamed(node, "self");
  return read && nodeNamed(*read, "self") == self ? self : std::nullopt;
}

/// slice_scatter(slice_scatter(x, a), b) reads x; the inner one goes when nobody else reads it.
bool skipOverwritten(Graph& graph, NodeId id, const AliasGroups& aliases) {
  const Node& node = graph.node(id);
  const Node* inner = isScatter(node) ? sameRegion(graph, node, "self", isScatter) : nullptr;
  const auto below = inner ? nodeNamed(*inner, "self") : std::nullopt;
  if (!below || nodeNamed(node, "src") == inner->id() || aliases.touchesMutation(node) ||
      aliases.touchesMutation(*inner) || !sameTensorMeta(graph.node(*below), *inner))
    return false;
  const Node overwritten = *inner;
  graph.replaceInput(id, overwritten.id(), *below);
  mergeProvenance(graph, overwritten, id);
  return true;
}

Result<void> runSliceScatters(GraphModule& module, const PassContext&) {
  Graph& graph = module.graph;
  if (std::ranges::none_of(graph.order(), [&](NodeId id) { return isScatter(graph.node(id)); })) return {};
  const std::vector<NodeId> order(graph.order().begin(), graph.order().end());
  bool changed = false;
  Forwarding forwarding(graph);
  for (const NodeId id : order) {
    const auto source = standIn(graph, graph.node(id));
    const bool forwarded = source && forwarding.allows(graph.node(id), *source);
    if (forwarded) forwarding.forward(graph, id, *source);
    changed |= forwarded || skipOverwritten(graph, id, forwarding.aliases());
  }
  if (changed) graph.eliminateDeadCode(mustStay);
  return {};
}

}  // namespace

Pass sliceScattersPass() {
  return {.name = "slice_scatters",
          .stage = PassStage::PostGrad,
          .description = "Skips reads of what was just written into a slice, and writes that another one covers.",
          .run = runSliceScatters};
}

}  // namespace kerf::inline passes
