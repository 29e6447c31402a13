// Correspondence: a difference read as a map: what nodes of one graph became in the other, and what they came from.
#pragma once

#include <unordered_map>
#include <vector>

#include "engine/diff/graph_diff.h"

namespace kerf::inline diff {

class Correspondence {
 public:
  /// A counterpart and how it is known: "same", "renamed", "changed", "given", "rewritten", "merged", "duplicated".
  struct Link {
    NodeId node;
    std::string_view how;
  };

  explicit Correspondence(const GraphDiff& diff);
  /// In the order of the second graph; empty: nothing came of it.
  const std::vector<Link>& after(NodeId before) const { return find(m_after, before); }
  /// In the order of the first graph; empty: it is new.
  const std::vector<Link>& before(NodeId after) const { return find(m_before, after); }

 private:
  using Links = std::unordered_map<NodeId, std::vector<Link>>;
  static const std::vector<Link>& find(const Links& links, NodeId node);
  void add(NodeId before, NodeId after, std::string_view how);
  Links m_after, m_before;
};

/// "rewritten", "merged", "duplicated".
std::string_view rewriteKindName(FoundRewrite::Kind kind);

}  // namespace kerf::inline diff
