// __torch_dispatch__ of classes: an operator on tensors of a subclass that has one is answered by it, below autograd.
#pragma once

#include "engine/ops/core/op_registry.h"
#include "engine/python/reference.h"
#include "engine/torch_api/variable.h"

namespace kerf::inline torch_api {

/// Whether a class has a __torch_dispatch__ of its own.
bool isDispatchClass(PyTypeObject* type);
/// Notes that there is a tensor of such a class now.
void noteDispatchTensor();
/// Whether there ever was one.
bool haveDispatchTensors();
/// Whether the handle is that of an object of such a class. False while _DisableTorchDispatch is on.
bool isDispatched(const Tensor& tensor);
bool anyDispatched(const ValueList& args, const KeywordValues& kwargs);
/// Adds the objects of dispatch classes among a value's tensors: who keeps the handles must keep them, too.
void collectDispatched(const Value& value, std::vector<Ref>& objects);
/// What the classes' __torch_dispatch__ give, subclasses first. RuntimeFailed (TypeError) if all are NotImplemented.
Result<Value> callDispatchClasses(const OpInfo& op, const ValueList& args, const KeywordValues& kwargs);
/// The classes of those objects, subclasses first.
Ref dispatchTypes(const ValueList& args, const KeywordValues& kwargs);
/// _disabled_torch_dispatch_impl, _DisableTorchDispatch, _make_wrapper of torch._C.
bool addDispatchClasses(PyObject* module);

}  // namespace kerf::inline torch_api
