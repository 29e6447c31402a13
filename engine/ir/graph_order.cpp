// Whole-graph questions: is it well-formed, can it be put in order, what is its content.
#include <algorithm>
#include <queue>

#include "engine/ir/annotation_type.h"
#include "engine/ir/argument_hash.h"
#include "engine/ir/graph.h"

namespace kerf::inline ir {
namespace {

std::unexpected<Error> lintError(const Node& node, std::string message) {
  Error error{ErrorCode::Internal, std::move(message), {}, 0, {}, {}};
  error.atNode(node.name());
  return std::unexpected(std::move(error));
}

std::vector<std::uint32_t> positions(std::span<const NodeId> order, std::size_t count) {
  std::vector<std::uint32_t> out(count, UINT32_MAX);
  for (std::size_t i = 0; i < order.size(); ++i) out[order[i].index] = std::uint32_t(i);
  return out;
}

}  // namespace

Result<void> Graph::lintNode(const Node& node, const std::vector<bool>& defined) const {
  if (!isPythonIdentifier(node.name())) return lintError(node, fmt::format("'{}' is not a legal name", node.name()));
  if (find(node.name()) != node.id()) return lintError(node, fmt::format("the name '{}' is not unique", node.name()));
  for (const NodeId input : node.inputs()) {
    if (!contains(input)) return lintError(node, fmt::format("'{}' uses a node that is not in the graph", node.name()));
    if (!defined[input.index])
      return lintError(node, fmt::format("'{}' uses '{}' before it is defined", node.name(), this->node(input).name()));
  }
  return {};
}

Result<void> Graph::lintUsers() const {
  std::vector<std::vector<NodeId>> expected(m_nodes.size());
  for (const NodeId id : order())
    for (const NodeId input : node(id).inputs()) expected[input.index].push_back(id);
  for (const NodeId id : order()) {
    std::vector<NodeId> actual = node(id).users();
    std::ranges::sort(actual);
    std::ranges::sort(expected[id.index]);
    if (actual != expected[id.index])
      return lintError(node(id), fmt::format("the users of '{}' are wrong", node(id).name()));
  }
  return {};
}

Result<void> Graph::lint() const {
  std::vector<bool> defined(m_nodes.size(), false);
  bool placeholdersOver = false;
  for (const NodeId id : order()) {
    const Node& current = node(id);
    KERF_CHECK(lintNode(current, defined));
    defined[id.index] = true;
    const bool isLast = id == m_order.last();
    if ((current.op() == Opcode::Output) != isLast)
      return lintError(current, isLast ? "the last node is not an output" : "there is an output before the end");
    if (current.op() == Opcode::Placeholder && placeholdersOver)
      return lintError(current, fmt::format("placeholder '{}' comes after other nodes", current.name()));
    placeholdersOver |= current.op() != Opcode::Placeholder;
  }
  if (size() == 0) return fail(ErrorCode::Internal, "the graph has no output node");
  if (m_byName->size() != m_order.size()) return fail(ErrorCode::Internal, "the table of names does not fit the nodes");
  return lintUsers();
}

Result<void> Graph::topologicalSort() {
  const auto position = positions(order(), m_nodes.size());
  std::vector<std::size_t> missing(m_nodes.size(), 0);
  std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> ready;
  for (const NodeId id : order()) {
    missing[id.index] = node(id).inputs().size();
    if (missing[id.index] == 0) ready.push(position[id.index]);
  }
  std::vector<NodeId> sorted;
  sorted.reserve(size());
  while (!ready.empty()) {
    const NodeId next = order()[ready.top()];
    ready.pop();
    sorted.push_back(next);
    for (const NodeId user : node(next).users())
      if (--missing[user.index] == 0) ready.push(position[user.index]);
  }
  if (sorted.size() == m_order.size()) {
    if (std::ranges::equal(sorted, order())) return {};
    m_revision.renew();
    m_order.assign(std::move(sorted));
    return {};
  }
  const auto stuck = std::ranges::find_if(order(), [&](NodeId id) { return missing[id.index] != 0; });
  Error error{
      ErrorCode::BadInput, fmt::format("'{}' depends on itself through a cycle", node(*stuck).name()), {}, 0, {}, {}};
  error.atNode(node(*stuck).name());
  return std::unexpected(std::move(error));
}

Hash128 Graph::contentHash() const {
  HashBuffer buffer(positions(order(), m_nodes.size()));
  buffer.number(m_order.size());
  for (const NodeId id : order()) {
    const Node& current = node(id);
    buffer.number(std::uint64_t(current.op()));
    buffer.text(current.name());
    buffer.text(current.target());
    buffer.arguments(current.args());
    buffer.number(current.kwargs().size());
    for (const auto& [key, value] : current.kwargs()) {
      buffer.text(key);
      buffer.argument(value);
    }
    buffer.valueMeta(current.meta().value);
    if (isUnreadType(current.meta().typeText)) buffer.text(current.meta().typeText);
  }
  return buffer.hash();
}

}  // namespace kerf::inline ir
