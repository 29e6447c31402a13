// Builtins that tracing answers itself, since CPython's own would look at its frame or past the stand-ins.
#pragma once

#include <optional>
#include <vector>

#include "engine/dynamo/instruction_translator.h"

namespace kerf::inline dynamo {

/// The result of getattr, setattr, hasattr, type, super, …; nothing for any other callable.
std::optional<VariableTracker> callBuiltin(InstructionTranslator& t, PyObject* callable, PyObject* args,
                                           PyObject* kwargs, std::vector<VariableTracker>& sources);
/// A copy of a tuple of arguments in which functions of torch record nodes when C code calls them.
Ref wrapGraphFunctions(PyObject* args);

}  // namespace kerf::inline dynamo
