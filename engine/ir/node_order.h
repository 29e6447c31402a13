// NodeOrder: the order of a graph's nodes. An insertion, erasure or move takes the same time in a graph of any size.
#pragma once

#include <atomic>
#include <span>
#include <vector>

#include "engine/ir/node.h"

namespace kerf::inline ir {

/// A linked list over NodeId::index, and the same nodes as an array, made anew when it is asked for after a change. Any
/// number of threads may read one order, and copy it, while nobody changes it.
class NodeOrder {
 public:
  NodeOrder() = default;
  NodeOrder(const NodeOrder& other);
  NodeOrder& operator=(const NodeOrder& other);
  NodeOrder(NodeOrder&& other) noexcept;
  NodeOrder& operator=(NodeOrder&& other) noexcept;

  std::size_t size() const { return m_size; }
  /// All nodes. Invalidated by any change of the order.
  std::span<const NodeId> all() const {
    if (m_stale.load(std::memory_order_acquire)) list();
    return m_listed;
  }
  /// Invalid ids where there is none. The node must be in the order.
  NodeId last() const { return m_last; }
  NodeId next(NodeId node) const { return m_links[node.index].next; }
  NodeId previous(NodeId node) const { return m_links[node.index].previous; }

  void append(NodeId node);
  /// The anchor must be in the order.
  void insertBefore(NodeId node, NodeId anchor);
  void erase(NodeId node);
  /// The same nodes in another order.
  void assign(std::vector<NodeId> order);

 private:
  struct Link {
    NodeId previous, next;
  };
  void link(NodeId previous, NodeId node, NodeId next);
  void list() const;

  std::vector<Link> m_links;  ///< by NodeId::index
  NodeId m_first, m_last;
  std::size_t m_size = 0;
  mutable std::vector<NodeId> m_listed;  ///< the array, unless `m_stale`
  mutable std::atomic<bool> m_stale = false;
};

}  // namespace kerf::inline ir
