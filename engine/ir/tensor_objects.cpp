#include "engine/ir/tensor_objects.h"

#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "engine/ir/python_operators.h"

namespace kerf::inline ir {
namespace {

/// Methods that change how a tensor looks at its memory, and not what is there.
constexpr std::string_view reshapingNames[] = {"t_",        "squeeze_",    "unsqueeze_", "transpose_", "swapaxes_",
                                               "swapdims_", "as_strided_", "resize_",    "resize_as_", "set_"};

/// Methods and functions that give numbers, or sizes.
constexpr std::string_view numberNames[] = {
    "size",      "stride", "numel",    "nelement",  "dim",        "ndimension",         "storage_offset",
    "item",      "tolist", "sym_size", "sym_numel", "sym_stride", "sym_storage_offset", "sym_int",
    "sym_float", "len",    "__len__"};

constexpr std::string_view numberAttributes[] = {"shape", "ndim", "nbytes", "itemsize"};

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

/// iadd, but not imatmul: torch.Tensor has no __imatmul__, so that `a @= b` makes a new tensor.
bool isInplaceOperator(std::string_view name) {
  if (name == "imatmul" || name == "setitem") return false;
  const PythonOperator* row = operatorOfTarget(fmt::format("operator.{}", name), 2);
  return row != nullptr && row->inplace;
}

/// x.add_(y), x.__iadd__(y), operator.iadd(x, y): whatever else it does, what it gives is its first operand.
bool givesFirstBack(const Node& node) {
  const std::string_view name = nameOfTorch(node);
  if (node.target().starts_with("operator.")) return isInplaceOperator(name);
  if (name.starts_with("__") && name.ends_with("__") && name.size() > 4)
    return node.op() == Opcode::CallMethod && isInplaceOperator(name.substr(2, name.size() - 4));
  return name.ends_with('_');
}

/// Whether `out` is the keyword of results: that of torch's functions, and of overloads that write. Elsewhere it may be any
/// argument, such as the attention's own result in its backward.
bool writesOut(const Node& node) {
  if (node.op() != Opcode::CallFunction || !node.target().starts_with("torch.")) return false;
  return !node.target().starts_with("torch.ops.") || node.target().ends_with("out");
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
    if (key == "out" && writesOut(node)) return nodesIn(value);
  if (!isOneOf(name, reshapingNames) || node.args().empty()) return {};
  const NodeId* self = node.args()[0].as<NodeId>();
  return self != nullptr ? std::vector{*self} : std::vector<NodeId>{};
}

bool givesReshapedList(const Node& node) {
  for (const auto& [key, value] : node.kwargs())
    if (key == "out" && isPlainCall(node) && writesOut(node)) return value.asList() != nullptr;
  return false;
}

std::optional<NodeId> operandGivenBack(const Node& node) {
  if (!isPlainCall(node)) return std::nullopt;
  const std::vector<NodeId> reshaped = reshapedOperands(node);
  if (!reshaped.empty()) return givesReshapedList(node) ? std::nullopt : std::optional(reshaped[0]);
  if (!givesFirstBack(node) || node.args().empty()) return std::nullopt;
  const NodeId* self = node.args()[0].as<NodeId>();
  return self != nullptr ? std::optional(*self) : std::nullopt;
}

std::optional<ItemOfCall> itemOfCall(const Node& node) {
  if (node.op() != Opcode::CallFunction || node.target() != "operator.getitem" || node.args().size() != 2)
    return std::nullopt;
  const NodeId* call = node.args()[0].as<NodeId>();
  const std::int64_t* item = node.args()[1].as<std::int64_t>();
  if (call == nullptr || item == nullptr || *item < 0) return std::nullopt;
  return ItemOfCall{*call, std::size_t(*item)};
}

TensorObjects::TensorObjects(const Graph& graph) {
  for (const NodeId id : graph.order()) {
    std::vector<NodeId> operands = reshapedOperands(graph.node(id));
    if (!operands.empty()) m_calls.emplace(id, Reshaping{std::move(operands), givesReshapedList(graph.node(id))});
  }
  if (any())
    for (const NodeId id : graph.order()) add(graph, id);
}

std::span<const NodeId> TensorObjects::reshapedBy(NodeId call) const {
  const auto found = m_calls.find(call);
  return found == m_calls.end() ? std::span<const NodeId>() : std::span<const NodeId>(found->second.operands);
}

std::span<const NodeId> TensorObjects::listedBy(NodeId call) const {
  const auto found = m_calls.find(call);
  const bool isList = found != m_calls.end() && found->second.isList;
  return isList ? std::span<const NodeId>(found->second.operands) : std::span<const NodeId>();
}

std::optional<NodeId> TensorObjects::listedItem(const Node& node) const {
  const auto item = itemOfCall(node);
  if (!item) return std::nullopt;
  const std::span<const NodeId> listed = listedBy(item->call);
  return item->item < listed.size() ? std::optional(listed[item->item]) : std::nullopt;
}

/// As far as the annotation tells, and the call.
bool TensorObjects::isNumber(const Node& node) const {
  const ValueMeta& meta = node.meta().value;
  if (meta.sym() != nullptr) return true;
  if (meta.tensor() != nullptr || !isPlainCall(node)) return false;
  const std::string_view name = nameOfTorch(node);
  if (isOneOf(name, numberNames)) return true;
  if (node.target() == "builtins.getattr" && node.args().size() > 1) {
    const std::string* attribute = node.args()[1].as<std::string>();
    return attribute != nullptr && isOneOf(*attribute, numberAttributes);
  }
  const std::string_view target = node.target();
  if (!target.starts_with("operator.") && !target.starts_with("math.") && !target.starts_with("builtins."))
    return false;
  const std::vector<NodeId> inputs = node.inputs();
  return !inputs.empty() && std::ranges::all_of(inputs, [&](NodeId input) { return m_numbers.contains(input); });
}

void TensorObjects::add(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  if (isNumber(node)) m_numbers.insert(id);
  const std::optional<NodeId> back = itemOfCall(node) ? listedItem(node) : operandGivenBack(node);
  if (!back || m_numbers.contains(*back)) return;
  const NodeId root = first(*back);
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
    for (std::size_t i = 0; i < order.size(); ++i) m_places.emplace(order[i], placeOf(order[i], i));
    for (const NodeId id : order) {
      useCurrent(id);
      const std::span<const NodeId> operands = m_objects.reshapedBy(id);  // as they were written
      const bool isList = !m_objects.listedBy(id).empty();
      for (std::size_t k = 0; k < operands.size(); ++k)
        m_current.insert_or_assign(m_objects.first(operands[k]), Current{id, k, isList, id});
    }
  }

 private:
  struct Current {
    NodeId call;
    std::size_t item = 0;
    bool isItem = false;
    NodeId node;  ///< the call, until its item is used
  };

  /// An item of out= is what the call wrote, wherever it is taken.
  std::size_t placeOf(NodeId id, std::size_t place) const {
    const auto item = itemOfCall(m_graph.node(id));
    return item && m_objects.first(id) != id ? m_places.at(item->call) : place;
  }

  void useCurrent(NodeId user) {
    std::unordered_map<NodeId, Argument> now;
    for (const NodeId input : m_graph.node(user).inputs()) {
      const auto found = m_current.find(m_objects.first(input));
      if (found == m_current.end() || m_places.at(input) >= m_places.at(found->second.call)) continue;
      now.emplace(input, nodeOf(found->second));
    }
    if (!now.empty()) replaceInputs(user, now);
  }

  /// All at once: each alone would take time linear in the call's operands.
  void replaceInputs(NodeId user, const std::unordered_map<NodeId, Argument>& now) {
    const auto map = [&](NodeId input) -> Argument {
      const auto found = now.find(input);
      return found == now.end() ? Argument(input) : found->second;
    };
    ArgumentList args = m_graph.node(user).args();
    for (Argument& argument : args) argument = mapNodes(argument, map);
    KeywordArguments kwargs = m_graph.node(user).kwargs();
    for (auto& [key, value] : kwargs) value = mapNodes(value, map);
    m_graph.setArgs(user, std::move(args));
    m_graph.setKwargs(user, std::move(kwargs));
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

namespace {

/// The nested graph as it is used, or null where it may stay.
std::shared_ptr<const GraphModule> nestedInUse(const GraphModule& nested) {
  GraphModule own = nested;
  useReshapedTensors(own);
  return own.revision() == nested.revision() ? nullptr : std::make_shared<const GraphModule>(std::move(own));
}

}  // namespace

void useReshapedTensors(GraphModule& module) {
  useReshapedTensors(module.graph);
  for (std::size_t i = 0; i < module.submodules.size(); ++i) {
    const auto& nested = module.submodules[i].second.graph;
    if (!nested) continue;
    if (auto used = nestedInUse(*nested)) module.submodules.edit()[i].second.graph = std::move(used);
  }
}

}  // namespace kerf::inline ir
