// The hook of PEP 523: which frames are compiled, traced into, or left to CPython.
#pragma once

#include "engine/dynamo/convert_frame.h"

namespace kerf::inline dynamo {

/// Calls a function whose frames are compiled (torch.compile). Null with a Python exception set.
PyObject* callCompiled(PyObject* function, PyObject* args, PyObject* kwargs, const FrameOptions& options);
/// Calls a function with nothing compiled (torch.compiler.disable).
PyObject* callDisabled(PyObject* function, PyObject* args, PyObject* kwargs);
/// Frames of a code object run as they were written from now on (torch.compiler.disable(recursive=False)).
void skipCode(PyObject* code);
/// Forgets all compiled code (torch.compiler.reset).
void resetCache();

}  // namespace kerf::inline dynamo
