// Cut rows: what lies on the cut between the forward and the backward part of a joint graph, one row for each value
// that is saved and each call that is made again.
#pragma once

#include <vector>

#include "ui/session/documents.h"

namespace kerf::ui::inline panels {

struct CutRow {
  int forward = -1;     ///< node of the graph that computes it; -1: the shown graph has it not
  QString name, value;  ///< "relu_3", "f32[16, 32]"
  qint64 bytes = 0;     ///< that are saved; 0 of what is computed again
  double share = 0;     ///< of all saved bytes
  QString reason;       ///< why it is saved
  bool recomputed = false;
  std::vector<int> users;  ///< nodes of the backward part that take it, or what is computed again from it
};

/// In the order of the graph.
std::vector<CutRow> cutRows(const GraphDoc& graph, const workbench::PartitionDoc& cut);

/// Nodes that compute the gradient of a forward node, in order; of a backward node the forward node alone.
std::vector<int> counterparts(const GraphDoc& graph, int node);

}  // namespace kerf::ui::inline panels
