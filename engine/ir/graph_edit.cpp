// Changes to existing nodes of a Graph: arguments, names, uses, dead code, copies of other graphs.
#include <algorithm>

#include "engine/ir/graph.h"

namespace kerf::inline ir {
namespace {

KeywordArguments mapKwargs(const KeywordArguments& kwargs, const std::function<Argument(NodeId)>& map) {
  KeywordArguments out;
  out.reserve(kwargs.size());
  for (const auto& [key, value] : kwargs) out.emplace_back(key, mapNodes(value, map));
  return out;
}

ArgumentList mapArgs(const ArgumentList& args, const std::function<Argument(NodeId)>& map) {
  ArgumentList out;
  out.reserve(args.size());
  for (const Argument& argument : args) out.push_back(mapNodes(argument, map));
  return out;
}

/// Looks from both ends: passes change a graph from its beginning on, and take it apart from its end.
void removeUser(std::vector<NodeId>& users, NodeId user) {
  for (std::size_t front = 0, back = users.size(); front < back; ++front) {
    --back;
    if (users[back] == user) return void(users.erase(users.begin() + std::ptrdiff_t(back)));
    if (users[front] == user) return void(users.erase(users.begin() + std::ptrdiff_t(front)));
  }
}

}  // namespace

void Graph::removeUses(const Node& user) {
  for (const NodeId input : user.inputs()) removeUser(mutableNode(input).m_users, user.id());
}

void Graph::addUses(const Node& user) {
  const NodeId id = user.id();
  for (const NodeId input : user.inputs())
    if (contains(input)) mutableNode(input).m_users.push_back(id);
}

void Graph::setArgs(NodeId id, ArgumentList args) {
  Node& changed = mutableNode(id);
  removeUses(changed);
  changed.m_args = std::move(args);
  addUses(changed);
}

void Graph::setKwargs(NodeId id, KeywordArguments kwargs) {
  Node& changed = mutableNode(id);
  removeUses(changed);
  changed.m_kwargs = std::move(kwargs);
  addUses(changed);
}

void Graph::setTarget(NodeId id, std::string target) {
  Node& changed = mutableNode(id);
  if (changed.m_op == Opcode::CallFunction) changed.m_opId = opIdOf(target);
  changed.m_target = std::move(target);
}

void Graph::setMeta(NodeId id, NodeMeta meta) {
  mutableNode(id).m_meta = std::make_shared<const NodeMeta>(std::move(meta));
}

void Graph::setValueMeta(NodeId id, ValueMeta value) {
  NodeMeta meta = node(id).meta();
  meta.value = std::move(value);
  meta.annotation.clear();
  setMeta(id, std::move(meta));
}

std::string Graph::rename(NodeId id, std::string_view name) {
  if (node(id).name() == name) return std::string(name);
  Node& changed = mutableNode(id);
  std::string fresh = m_names.create(name);
  m_names.release(changed.m_name);
  NameTable& table = nameTable();
  table.erase(changed.m_name);
  table.emplace(fresh, id);
  changed.m_name = fresh;
  return fresh;
}

void Graph::replaceInput(NodeId user, NodeId oldInput, Argument newInput) {
  const auto map = [&](NodeId input) -> Argument { return input == oldInput ? newInput : Argument(input); };
  Node& changed = mutableNode(user);
  removeUses(changed);
  changed.m_args = mapArgs(changed.m_args, map);
  changed.m_kwargs = mapKwargs(changed.m_kwargs, map);
  addUses(changed);
}

std::vector<NodeId> Graph::replaceAllUsesWith(NodeId id, NodeId replacement,
                                              const std::function<bool(const Node&)>& filter) {
  std::vector<NodeId> changed;
  // Without a filter, which may look at them, the uses go at once: of many users each would be looked for.
  const std::vector<NodeId> users = filter ? node(id).users() : std::exchange(mutableNode(id).m_users, {});
  for (const NodeId user : users) {
    if (filter && !filter(node(user))) continue;
    replaceInput(user, id, replacement);
    changed.push_back(user);
  }
  return changed;
}

std::size_t Graph::eliminateDeadCode(const std::function<bool(const Node&)>& mustStay) {
  std::vector<bool> dead(m_nodes.size(), false);
  std::size_t count = 0;
  const std::vector<NodeId> order(this->order().begin(), this->order().end());
  for (auto at = order.rbegin(); at != order.rend(); ++at) {
    const Node& candidate = node(*at);
    if (candidate.op() == Opcode::Placeholder || candidate.op() == Opcode::Output) continue;
    if (!candidate.users().empty() || mustStay(candidate)) continue;
    removeUses(candidate);
    dead[at->index] = true;
    ++count;
  }
  if (count == 0) return 0;
  m_revision.renew();
  while (m_insertBefore.valid() && dead[m_insertBefore.index]) insertAfter(m_insertBefore);
  for (const NodeId id : order) {
    if (!dead[id.index]) continue;
    forgetName(node(id));
    m_order.erase(id);
    m_nodes[id.index].reset();
  }
  return count;
}

Argument Graph::copyFrom(const Graph& other, std::unordered_map<NodeId, NodeId>& map) {
  const auto mapped = [&](NodeId id) -> Argument { return map.at(id); };
  for (const NodeId id : other.order()) {
    const Node& source = other.node(id);
    if (map.contains(id)) continue;
    if (source.op() == Opcode::Output) return mapNodes(source.args().front(), mapped);
    const NodeId copy = createNode(source.op(), source.target(), mapArgs(source.args(), mapped),
                                   mapKwargs(source.kwargs(), mapped), source.name());
    mutableNode(copy).m_meta = source.m_meta;
    map[id] = copy;
  }
  return {};
}

}  // namespace kerf::inline ir
