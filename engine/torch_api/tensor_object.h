// TensorObject: the layout of a torch.Tensor object; private to engine/torch_api.
#pragma once

#include "engine/torch_api/tensor_type.h"
#include "engine/torch_api/variable.h"

namespace kerf::inline torch_api {

struct TensorObject {
  PyObject_HEAD VariablePtr variable;
  PyObject* dict;
  PyObject* weakrefs;
};

inline TensorObject& tensorObject(PyObject* object) { return *reinterpret_cast<TensorObject*>(object); }
inline const VariablePtr& variableIn(PyObject* object) { return tensorObject(object).variable; }

/// A new object of a type for a variable that has none.
Ref newTensorObject(PyTypeObject* type, const VariablePtr& variable);

PyGetSetDef* tensorAttributes();
PyMethodDef* tensorMethods();

}  // namespace kerf::inline torch_api
