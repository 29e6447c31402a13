// kerf show GRAPH --format output: the output code that PyTorch recorded for a graph, each line with its nodes.
#pragma once

#include "app/cli/context.h"

namespace kerf::cli {

/// The programs one after the other; where a kernel is defined or called, or a line touches a value, the nodes stand
/// behind the line.
std::string outputCodeText(const std::vector<RecordedProgram>& programs);
Json outputCodeJson(const std::string& graph, const std::vector<RecordedProgram>& programs);

}  // namespace kerf::cli
