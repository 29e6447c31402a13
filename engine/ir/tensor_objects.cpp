#include "engine/ir/tensor_objects.h"

#include <algorithm>

namespace kerf::inline ir {
namespace {

/// Methods that change how a tensor looks at its memory, and not what is there.
constexpr std::string_view reshapingNames[] = {"t_",        "squeeze_",    "unsqueeze_", "transpose_", "swapaxes_",
                                               "swapdims_", "as_strided_", "resize_",    "resize_as_", "set_"};

/// Operators that give their left tensor back. `a @= b` does not: torch.Tensor has no __imatmul__.
constexpr std::string_view inplaceOperators[] = {"iadd", "isub", "imul", "itruediv", "ifloordiv",
                                                 "imod", "ipow", "iand", "ior",      "ixor"};

bool isPlainCall(const Node& node) { return node.op() == Opcode::CallFunction || node.op() == Opcode::CallMethod; }

/// "t_" of the method, of torch.t_ and of torch.ops.aten.t_.default; empty for operators of other libraries.
std::string_view nameOfTorch(const Node& node) {
  constexpr std::string_view aten = "torch.ops.aten.";
  std::string_view target = node.target();
  if (target.starts_with(aten)) return target.substr(aten.size(), target.find('.', aten.size()) - aten.size());
  if (target.starts_with("torch.ops.")) return {};
  return target.substr(target.rfind('.') + 1);
}

template <std::size_t N>
bool isOneOf(std::string_view name, const std::string_view (&names)[N]) {
  return std::ranges::find(names, name) != std::end(names);
}

/// x.add_(y), operator.iadd(x, y): whatever else it does, what it gives is its first operand.
bool givesFirstBack(const Node& node) {
  const std::string_view name = nameOfTorch(node);
  if (node.target().starts_with("operator.")) return isOneOf(name, inplaceOperators);
  return name.ends_with('_') && !name.ends_with("__");
}

std::vector<NodeId> nodesIn(const Argument& argument) {
  if (const NodeId* one = argument.as<NodeId>()) return {*one};
  std::vector<NodeId> nodes;
  if (const auto* list = argument.asList())
    for (const Argument& item : list->items) {
      const NodeId* node = item.as<NodeId>();
      if (node == nullptr) return {};
      nodes.push_back(*node);
    }
  return nodes;
}

}  // namespace

std::vector<NodeId> reshapedOperands(const Node& node) {
  if (!isPlainCall(node)) return {};
  const std::string_view name = nameOfTorch(node);
  if (name.empty()) return {};
  for (const auto& [key, value] : node.kwargs())
    if (key == "out") return nodesIn(value);
  if (!isOneOf(name, reshapingNames) || node.args().empty()) return {};
  const NodeId* self = node.args()[0].as<NodeId>();
  return self != nullptr ? std::vector{*self} : std::vector<NodeId>{};
}

TensorObjects::TensorObjects(const Graph& graph) {
  m_any = std::ranges::any_of(graph.order(), [&](NodeId id) { return !reshapedOperands(graph.node(id)).empty(); });
  if (m_any)
    for (const NodeId id : graph.order()) add(graph, id);
}

void TensorObjects::add(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  if (!isPlainCall(node)) return;
  std::vector<NodeId> back = reshapedOperands(node);
  if (back.empty() && givesFirstBack(node) && !node.args().empty())
    if (const NodeId* self = node.args()[0].as<NodeId>()) back.push_back(*self);
  if (back.size() != 1) return;
  const NodeId root = first(back[0]);
  m_first.emplace(id, root);
  m_later[root].push_back(id);
}

NodeId TensorObjects::first(NodeId node) const {
  const auto found = m_first.find(node);
  return found == m_first.end() ? node : found->second;
}

std::span<const NodeId> TensorObjects::later(NodeId first) const {
  const auto found = m_later.find(first);
  return found == m_later.end() ? std::span<const NodeId>() : std::span<const NodeId>(found->second);
}

namespace {

/// Walks the graph in its order and keeps, for each tensor, which node is the tensor now.
class ReshapedUses {
 public:
  explicit ReshapedUses(Graph& graph) : m_graph(graph), m_objects(graph) {}

  void rewrite() {
    if (!m_objects.any()) return;
    const std::vector<NodeId> order(m_graph.order().begin(), m_graph.order().end());
    for (std::size_t i = 0; i < order.size(); ++i) m_places.emplace(order[i], i);
    for (const NodeId id : order) {
      const std::vector<NodeId> operands = reshapedOperands(m_graph.node(id));  // as they were written
      useCurrent(id);
      for (std::size_t k = 0; k < operands.size(); ++k)
        m_current.insert_or_assign(m_objects.first(operands[k]), Current{id, k, operands.size() > 1, id});
    }
  }

 private:
  struct Current {
    NodeId call;
    std::size_t item = 0;
    bool isItem = false;
    NodeId node;  ///< the call, until its item is used
  };

  void useCurrent(NodeId user) {
    const std::vector<NodeId> inputs = m_graph.node(user).inputs();
    for (const NodeId input : inputs) {
      const auto found = m_current.find(m_objects.first(input));
      if (found == m_current.end() || m_places.at(input) >= m_places.at(found->second.call)) continue;
      m_graph.replaceInput(user, input, Argument(nodeOf(found->second)));
    }
  }

  NodeId nodeOf(Current& current) {
    if (current.isItem && current.node == current.call) {
      m_graph.insertAfter(current.call);
      current.node =
          m_graph.callFunction("operator.getitem", {Argument(current.call), Argument(std::int64_t(current.item))});
      m_graph.insertAtEnd();
    }
    return current.node;
  }

  Graph& m_graph;
  TensorObjects m_objects;
  std::unordered_map<NodeId, std::size_t> m_places;  ///< of the nodes that were there before
  std::unordered_map<NodeId, Current> m_current;     ///< by what gave the tensor first
};

}  // namespace

void useReshapedTensors(Graph& graph) { ReshapedUses(graph).rewrite(); }

}  // namespace kerf::inline ir
