// __torch_function__ while tracing: subclasses of Tensor that take calls over.
#pragma once

#include <optional>
#include <string>

#include "engine/dynamo/tensor_proxy.h"
#include "engine/python/reference.h"

namespace kerf::inline dynamo {

class FrameTracer;

/// Whether a tensor's class answers calls: a subclass of Tensor whose __torch_function__ is not switched off.
bool answersCalls(const ProxyState& proxy);
/// What the classes of the operands say to a call; nothing where none of them is asked.
std::optional<Ref> askSubclasses(FrameTracer& tracer, PyObject* function, PyObject* args, PyObject* kwargs);
/// The same for operator.NAME and for a method of torch.Tensor.
std::optional<Ref> askSubclassesOperator(FrameTracer& tracer, const std::string& name, PyObject* args);
std::optional<Ref> askSubclassesMethod(FrameTracer& tracer, const std::string& name, PyObject* self, PyObject* args,
                                       PyObject* kwargs);

}  // namespace kerf::inline dynamo
