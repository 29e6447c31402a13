// Namespaces of builtins: _C._VariableFunctions, _C._nn, _C._linalg, _C._fft, _C._special, and the ops themselves.
#pragma once

#include "engine/python/reference.h"

namespace kerf::inline torch_api {

/// Adds them to torch._C. False with an exception set.
bool addNamespaces(PyObject* module);

}  // namespace kerf::inline torch_api
