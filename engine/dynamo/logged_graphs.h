// Logged graphs as text and values, for a capture that outlives the process.
#pragma once

#include "engine/dynamo/capture_log.h"
#include "engine/dynamo/compiled_frame.h"

namespace kerf::inline dynamo {

/// Copies the inputs of a graph into its log entry while there is room.
void keepInputs(const CompiledFrame& frame, LoggedGraph& graph);
/// Adds keep_inputs(bytes) and graphs() to torch._C._dynamo: the former makes the log detailed, too, the latter gives
/// (name, print_readable's text, inputs or None) of each graph.
bool addLoggedGraphs(PyObject* module);

}  // namespace kerf::inline dynamo
