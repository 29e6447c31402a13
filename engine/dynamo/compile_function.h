// torch._C._dynamo.compile_graph: what compile_fx of the torch package compiles a graph with.
#pragma once

#include "engine/python/reference.h"

namespace kerf::inline dynamo {

/// compile_graph(text, settings): a function of a list of tensors that gives a list, or text that says why the graph
/// runs op by op. `text` as print_readable writes it, `settings` of torch._inductor.config as JSON.
PyObject* compileGraphText(PyObject* module, PyObject* args);

}  // namespace kerf::inline dynamo
