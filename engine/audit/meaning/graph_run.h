// GraphRun: the nodes' values on given inputs, in float64, as what the kernels are compared with.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "engine/audit/meaning/drawn_operators.h"
#include "engine/ir/graph_module.h"

namespace kerf::inline audit {

struct GraphRun {
  ValueList inputs;  ///< as given, in float64
  ValueList outputs, inputsAfter;
  std::vector<std::string> names;                       ///< of the placeholders
  std::map<std::size_t, std::vector<ValueMark>> marks;  ///< of all nodes, by their number of elements
  std::vector<bool> writes;                             ///< by placeholder: whether a node writes into it
  bool isMostlyNan = false;

  /// Whether a node writes into the input, or it has changed otherwise.
  bool isWritten(std::size_t input) const;
  /// Whether a node has these numbers, wherever they are.
  bool hasNode(const ValueMark& mark) const;
};

/// Elements that all nodes have together, as their annotations say; none where one is not known.
std::optional<double> graphElements(const GraphModule& graph);
/// `marksNodes`: fills `marks`, which takes time.
Result<GraphRun> runGraph(const GraphModule& graph, const ValueList& inputs, const DrawnOperators& ops, bool marksNodes,
                          const std::function<bool()>& goesOn);

}  // namespace kerf::inline audit
