// __torch_function__: subclasses of Tensor, and modes, that take calls over.
#pragma once

#include "engine/python/reference.h"

namespace kerf::inline torch_api {

/// Whether an argument's type, or a mode, wants to answer a call.
bool hasTorchFunction(PyObject* args, PyObject* kwargs);
/// Asks them in their order; TypeError where all decline.
PyObject* callTorchFunction(PyObject* function, PyObject* args, PyObject* kwargs);

/// Adds _disabled_torch_function_impl, DisableTorchFunctionSubclass and the stack of modes to torch._C.
bool addTorchFunction(PyObject* module);

}  // namespace kerf::inline torch_api
