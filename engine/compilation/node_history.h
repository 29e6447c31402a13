// NodeHistory: what a node came from and what it became, over the graphs of its compilation down to the kernels.
#pragma once

#include <string>
#include <vector>

#include "engine/capture/common/capture.h"
#include "engine/support/progress.h"

namespace kerf::inline compilation {

/// A node at one stage.
struct HistoryNode {
  std::string name, call;
  std::string
      how;  ///< how it is known: "same", "rewritten", "recorded", "merged", …; empty: the node that was asked for
};
struct HistoryStage {
  std::string graph;  ///< "aot_joint_graph", as the capture names it
  std::string part;   ///< "Dynamo", "joint", "forward", …
  std::vector<HistoryNode> nodes;
};
/// A kernel that computes a node of the last stage, and where it stands in the output code.
struct HistoryKernel {
  std::string kernel, part;  ///< part: "forward", "backward", "inference"; empty where the code does not say
  std::vector<std::string> nodes;
  std::string record;               ///< "r17" of the capture: the output code
  int definedAt = 0, calledAt = 0;  ///< 1-based lines of it; 0: not found
  std::string callText;
};
struct NodeHistory {
  std::string node, graph, compileId;
  std::string source;                ///< user's line: "model.py:7 in forward, code: …"
  std::vector<HistoryStage> stages;  ///< in the order of compilation, those without any of its nodes left out
  std::vector<HistoryKernel> kernels;
  std::vector<std::string> notes;
};

/// NotFound where the graph has no such node; Cancelled when `progress` says so; errors of reading the graphs.
Result<NodeHistory> nodeHistory(const Capture& capture, std::size_t graph, const std::string& node,
                                const WorkProgress& progress);

}  // namespace kerf::inline compilation
