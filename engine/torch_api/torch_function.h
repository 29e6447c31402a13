// __torch_function__: subclasses of Tensor, and modes, that take calls over.
#pragma once

#include <string>

#include "engine/python/reference.h"

namespace kerf::inline torch_api {

/// Whether an argument's type, or a mode, wants to answer a call.
bool hasTorchFunction(PyObject* args, PyObject* kwargs);
/// Asks them in their order; TypeError where all decline.
PyObject* callTorchFunction(PyObject* function, PyObject* args, PyObject* kwargs);

/// The method that a subclass is asked about for an operator's: "add" for __radd__. Others stay what they are.
std::string publicMethodName(const std::string& name);
/// Whether a class's __torch_function__ is the one that is switched off.
bool isDisabledTorchFunction(PyObject* function);

/// While it lives, subclasses take no calls over.
class NoSubclassScope {
 public:
  NoSubclassScope();
  ~NoSubclassScope();
  NoSubclassScope(const NoSubclassScope&) = delete;
  NoSubclassScope& operator=(const NoSubclassScope&) = delete;
};

/// Adds _disabled_torch_function_impl, DisableTorchFunctionSubclass and the stack of modes to torch._C.
bool addTorchFunction(PyObject* module);

}  // namespace kerf::inline torch_api
