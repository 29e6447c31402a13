// torch._C._dynamo_trace: what Python stand-ins for functions of torch call while they are traced.
#pragma once

#include <optional>
#include <span>

#include "engine/ir/node.h"
#include "engine/python/reference.h"

namespace kerf::inline dynamo {

class InstructionTranslator;

PyObject* makeTraceModule();
/// Its functions on bodies, and those on tensors and nodes.
std::span<const PyMethodDef> bodyFunctions();
std::span<const PyMethodDef> nodeFunctions();
/// Of a tensor or a number of the trace.
NodeId nodeOfValue(PyObject* object);
bool isTraceFunction(PyObject* callable);

/// A Python function that is traced in the place of a function of torch (torch._dynamo._higher_order).
struct TracedInstead {
  Ref function;
  Ref self;                ///< of a bound method: its first argument
  bool mustTrace = false;  ///< a graph break in it is an error of the program
};
std::optional<TracedInstead> tracedInstead(PyObject* callable);

}  // namespace kerf::inline dynamo
