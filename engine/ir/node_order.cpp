#include "engine/ir/node_order.h"

#include <mutex>
#include <utility>

namespace kerf::inline ir {

NodeOrder::NodeOrder(const NodeOrder& other) { *this = other; }

NodeOrder& NodeOrder::operator=(const NodeOrder& other) {
  if (this == &other) return *this;
  const std::span<const NodeId> listed = other.all();  // nobody makes the other's array while it is copied
  m_listed.assign(listed.begin(), listed.end());
  m_stale.store(false, std::memory_order_relaxed);
  m_links = other.m_links;
  m_first = other.m_first;
  m_last = other.m_last;
  m_size = other.m_size;
  return *this;
}

NodeOrder::NodeOrder(NodeOrder&& other) noexcept { *this = std::move(other); }

NodeOrder& NodeOrder::operator=(NodeOrder&& other) noexcept {
  if (this == &other) return *this;
  m_links = std::exchange(other.m_links, {});
  m_first = std::exchange(other.m_first, {});
  m_last = std::exchange(other.m_last, {});
  m_size = std::exchange(other.m_size, 0);
  m_listed = std::exchange(other.m_listed, {});
  m_stale.store(other.m_stale.exchange(false, std::memory_order_relaxed), std::memory_order_relaxed);
  return *this;
}

/// Puts the node between its neighbours; an invalid id is an end.
void NodeOrder::link(NodeId previous, NodeId node, NodeId next) {
  if (node.index >= m_links.size()) m_links.resize(node.index + std::size_t{1});
  m_links[node.index] = {previous, next};
  (previous.valid() ? m_links[previous.index].next : m_first) = node;
  (next.valid() ? m_links[next.index].previous : m_last) = node;
  ++m_size;
}

void NodeOrder::append(NodeId node) {
  link(m_last, node, {});
  if (!m_stale.load(std::memory_order_relaxed)) m_listed.push_back(node);
}

void NodeOrder::insertBefore(NodeId node, NodeId anchor) {
  link(previous(anchor), node, anchor);
  m_stale.store(true, std::memory_order_relaxed);
}

void NodeOrder::erase(NodeId node) {
  const auto [previous, next] = m_links[node.index];
  (previous.valid() ? m_links[previous.index].next : m_first) = next;
  (next.valid() ? m_links[next.index].previous : m_last) = previous;
  --m_size;
  if (next.valid() || m_stale.load(std::memory_order_relaxed))
    m_stale.store(true, std::memory_order_relaxed);
  else
    m_listed.pop_back();
}

void NodeOrder::assign(std::vector<NodeId> order) {
  m_first = m_last = {};
  m_size = 0;
  for (const NodeId node : order) link(m_last, node, {});
  m_listed = std::move(order);
  m_stale.store(false, std::memory_order_relaxed);
}

void NodeOrder::list() const {
  static std::mutex mutex;  // one for all graphs: this is rare
  const std::scoped_lock lock(mutex);
  if (!m_stale.load(std::memory_order_relaxed)) return;
  m_listed.clear();
  m_listed.reserve(m_size);
  for (NodeId node = m_first; node.valid(); node = next(node)) m_listed.push_back(node);
  m_stale.store(false, std::memory_order_release);
}

}  // namespace kerf::inline ir
