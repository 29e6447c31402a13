// torch._C.TensorBase: the Python type over Kerf's tensors, and the way between both.
#pragma once

#include "engine/python/reference.h"
#include "engine/tensor/tensor.h"

namespace kerf::inline torch_api {

/// Whether an object is a torch.Tensor, of a subclass too.
bool isTensor(PyObject* object);
/// The tensor of such an object: its storage, sizes, strides, dtype, device; `requiresGrad` and `isLeaf` as Python shows
/// them. Its `traced` is the number of the variable, the same for every handle of it.
Tensor tensorOf(PyObject* object);
/// A Python object for a tensor: the object that stands for the same variable already, else a new torch.Tensor. A tensor
/// without storage (a fake one) may be wrapped as well; kernels refuse it.
Ref wrapTensor(const Tensor& tensor);
/// The type that new tensors have: torch.Tensor once its Python half is there, TensorBase before.
PyTypeObject* tensorClass();
PyTypeObject* tensorBaseType();
/// torch.Tensor as Python defines it: what tensors are from now on.
void setTensorClass(PyTypeObject* type);

}  // namespace kerf::inline torch_api
