// What `kerf show` prints beside the graph itself.
#pragma once

#include <string>

#include "app/cli/context.h"

namespace kerf::cli {

// kerf show GRAPH --where QUERY: the nodes of a graph that a query describes.

/// A table, or with --json an object. BadUsage for a query that cannot be read, and for one that asks for what only a
/// comparison, a difference or a person knows.
Result<std::string> foundNodes(Context& context, const GraphAddress& address, const std::string& where);

// The guards of a graph, for people and for scripts.

std::string guardsText(const GuardsDoc& doc);
Json guardsJson(const std::string& graph, const GuardsDoc& doc);

// kerf show GRAPH --format output: the output code that PyTorch recorded for a graph, each line with its nodes.

/// The programs one after the other; where a kernel is defined or called, or a line touches a value, the nodes stand
/// behind the line.
std::string outputCodeText(const std::vector<RecordedProgram>& programs);
Json outputCodeJson(const std::string& graph, const std::vector<RecordedProgram>& programs);

// kerf show c7 --format program: what torch.compile made of a captured program.

/// The source, with frames, graphs, breaks and recompiles below the lines that they belong to.
std::string programText(const ProgramReport& report);
Json programReportJson(const ProgramReport& report);

}  // namespace kerf::cli
