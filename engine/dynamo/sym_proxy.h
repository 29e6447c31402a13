// SymProxy: the object that stands for a size or number that may differ from call to call; every operation on it becomes
// a node, and what needs its value becomes a guard.
#pragma once

#include "engine/dynamo/source.h"
#include "engine/ir/node.h"
#include "engine/symbolic/sym_int.h"

namespace kerf::inline dynamo {

class FrameTracer;

struct SymState {
  SymNumber number;
  NodeId node;       ///< invalid: no node uses it yet
  SourcePtr source;  ///< of an input
  Ref real;          ///< of an input: the number itself
};

Ref makeSym(SymState state);
/// Null where the object is none.
SymState* symOf(PyObject* object);
/// int, float or bool.
PyObject* pythonTypeOf(const SymState& state);
/// The number, under the guard that it stays.
Ref specialise(FrameTracer& tracer, const SymState& state);
/// A builtin or function of math on numbers of which some are symbolic: a node. Nothing where it needs the values.
Ref callOnNumbers(FrameTracer& tracer, PyObject* callable, PyObject* args);
/// Whether any of a tuple's items, or an item of a list among them, is one.
bool holdsSym(PyObject* args);

}  // namespace kerf::inline dynamo
