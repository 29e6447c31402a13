#include "engine/torch_api/tensor_type.h"

#include <structmember.h>

#include "engine/torch_api/data_tensors.h"
#include "engine/torch_api/dispatch_classes.h"
#include "engine/torch_api/placed_tensors.h"
#include "engine/torch_api/tensor_object.h"

namespace kerf::inline torch_api {
namespace {

PyTypeObject* currentClass = nullptr;

int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(tensorObject(self).dict);
  Py_VISIT(Py_TYPE(self));
  return 0;
}
int clear(PyObject* self) {
  Py_CLEAR(tensorObject(self).dict);
  return 0;
}
void dealloc(PyObject* self) {
  PyObject_GC_UnTrack(self);
  TensorObject& object = tensorObject(self);
  if (object.weakrefs != nullptr) PyObject_ClearWeakRefs(self);
  Py_CLEAR(object.dict);
  if (object.variable) object.variable->object = nullptr;
  object.variable.~shared_ptr();
  PyTypeObject* type = Py_TYPE(self);
  type->tp_free(self);
  Py_DECREF(type);
}

/// torch.Tensor(2, 3), torch.Tensor([1, 2]), torch.Tensor(other): floats of the default dtype.
PyObject* create(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  auto tensor = legacyTensor(args, kwargs);
  if (!tensor) return raise(tensor.error());
  return newTensorObject(type, makeVariable(std::move(*tensor))).release();
}

PyTypeObject* makeBaseType() {
  static PyMemberDef members[] = {
      {"__dictoffset__", T_PYSSIZET, offsetof(TensorObject, dict), READONLY, nullptr},
      {"__weaklistoffset__", T_PYSSIZET, offsetof(TensorObject, weakrefs), READONLY, nullptr},
      {nullptr, 0, 0, 0, nullptr}};
  static PyType_Slot slots[] = {{Py_tp_new, reinterpret_cast<void*>(create)},
                                {Py_tp_dealloc, reinterpret_cast<void*>(dealloc)},
                                {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
                                {Py_tp_clear, reinterpret_cast<void*>(clear)},
                                {Py_tp_hash, reinterpret_cast<void*>(_Py_HashPointer)},
                                {Py_tp_members, members},
                                {Py_tp_getset, tensorAttributes()},
                                {Py_tp_methods, tensorMethods()},
                                {0, nullptr}};
  static PyType_Spec spec{"torch._C.TensorBase", sizeof(TensorObject), 0,
                          Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, slots};
  return reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
}

}  // namespace

PyTypeObject* tensorBaseType() {
  static PyTypeObject* type = makeBaseType();
  return type;
}
PyTypeObject* tensorClass() { return currentClass ? currentClass : tensorBaseType(); }
void setTensorClass(PyTypeObject* type) {
  Py_XINCREF(type);
  currentClass = type;
}

bool isTensor(PyObject* object) { return object != nullptr && PyObject_TypeCheck(object, tensorBaseType()); }

Tensor tensorOf(PyObject* object) {
  const Variable& variable = *variableIn(object);
  Tensor tensor = variable.tensor;
  tensor.requiresGrad = needsGrad(variable.tensor);
  tensor.isLeaf = !variable.gradFn;
  return tensor;
}

Ref newTensorObject(PyTypeObject* type, const VariablePtr& variable) {
  PyObject* object = type->tp_alloc(type, 0);
  if (object == nullptr) return {};
  new (&tensorObject(object).variable) VariablePtr(variable);
  tensorObject(object).dict = nullptr;
  tensorObject(object).weakrefs = nullptr;
  variable->object = object;
  variable->isDispatched = type != currentClass && isDispatchClass(type);
  if (variable->isDispatched) noteDispatchTensor();
  return Ref::steal(object);
}

Ref wrapTensor(const Tensor& tensor) {
  VariablePtr variable = variableOf(tensor);
  if (!variable) variable = makeVariable(tensor);
  if (variable->object != nullptr) return Ref::borrow(variable->object);
  const bool placed = isPlaced(variable->tensor) && placedTensors()->type() != nullptr;
  return newTensorObject(placed ? placedTensors()->type() : tensorClass(), variable);
}

}  // namespace kerf::inline torch_api
