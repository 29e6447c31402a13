// Acyclic parts: labelled nodes as parts whose links among each other form no cycle.
// a1 → b1, b2 → a2: the parts {a1, a2} and {b1, b2} would each need the other first, so one of them is cut.
#pragma once

#include <vector>

#include "app/workbench/protocol/graphs.h"

namespace kerf::ui::inline layout {

struct NodeParts {
  std::vector<int> partOf;  ///< by place in the list of nodes; -1: a node of its own
  std::vector<int> labels;  ///< label of each part
};

/// `nodes` in execution order, a label for each (-1: none). Parts of fewer than `least` nodes are dissolved. A part is
/// all nodes of a label, or where these form a cycle with others, a run of them in execution order.
NodeParts acyclicParts(const workbench::GraphDoc& graph, const std::vector<int>& nodes, const std::vector<int>& label,
                       int least);

}  // namespace kerf::ui::inline layout
