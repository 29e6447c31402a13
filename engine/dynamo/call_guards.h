// Guards of a call that PyTorch makes while it traces its own code of the function, and Kerf has other code.
#pragma once

#include "engine/dynamo/tracer.h"

namespace kerf::inline dynamo {

/// What PyTorch's code looks at by a module's name is told by the program's name for that module.
void noteLookups(FrameTracer& tracer, PyObject* callable);
/// Flags that a function is asked for by keyword and that the call leaves out.
void guardKeywordDefaults(FrameTracer& tracer, const VariableTracker& callable, PyObject* kwargs);
/// The functions of a torch.autograd.Function that the graph holds.
void guardAutogradFunction(FrameTracer& tracer, PyObject* cls);

}  // namespace kerf::inline dynamo
