#include "engine/accuracy/lazy_graph.h"

#include <algorithm>
#include <array>

#include "engine/ir/graph_copy.h"
#include "engine/ops/core/memory_writes.h"
#include "engine/ops/core/purity.h"

namespace kerf::inline accuracy {
namespace {

constexpr std::int64_t largeInput = 8 << 20;  ///< bytes as recorded
constexpr std::size_t nearby = 8;             ///< nodes between two uses that are served by one conversion

/// Calls whose first argument's elements are copied, whatever their type.
constexpr std::array<std::string_view, 4> rowCopies = {"torch.ops.aten.embedding.default",
                                                       "torch.ops.aten.index_select.default",
                                                       "torch.ops.aten.gather.default", "torch.ops.aten.index.Tensor"};

bool copiesRowsOf(const Node& user, NodeId id) {
  if (user.op() != Opcode::CallFunction || std::ranges::find(rowCopies, user.target()) == rowCopies.end()) return false;
  const NodeId* first = user.args().empty() ? nullptr : user.args()[0].as<NodeId>();
  return first != nullptr && *first == id && std::ranges::count(user.inputs(), id) == 1;
}

bool isGiven(const Node& node) { return node.op() == Opcode::Placeholder || node.op() == Opcode::GetAttr; }

/// Whether a call looks at the memory of an argument.
bool isView(const Node& node) {
  const OpInfo* op = node.op() == Opcode::CallFunction ? findOp(node) : nullptr;
  if (op == nullptr) return false;
  for (std::size_t i = 0; i < op->schema.arguments.size(); ++i)
    if (sharesMemory(*op, i)) return true;
  return false;
}

}  // namespace

LazyGraph::LazyGraph(GraphModule module, ValueList inputs)
    : m_module(std::move(module)), m_given(std::move(inputs)), m_inputs(m_given), m_written(m_module.graph) {
  const std::vector<NodeId> placeholders = m_module.graph.placeholders();
  m_fits = placeholders.size() == m_given.size();
  for (std::size_t i = 0; i < placeholders.size(); ++i) m_positions.emplace(placeholders[i].index, i);
}

void LazyGraph::dropOutputs(const std::set<std::size_t>& positions) {
  Graph& graph = m_module.graph;
  const NodeId output = graph.outputNode();
  if (positions.empty() || !output.valid() || graph.node(output).args().empty()) return;
  const ListArgument* list = graph.node(output).args()[0].asList();
  if (list == nullptr) return;
  ArgumentList items = list->items;
  for (const std::size_t i : positions)
    if (i < items.size() && items[i].as<NodeId>() != nullptr) items[i] = Argument();
  graph.setArgs(output, {Argument::tuple(std::move(items))});
  graph.eliminateDeadCode([](const Node& node) { return purityOf(node) != Purity::Pure; });
}

void LazyGraph::takeOutputs() {
  Graph& graph = m_module.graph;
  const NodeId output = graph.outputNode();
  if (!output.valid() || graph.node(output).args().empty()) return;
  const ListArgument* list = graph.node(output).args()[0].asList();
  if (list == nullptr) return;
  ArgumentList items = list->items;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const NodeId* id = items[i].as<NodeId>();
    if (id == nullptr || m_written.contains(*id)) continue;
    m_taken[id->index].push_back(i);
    items[i] = Argument();
  }
  graph.setArgs(output, {Argument::tuple(std::move(items))});
}

std::map<std::uint32_t, std::size_t> LazyGraph::positions() const {
  std::map<std::uint32_t, std::size_t> found;
  for (const NodeId id : m_module.graph.order()) found.emplace(id.index, found.size());
  return found;
}

void LazyGraph::moveReturnedUp() {
  Graph& graph = m_module.graph;
  const std::vector<NodeId> order(graph.order().begin(), graph.order().end());
  std::set<std::uint32_t> returned;
  for (auto id = order.rbegin(); id != order.rend(); ++id) {
    const Node& node = graph.node(*id);
    const auto isReturned = [&](NodeId user) { return returned.contains(user.index); };
    const auto isFixed = [&](NodeId input) { return m_written.contains(input); };
    const auto isComputed = [&](NodeId input) { return !isGiven(graph.node(input)); };
    if (isGiven(node) || purityOf(node) != Purity::Pure || m_written.contains(*id)) continue;
    const bool isLast = node.users().empty() || (isView(node) && std::ranges::all_of(node.users(), isReturned));
    if (isLast && std::ranges::none_of(node.inputs(), isFixed) && std::ranges::any_of(node.inputs(), isComputed))
      returned.insert(id->index);
  }
  std::vector<std::size_t> staying(order.size() + 1, order.size());  // by position: from there on, the first that stays
  for (std::size_t at = order.size(); at-- > 0;)
    staying[at] = returned.contains(order[at].index) ? staying[at + 1] : at;
  std::map<std::uint32_t, std::size_t> ready = positions();  // for what moves, where the last of its inputs is
  for (const NodeId id : order) {
    if (!returned.contains(id.index)) continue;
    std::size_t last = 0;
    for (const NodeId input : graph.node(id).inputs()) last = std::max(last, ready.at(input.index));
    ready[id.index] = last;
    const std::size_t next = staying[last + 1];
    if (next < order.size()) graph.moveBefore(id, order[next]);
  }
}

/// What the run gets for a placeholder or an attribute; undefined where that is no tensor.
Tensor LazyGraph::givenAt(NodeId id) const {
  const Node& node = m_module.graph.node(id);
  if (node.op() == Opcode::GetAttr) {
    const TensorAttribute* attribute = m_module.attribute(node.target());
    return attribute != nullptr ? attribute->tensor : Tensor();
  }
  const Value& value = m_given[m_positions.at(id.index)];
  return value.isTensor() ? value.tensor() : Tensor();
}

NodeId LazyGraph::copyBefore(NodeId id, NodeId anchor) {
  Graph& graph = m_module.graph;
  const InsertionScope scope(graph, InsertionScope::Where::Before, anchor);
  const NodeId copy = copyNode(graph, graph.node(id), [](NodeId input) { return Argument(input); });
  if (const auto found = m_positions.find(id.index); found != m_positions.end())
    m_positions.emplace(copy.index, found->second);
  return copy;
}

void LazyGraph::split(NodeId id) {
  Graph& graph = m_module.graph;
  const auto at = positions();
  std::vector<NodeId> users = graph.node(id).users();
  std::ranges::sort(users, {}, [&](NodeId user) { return at.at(user.index); });
  NodeId copy;
  std::size_t end = 0;  // of what the copy serves
  for (const NodeId user : users) {
    if (copiesRowsOf(graph.node(user), id)) {
      const NodeId narrow = copyBefore(id, user);
      m_narrow.insert(narrow.index);
      m_rowCopies.insert(user.index);
      graph.replaceInput(user, id, Argument(narrow));
      continue;
    }
    if (!copy.valid() || at.at(user.index) > end) copy = copyBefore(id, user);
    end = at.at(user.index) + nearby;
    graph.replaceInput(user, id, Argument(copy));
  }
  if (const auto found = m_taken.find(id.index); found != m_taken.end()) {
    const std::vector<std::size_t> places = found->second;
    m_taken.erase(found);
    m_taken[copyBefore(id, graph.outputNode()).index] = places;  // the other outputs are compared and freed by then
  }
}

void LazyGraph::splitLargeInputs() {
  if (!fits()) return;
  const std::vector<NodeId> order(m_module.graph.order().begin(), m_module.graph.order().end());
  for (const NodeId id : order) {
    if (!isGiven(m_module.graph.node(id)) || m_written.contains(id)) continue;
    const Tensor tensor = givenAt(id);
    const bool isConverted = tensor.defined() && isFloating(tensor.dtype()) && tensor.dtype() != DType::Float64;
    if (isConverted && tensor.byteSize() >= largeInput) split(id);
  }
}

void LazyGraph::moveToFirstUses() {
  if (!fits()) return;
  Graph& graph = m_module.graph;
  const std::vector<NodeId> order(graph.order().begin(), graph.order().end());
  const auto at = positions();
  for (const NodeId id : order) {
    if (!isGiven(graph.node(id))) continue;
    std::size_t first = order.size();
    for (const NodeId user : graph.node(id).users()) first = std::min(first, at.at(user.index));
    if (first < order.size()) graph.moveBefore(id, order[first]);
  }
  m_inputs.clear();
  for (const NodeId id : graph.placeholders()) m_inputs.push_back(m_given[m_positions.at(id.index)]);
}

}  // namespace kerf::inline accuracy
