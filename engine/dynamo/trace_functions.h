// torch._C._dynamo_trace: what Python stand-ins for functions of torch call while they are traced.
#pragma once

#include <optional>

#include "engine/python/reference.h"

namespace kerf::inline dynamo {

class InstructionTranslator;

PyObject* makeTraceModule();
bool isTraceFunction(PyObject* callable);

/// A Python function that is traced in the place of a function of torch (torch._dynamo._higher_order).
struct TracedInstead {
  Ref function;
  Ref self;                ///< of a bound method: its first argument
  bool mustTrace = false;  ///< a graph break in it is an error of the program
};
std::optional<TracedInstead> tracedInstead(PyObject* callable);

}  // namespace kerf::inline dynamo
