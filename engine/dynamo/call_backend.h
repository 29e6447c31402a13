// A Python function as backend: it gets the graph as torch.fx.GraphModule and gives what runs it.
#pragma once

#include "engine/dynamo/compiled_frame.h"

namespace kerf::inline dynamo {

struct GraphBody;

/// What the backend made of the frame's graph, to be called with the values of the inputs. Null with a Python exception
/// set where the backend raised.
Ref callBackend(PyObject* backend, const Graph& graph, const CompiledFrame& frame);

/// Gives torch.fx's builder the nodes of a nested graph, and what its finish() makes of them.
Ref buildNested(PyObject* builder, const GraphBody& body);

/// Runs it: the values of the frame's outputs. False with a Python exception set.
bool runBackendCall(const CompiledFrame& frame, NodeValues& values);

}  // namespace kerf::inline dynamo
