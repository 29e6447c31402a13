// Running programs, or saying that this kerf cannot: the one place that knows whether CPython was built in.
#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "app/workbench/protocol/programs.h"
#include "engine/capture/common/capture.h"
#include "engine/dynamo/graph_to_compile.h"
#include "engine/support/result.h"
#include "engine/tensor/value.h"

namespace kerf::workbench {

/// How a program ended, and its graphs with what went into them.
struct CapturedProgram {
  ProgramDoc doc;
  Capture capture;  ///< of kind "program"; without graphs where nothing was compiled
  std::vector<std::string> notes;
};

/// "bug.py:Model.forward": the file, and what of it is compiled.
struct ProgramPlace {
  std::string file, function;
};
ProgramPlace programPlace(const std::string& path);

/// The program of that text, by rank: one, or as many as the request asks for. A rank that crashed or was out of time ended
/// with that as its exception, where there are several. Environment where kerf was built without CPython 3.11, or this
/// machine cannot confine it; BadUsage for a number of ranks that no world has.
Result<std::vector<CapturedProgram>> runProgramText(const std::string& text, const CaptureProgramRequest& request,
                                                    std::stop_token stop);

/// A graph of a program by Kerf's own compiler ("inductor"), or by the interpreter after AOTAutograd ("aot_eager").
/// UnsupportedOp for a graph of compile_fx that writes into its inputs, gives memory of them, or draws numbers.
Result<GraphRunner> compileProgramGraph(const GraphToCompile& graph);

/// Dynamo's graph of a program as torch.export has it. JSON in: `text` of the graph, `inputs` of the exported one ([placeholder,
/// name]), `symbols` ([placeholder, input, dim]), `outputs` (["output", k], ["input", k], ["constant", value]). JSON out:
/// `text`, names of the `outputs`, and which placeholders are `mutated`: their new values are the first outputs.
Result<std::string> exportProgramGraph(const std::string& request);

/// A program with what runs around it, and the value that its driver bound.
struct ProgramRun {
  std::string text, name, prologue, driver;
  bool driverAlways = false;  ///< also after an exception
};
struct ProgramValues {
  std::string output, exception;
  Value values;  ///< none without a driver
};
Result<ProgramValues> runProgramValues(const ProgramRun& run, std::stop_token stop);

}  // namespace kerf::workbench
