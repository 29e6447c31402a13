// What tracing must know of classes: nn.Module, torch's own namespaces, which functions it may call or go into.
#pragma once

#include <string>

#include "engine/python/reference.h"

namespace kerf::inline dynamo {

/// Whether an object is a torch.nn.Module.
bool isModule(PyObject* object);
bool isModuleType(PyTypeObject* of);
/// Whether attribute lookup of a class is CPython's own (with or without __getattr__).
bool hasDefaultLookup(PyTypeObject* type);
/// torch, torch.nn.functional, …: modules that do not change and need no guards.
bool isTorchNamespace(PyObject* object);
/// Whether a Python function may be traced into; false for the modules on Dynamo's skip list.
bool mayInline(PyObject* function);
/// Whether a function or type written in C may run on stand-ins: it only looks at its arguments and changes them.
bool mayCall(PyObject* callable);
/// "random.random"
std::string describeCallable(PyObject* callable);

}  // namespace kerf::inline dynamo
