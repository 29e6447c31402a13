// What passes need to know of a node: implementation over the op table's traits and alias annotations.
#include "engine/passes/node_facts.h"

#include <algorithm>
#include <ranges>

#include "engine/ops/core/memory_writes.h"
#include "engine/ops/core/purity.h"
#include "engine/passes/python_memory.h"

namespace kerf::inline passes {

const OpInfo* opOf(const Node& node) { return findOp(node); }

namespace {

/// Its results are copies, whatever the wrapped op writes into.
bool isFunctionalWrapper(const Node& node) {
  return node.op() == Opcode::CallFunction && node.target().starts_with("torch.ops.higher_order.auto_functionalized");
}

}  // namespace

bool mayGiveView(const Node& node) {
  if (isFunctionalWrapper(node)) return false;
  const OpInfo* op = opOf(node);
  if (op != nullptr) return node.isCall("operator.getitem"_op) || mayShareMemory(*op);
  const auto python = pythonMemory(node);
  return !python || python->mayShare;
}

bool isPureCall(const Node& node) { return node.op() == Opcode::CallFunction && purityOf(node) == Purity::Pure; }

bool mustStay(const Node& node) { return purityOf(node) != Purity::Pure; }

bool isReturned(const Graph& graph, NodeId node) {
  const NodeId output = graph.outputNode();
  return output.valid() && std::ranges::find(graph.node(node).users(), output) != graph.node(node).users().end();
}

AliasGroups::AliasGroups(const Graph& graph) {
  std::uint32_t count = 0;
  for (NodeId id : graph.order()) count = std::max(count, id.index + 1);
  m_parent.resize(count);
  for (std::size_t i = 0; i < count; ++i) m_parent[i] = i;
  m_lastWrite.resize(count, 0);
  m_places.resize(count, 0);
  std::uint32_t place = 0;
  for (NodeId id : graph.order()) {
    m_places[id.index] = ++place;
    joinCall(graph.node(id));
  }
  std::vector<std::uint32_t> byRoot(count, 0);
  for (std::size_t i = 0; i < count; ++i) {
    std::uint32_t& last = byRoot[root({std::uint32_t(i)})];
    last = std::max(last, m_lastWrite[i]);
  }
  m_lastWrite = std::move(byRoot);
  m_returned.resize(count, false);
  if (const NodeId output = graph.outputNode(); output.valid())
    for (const NodeId id : graph.node(output).inputs()) m_returned[root(id)] = true;
}

void AliasGroups::joinCall(const Node& node) {
  if (node.op() == Opcode::Placeholder || node.op() == Opcode::GetAttr || node.op() == Opcode::Output) return;
  const OpInfo* op = opOf(node);
  const auto python = op == nullptr ? pythonMemory(node) : std::nullopt;
  if (python) {
    if (python->mayShare)
      for (const NodeId input : node.inputs()) join(node.id(), input);
    for (const NodeId id : python->written) markWritten(id, node);
    return;
  }
  if (!mayGiveView(node)) return;
  const bool copies = node.isCall("aten.copy_.default"_op) && node.args().front().as<NodeId>();
  if (copies) join(node.id(), *node.args().front().as<NodeId>());  // what it copies from stays apart
  if (!copies)
    for (NodeId input : node.inputs()) join(node.id(), input);
  if (!op) {  // unknown: it may write into anything it sees
    markWritten(node.id(), node);
    return;
  }
  for (std::size_t i = 0; i < op->schema.arguments.size(); ++i) {
    const Argument* argument = writesTo(*op, i) ? boundArgument(node, *op, i) : nullptr;
    if (argument) forEachNode(*argument, [&](NodeId id) { markWritten(id, node); });
  }
}

void AliasGroups::markWritten(NodeId memory, const Node& call) {
  m_lastWrite[memory.index] = m_places[call.id().index];
}

std::size_t AliasGroups::root(NodeId node) const {
  std::size_t at = node.index;
  if (at >= m_parent.size()) return at;
  while (m_parent[at] != at) at = m_parent[at] = m_parent[m_parent[at]];
  return at;
}

void AliasGroups::join(NodeId a, NodeId b) { m_parent[root(a)] = root(b); }

void AliasGroups::unite(NodeId a, NodeId b) {
  grow(std::max(a.index, b.index));
  const std::size_t from = root(a), to = root(b);
  m_lastWrite[to] = std::max(m_lastWrite[to], m_lastWrite[from]);
  m_returned[to] = m_returned[to] || m_returned[from];
  m_parent[from] = to;
}

void AliasGroups::grow(std::size_t index) {
  while (m_parent.size() <= index) m_parent.push_back(m_parent.size());
  m_lastWrite.resize(m_parent.size(), 0);
  m_returned.resize(m_parent.size(), false);
}

bool AliasGroups::returned(NodeId node) const {
  const std::size_t group = root(node);
  return group < m_returned.size() && m_returned[group];
}

bool AliasGroups::mutated(NodeId node) const {
  const std::size_t group = root(node);
  return group < m_lastWrite.size() && m_lastWrite[group] != 0;
}

bool AliasGroups::writtenFrom(NodeId node, const Node& call) const {
  const std::size_t group = root(node), at = call.id().index;
  if (at >= m_places.size()) return mutated(node);
  return group < m_lastWrite.size() && m_lastWrite[group] >= m_places[at];
}

bool AliasGroups::touchesMutation(const Node& node) const {
  return mutated(node.id()) || std::ranges::any_of(node.inputs(), [&](NodeId id) { return mutated(id); });
}

std::vector<std::string> provenance(const Node& node) {
  if (!node.meta().fromNodes.empty()) return node.meta().fromNodes;
  return {node.name()};
}

void mergeProvenance(Graph& graph, const Node& from, NodeId to) {
  NodeMeta meta = graph.node(to).meta();
  meta.fromNodes = provenance(graph.node(to));
  for (const std::string& name : provenance(from)) {
    if (std::ranges::find(meta.fromNodes, name) == meta.fromNodes.end()) meta.fromNodes.push_back(name);
  }
  graph.setMeta(to, std::move(meta));
}

}  // namespace kerf::inline passes
