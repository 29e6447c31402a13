// Hulls: nodes that became one kernel, outlined together whatever the cards are grouped by.
#pragma once

#include <memory>
#include <vector>

#include <QString>

namespace kerf::ui::inline session {
class Session;
}

namespace kerf::ui::inline graph_view {

struct NodeHull {
  QString title;           ///< of the kernel
  std::vector<int> nodes;  ///< of the shown graph, two at least
};
using HullsPtr = std::shared_ptr<const std::vector<NodeHull>>;

/// The fusion groups that PyTorch recorded of the shown graph's compile id, where they name its nodes; else Kerf's own
/// kernels. Null while neither is known.
HullsPtr fusionHulls(const Session& session);

}  // namespace kerf::ui::inline graph_view
