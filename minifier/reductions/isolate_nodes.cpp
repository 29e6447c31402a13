// isolate_nodes: the first and the last call of each kind, rare kinds before common ones, views at the end.
#include "minifier/reductions/isolate_nodes.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "engine/ops/core/op_registry.h"
#include "minifier/core/subgraph.h"

namespace kerf::inline minifier::inline reductions {

namespace {

struct Kind {
  std::vector<NodeId> calls;
  bool isView = false;
};

bool isView(const Node& node) {
  if (node.isCall("operator.getitem"_op)) return true;
  const OpInfo* op = findOp(node);
  return op && has(op->traits, OpTrait::View);
}

/// Calls of the same target and result type behave alike, more often than not.
std::string kindOf(const Node& node) {
  const TensorMeta* meta = node.meta().value.tensor();
  return fmt::format("{}:{}", node.target(), meta ? int(meta->dtype) : -1);
}

std::vector<Kind> kindsByRarity(const Graph& graph) {
  std::vector<Kind> kinds;
  std::map<std::string, std::size_t> known;
  for (NodeId id : callNodes(graph)) {
    const auto [entry, isNew] = known.try_emplace(kindOf(graph.node(id)), kinds.size());
    if (isNew) kinds.push_back({{}, isView(graph.node(id))});
    kinds[entry->second].calls.push_back(id);
  }
  std::ranges::sort(kinds, {}, [](const Kind& kind) {  // ids grow with position, so the order is complete
    return std::tuple(kind.isView, kind.calls.size(), kind.calls.front());
  });
  return kinds;
}

std::vector<Edit> edits(const ReductionInput& input, ResumePoint resume) {
  std::vector<Edit> list;
  if (resume.stage > 0) return list;  // what is left after one success is a single call
  const auto add = [&](NodeId id) { list.push_back({{1, 0}, [&input, id] { return keepOnly(input, {id}); }}); };
  const std::vector<Kind> kinds = kindsByRarity(input.graph());
  for (const Kind& kind : kinds) add(kind.calls.front());
  for (const Kind& kind : kinds) {
    if (kind.calls.size() > 1) add(kind.calls.back());
  }
  return list;
}

}  // namespace

Reduction isolateNodes() {
  return {"isolate_nodes", "Keeps one call alone, on the values it was recorded with.", edits};
}

}  // namespace kerf::inline minifier::inline reductions
