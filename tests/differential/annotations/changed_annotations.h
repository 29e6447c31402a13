// Recorded dtypes, shapes and strides of real graphs, changed at random: each change contradicts the graph, and has to be
// said at the node itself or at one that it is an operand of.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "engine/support/result.h"

namespace kerf::annotations {

struct AnnotationOptions {
  std::uint64_t seed = 1;
  int count = 10;  ///< changes in each graph
};

struct AnnotationReport {
  int graphs = 0, changes = 0, said = 0;
  std::vector<std::string> falseAlarms;   ///< what is said of a graph as it was recorded
  std::vector<std::string> unsaid;        ///< a change that nobody speaks of
  std::map<std::string, int> unsaidByOp;  ///< "aten.mm.default stride"
};

/// Adds what the graphs of a file gave.
Result<void> changeAnnotations(const std::filesystem::path& file, const AnnotationOptions& options,
                               AnnotationReport& report);

}  // namespace kerf::annotations
