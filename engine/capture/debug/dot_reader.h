// Graphviz text as lists of nodes and edges: the subset that pydot writes.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/support/result.h"

namespace kerf::inline capture {

struct DotNode {
  std::string name;
  std::map<std::string, std::string> attributes;  ///< quotes and DOT's own \" undone, other escapes as written
  int line = 0;
};

struct DotGraph {
  std::string name;
  std::vector<DotNode> nodes;                              ///< in the order of their first statement
  std::vector<std::pair<std::size_t, std::size_t>> edges;  ///< indices into nodes
};

/// BadInput with the line for what is no DOT; TooLarge above `limit` nodes or edges. Subgraphs are flattened.
Result<DotGraph> readDot(std::string_view text, std::int64_t limit);

}  // namespace kerf::inline capture
