// A recording of a run as a request names it: a file, or one side of a folder of `kerf record`.
#pragma once

#include <string>
#include <vector>

#include "app/workbench/workbench.h"
#include "engine/align/read_recording.h"
#include "engine/ir/graph_module.h"

namespace kerf::workbench {

/// Whether the path is a folder that `kerf record` wrote values into.
bool isRecordFolder(const std::string& path);

/// A recording, and the graphs whose nodes its steps are named after.
struct OpenedRecording {
  struct NamedModule {
    std::string prefix;   ///< of the steps' names: "0_0-inference/"; empty: they are names of nodes
    std::string address;  ///< under which the graph can be opened
    GraphModule module;
  };
  RunRecording recording;
  std::vector<NamedModule> graphs;
};

/// `side`: "compiled", "eager", or empty for the compiled one. `graph` names a graph whose nodes the steps are named
/// after; a folder of `kerf record` has its own. BadInput for what is no recording.
Result<OpenedRecording> openRecording(Workbench& bench, const std::string& path, const std::string& side,
                                      const std::string& graph, const Job& job);

}  // namespace kerf::workbench
