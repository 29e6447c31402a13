// What operations on tensors become: nodes, constants known without data, or graph breaks.
#pragma once

#include <string>

#include "engine/python/reference.h"

namespace kerf::inline dynamo {

class FrameTracer;

/// operator.NAME of a tuple of operands.
Ref tensorOperator(FrameTracer& tracer, const char* name, PyObject* args);
Ref tensorSetItem(FrameTracer& tracer, PyObject* args);
/// x.NAME(*args, **kwargs).
Ref tensorMethod(FrameTracer& tracer, PyObject* self, const std::string& name, PyObject* args, PyObject* kwargs);
Ref tensorAttribute(FrameTracer& tracer, PyObject* self, const std::string& name);
Ref tensorSetAttribute(FrameTracer& tracer, PyObject* self, const std::string& name, PyObject* value);
Ref tensorIterator(FrameTracer& tracer, PyObject* self);

/// The tensor and the name of a method that was loaded and not called; false where the object is none.
bool isTensorMethod(PyObject* object, Ref& self, std::string& name);

/// The name by which Dynamo's graphs call a function of torch that goes into the graph; empty for everything else.
std::string graphFunctionName(PyObject* callable);
/// A call of such a function: a node, a constant, or a graph break.
Ref traceTorchFunction(FrameTracer& tracer, const std::string& name, PyObject* callable, PyObject* args,
                       PyObject* kwargs);
/// torch._dynamo.config says that .item() is a number of the graph, and x.nonzero() a tensor of it.
bool capturesScalars();
bool capturesDynamicShapes();
/// An object of module torch by its path: "Size".
Ref torchObject(const char* name);

}  // namespace kerf::inline dynamo
