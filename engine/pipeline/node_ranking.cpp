// Where a difference starts: bad nodes that no bad node feeds, and the order in which people look at them.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "engine/ops/core/memory_writes.h"
#include "engine/pipeline/node_divergence.h"
#include "engine/pipeline/node_mutations.h"

namespace kerf::inline pipeline {
namespace {

/// Whose memory each node looks at: through views, getitem and in-place results, the node that made it.
class MemoryOwners {
 public:
  NodeId of(NodeId node) const {
    const auto found = m_owners.find(node);
    return found == m_owners.end() ? node : found->second;
  }
  /// Nodes in order; the owners whose memory `node` writes into.
  std::vector<NodeId> add(const Node& node) {
    std::vector<NodeId> written;
    forEachMemoryUse(node, [&](const Argument& argument, bool writes, bool) {
      forEachNode(argument, [&](NodeId id) {
        m_owners.try_emplace(node.id(), of(id));
        if (writes) written.push_back(of(id));
      });
    });
    return written;
  }

 private:
  std::unordered_map<NodeId, NodeId> m_owners;
};

class FirstBad {
 public:
  explicit FirstBad(std::vector<NodeDivergence>& nodes) {
    for (NodeDivergence& row : nodes) m_rows.emplace(row.node, &row);
  }

  /// Whether a row of `module`, whose names start with `prefix`, is bad. Badness flows through nodes that were not
  /// compared themselves (tuples), and through memory that a bad node wrote into.
  bool mark(const GraphModule& module, const std::string& prefix) {
    std::unordered_set<NodeId> bad, badMemory;
    MemoryOwners owners;
    bool any = false;
    for (const NodeId id : module.graph.order()) {
      const Node& node = module.graph.node(id);
      const bool inside = markNested(module, node, prefix);
      const bool fed = std::ranges::any_of(
          node.inputs(), [&](NodeId input) { return bad.contains(input) || badMemory.contains(owners.of(input)); });
      const std::vector<NodeId> written = owners.add(node);
      const auto found = m_rows.find(prefix + node.name());
      const bool compared = found != m_rows.end();
      if (compared) nameCall(module.graph, node, *found->second);
      if (compared) found->second->firstBad = !found->second->same && !fed && !inside;
      if (inside || (compared ? !found->second->same : fed)) {
        bad.insert(id);
        badMemory.insert(written.begin(), written.end());
      }
      any |= inside || (compared && !found->second->same);
    }
    return any;
  }

 private:
  /// The item of a tuple is named for the call that made it: "torch.ops.aten.var_mean.correction[1]".
  static void nameCall(const Graph& graph, const Node& node, NodeDivergence& row) {
    if (!node.isCall("operator.getitem"_op) || node.args().size() != 2) return;
    const NodeId* made = node.args()[0].as<NodeId>();
    const auto* item = node.args()[1].as<std::int64_t>();
    if (made && item && graph.node(*made).op() == Opcode::CallFunction)
      row.target = fmt::format("{}[{}]", graph.node(*made).target(), *item);
  }
  /// The nested graphs that `node` calls.
  bool markNested(const GraphModule& module, const Node& node, const std::string& prefix) {
    if (node.op() == Opcode::CallModule) return markGraph(module, node.target(), prefix);
    bool any = false;
    if (node.op() == Opcode::GetAttr || node.op() == Opcode::Output) return any;
    for (const NodeId input : node.inputs()) {
      const Node& attribute = module.graph.node(input);
      if (attribute.op() == Opcode::GetAttr) any |= markGraph(module, attribute.target(), prefix);
    }
    return any;
  }
  bool markGraph(const GraphModule& module, const std::string& path, const std::string& prefix) {
    const Submodule* nested = module.submodule(path);
    return nested != nullptr && nested->graph && mark(*nested->graph, prefix + path + "/");
  }

  std::unordered_map<std::string, NodeDivergence*> m_rows;
};

}  // namespace

void markFirstBad(const GraphModule& module, std::vector<NodeDivergence>& nodes) {
  FirstBad(nodes).mark(module, "");
  markFirstBadMutation(nodes);
}

std::vector<std::size_t> rankDivergence(const std::vector<NodeDivergence>& nodes) {
  std::vector<std::size_t> order(nodes.size());
  std::iota(order.begin(), order.end(), 0);
  const auto severity = [&](std::size_t i) { return nodes[i].firstBad ? 2 : nodes[i].same ? 0 : 1; };
  const auto ratio = [&](std::size_t i) {
    return std::isnan(nodes[i].ratioToLimit) ? std::numeric_limits<double>::infinity() : nodes[i].ratioToLimit;
  };
  std::ranges::sort(order, {}, [&](std::size_t i) { return std::tuple(-severity(i), -ratio(i), i); });
  return order;
}

}  // namespace kerf::inline pipeline
