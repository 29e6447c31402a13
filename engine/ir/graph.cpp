#include "engine/ir/graph.h"

#include <algorithm>

namespace kerf::inline ir {

Graph::Graph() : m_byName(std::make_shared<NameTable>()) {}

const Node& Graph::node(NodeId id) const { return *m_nodes[id.index]; }

bool Graph::contains(NodeId id) const { return id.index < m_nodes.size() && m_nodes[id.index] != nullptr; }

std::optional<NodeId> Graph::find(std::string_view name) const {
  const auto found = m_byName->find(std::string(name));
  if (found == m_byName->end()) return std::nullopt;
  return found->second;
}

std::vector<NodeId> Graph::placeholders() const {
  std::vector<NodeId> out;
  for (const NodeId id : order())
    if (node(id).op() == Opcode::Placeholder) out.push_back(id);
  return out;
}

NodeId Graph::outputNode() const {
  for (NodeId id = m_order.last(); id.valid(); id = m_order.previous(id))
    if (node(id).op() == Opcode::Output) return id;
  return {};
}

std::vector<NodeId> Graph::nodesBefore(NodeId id, std::size_t count) const {
  std::vector<NodeId> out;
  for (id = m_order.previous(id); id.valid() && out.size() < count; id = m_order.previous(id)) out.push_back(id);
  std::ranges::reverse(out);
  return out;
}

NodeId Graph::placeholder(std::string_view name, std::optional<Argument> defaultValue) {
  ArgumentList args;
  if (defaultValue) args.push_back(std::move(*defaultValue));
  return createNode(Opcode::Placeholder, name, std::move(args), {}, {});
}

NodeId Graph::callFunction(std::string_view target, ArgumentList args, KeywordArguments kwargs,
                           std::string_view nameHint) {
  return createNode(Opcode::CallFunction, target, std::move(args), std::move(kwargs), nameHint);
}

NodeId Graph::callMethod(std::string_view method, ArgumentList args, KeywordArguments kwargs,
                         std::string_view nameHint) {
  return createNode(Opcode::CallMethod, method, std::move(args), std::move(kwargs), nameHint);
}

NodeId Graph::callModule(std::string_view path, ArgumentList args, KeywordArguments kwargs, std::string_view nameHint) {
  return createNode(Opcode::CallModule, path, std::move(args), std::move(kwargs), nameHint);
}

NodeId Graph::getAttr(std::string_view path, std::string_view nameHint) {
  return createNode(Opcode::GetAttr, path, {}, {}, nameHint);
}

NodeId Graph::output(Argument value) { return createNode(Opcode::Output, "output", {std::move(value)}, {}, {}); }

NodeId Graph::createNode(Opcode op, std::string_view target, ArgumentList args, KeywordArguments kwargs,
                         std::string_view nameHint) {
  std::string name = m_names.create(nameHint.empty() ? nameFromTarget(op, target) : std::string(nameHint));
  return addNode(op, target, std::move(args), std::move(kwargs), std::move(name));
}

NodeId Graph::createNamed(Opcode op, std::string_view target, ArgumentList args, KeywordArguments kwargs,
                          std::string_view name) {
  std::string own = m_names.claim(name) ? std::string(name) : m_names.createLike(name);
  return addNode(op, target, std::move(args), std::move(kwargs), std::move(own));
}

NodeId Graph::addNode(Opcode op, std::string_view target, ArgumentList args, KeywordArguments kwargs,
                      std::string name) {
  const NodeId id{std::uint32_t(m_nodes.size())};
  auto node = std::make_shared<Node>();
  node->m_id = id;
  node->m_op = op;
  node->m_name = std::move(name);
  node->m_target = target;
  if (op == Opcode::CallFunction) node->m_opId = opIdOf(target);
  node->m_args = std::move(args);
  node->m_kwargs = std::move(kwargs);
  m_revision.renew();
  nameTable().emplace(node->m_name, id);
  m_nodes.push_back(node);
  contains(m_insertBefore) ? m_order.insertBefore(id, m_insertBefore) : m_order.append(id);
  addUses(*node);
  return id;
}

void Graph::insertBefore(NodeId node) { m_insertBefore = node; }

void Graph::insertAfter(NodeId node) { m_insertBefore = m_order.next(node); }

void Graph::insertAtEnd() { m_insertBefore = {}; }

Result<void> Graph::eraseNode(NodeId id) {
  if (!contains(id)) return fail(ErrorCode::Internal, "cannot erase a node that is not in the graph");
  const Node& victim = node(id);
  if (!victim.users().empty()) {
    std::string users;
    for (const NodeId user : victim.users()) users += (users.empty() ? "" : ", ") + node(user).name();
    auto error = fail(ErrorCode::Internal, "cannot erase '{}': it is still used by {}", victim.name(), users);
    error.error().atNode(victim.name());
    return error;
  }
  if (m_insertBefore == id) m_insertBefore = m_order.next(id);
  m_revision.renew();
  removeUses(victim);
  forgetName(victim);
  m_order.erase(id);
  m_nodes[id.index].reset();
  return {};
}

void Graph::forgetName(const Node& node) {
  nameTable().erase(node.name());
  m_names.release(node.name());
}

void Graph::moveBefore(NodeId id, NodeId anchor) {
  if (id == anchor) return;
  m_revision.renew();
  m_order.erase(id);
  m_order.insertBefore(id, anchor);
}

Node& Graph::mutableNode(NodeId id) {
  m_revision.renew();
  return ownCopy(m_nodes[id.index]);
}

Graph::NameTable& Graph::nameTable() { return ownCopy(m_byName); }

InsertionScope::InsertionScope(Graph& graph, Where where, NodeId anchor) : m_graph(graph) {
  where == Where::Before ? graph.insertBefore(anchor) : graph.insertAfter(anchor);
}

InsertionScope::~InsertionScope() { m_graph.insertAtEnd(); }

}  // namespace kerf::inline ir
