// Repeats: blocks that a list of calls consists of, found by what is called and where, without any names.
#pragma once

#include <string>
#include <vector>

#include "app/workbench/protocol/graphs.h"

namespace kerf::ui::inline layout {

/// Places from `begin` up to `end` in a list of nodes.
struct Stretch {
  int begin = 0, end = 0;
  std::string name;  ///< "block 3", or as spanName() says where nothing repeats
};

/// The whole list: repeated blocks if there are any, else pieces of about the square root of its length, ten at most.
std::vector<Stretch> cutIntoStretches(const workbench::GraphDoc& graph, const std::vector<int>& nodes);

/// Whether source lines come again. Those of a graph's own text do not, and say nothing of what belongs together.
bool linesRepeat(const workbench::GraphDoc& graph);

/// What nodes[begin, end) do: "3 × conv + norm + activation"; "view … add", the first and the last call, where that says
/// nothing.
std::string spanName(const workbench::GraphDoc& graph, const std::vector<int>& nodes, int begin, int end);

/// A convolution, a matmul, an attention, an embedding.
bool beginsUnit(const workbench::NodeDoc& node);

/// Equal for lists of the same calls that feed each other in the same way.
std::uint64_t formOf(const workbench::GraphDoc& graph, const std::vector<int>& calls);
/// The last of `calls` whose value is used outside; the last one if none is.
int resultOf(const workbench::GraphDoc& graph, const std::vector<int>& calls);

}  // namespace kerf::ui::inline layout
