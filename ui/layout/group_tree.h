// GroupTree: the nodes of a graph in groups in groups: forward and backward, modules, repeated blocks, stretches.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "app/workbench/protocol/graphs.h"

namespace kerf::ui::inline layout {

struct NodeGroup {
  int parent = -1;
  std::string name;  ///< "layers.3", within the group around it
  std::string path;  ///< "backward/layers.3.attn": unique, and the same after another pass
  bool backward = false;
  int ops = 0;                ///< calls in it, at any depth
  std::int64_t bytes = 0;     ///< of the values that its calls make, views left out, as far as they are known
  int alike = 0;              ///< so many of the groups in it are one block, repeated
  std::uint64_t form = 0;     ///< the same for groups of the same calls, wired alike
  std::vector<int> groups;    ///< in it, in execution order
  std::vector<int> nodes;     ///< directly in it, in execution order
  int first = 0, result = 0;  ///< first node, and the last one that others use
};

struct GroupTree {
  std::vector<NodeGroup> groups;  ///< [0] is the whole graph; a group comes after the one around it
  std::vector<int> groupOf;       ///< innermost group of each node
  /// True for groups that contain `node`, at any depth.
  bool contains(int group, int node) const;
  int find(const std::string& path) const;  ///< -1: there is none
};

/// Groups whose links form no cycle at any depth. Inputs are where their first user is. With `kernels`, the kernel of
/// each node (empty: none), groups are what is fused together, within forward and backward, instead of modules.
GroupTree buildGroups(const workbench::GraphDoc& graph, const std::vector<std::string>* kernels = nullptr);

/// Asks level by level from the outside in, and within a level forward and the largest first, which groups may be opened: those of
/// one form together, so that what is alike looks alike. The groups that may.
std::vector<int> openLevels(const GroupTree& tree, const std::function<bool(const std::vector<int>&)>& accept);

/// Which groups to open so that about `budget` cards are visible; small graphs (`small` nodes) are open as a whole.
std::vector<char> openToFit(const GroupTree& tree, int budget, int small);

/// Module path of every node, inferred where it was not recorded, in front of it "backward" or "forward" where a graph
/// has both. Empty: unknown.
std::vector<std::string> inferModules(const workbench::GraphDoc& graph);
/// The same regions with another label below them for each node.
std::vector<std::string> inRegions(const workbench::GraphDoc& graph, std::vector<std::string> labels);

}  // namespace kerf::ui::inline layout
