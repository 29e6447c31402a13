// Attributes of torch.Tensor.
#include <array>

#include "engine/torch_api/callables.h"
#include "engine/torch_api/conversions.h"
#include "engine/torch_api/eager_ops.h"
#include "engine/torch_api/grad_node.h"
#include "engine/torch_api/small_types.h"
#include "engine/torch_api/tensor_object.h"

namespace kerf::inline torch_api {
namespace {

const Tensor& tensorIn(PyObject* self) { return variableIn(self)->tensor; }
PyObject* truth(bool value) { return PyBool_FromLong(value); }

PyObject* computed(const char* op, const ValueList& args) {
  const CallScope scope;
  auto result = callTorch(op, args, {}, OpMode::Real);
  return result ? objectOf(*result).release() : raise(result.error());
}

PyObject* shape(PyObject* self, void*) { return sizeObject(tensorIn(self).sizes()).release(); }
PyObject* dtype(PyObject* self, void*) { return objectOf(tensorIn(self).dtype()).release(); }
PyObject* device(PyObject* self, void*) {
  Device device = tensorIn(self).device();
  if (device.type == "cuda" && device.index < 0) device.index = 0;
  return objectOf(device).release();
}
PyObject* layout(PyObject*, void*) { return objectOf(Layout::Strided).release(); }
PyObject* dimensions(PyObject* self, void*) { return PyLong_FromLongLong(tensorIn(self).dim()); }
PyObject* itemBytes(PyObject* self, void*) { return PyLong_FromLongLong(itemSize(tensorIn(self).dtype())); }
PyObject* bytes(PyObject* self, void*) { return PyLong_FromLongLong(tensorIn(self).byteSize()); }

PyObject* requiresGrad(PyObject* self, void*) { return truth(needsGrad(tensorIn(self))); }
int setRequiresGrad(PyObject* self, PyObject* value, void*) {
  Variable& variable = *variableIn(self);
  const int wanted = value ? PyObject_IsTrue(value) : 0;
  if (wanted < 0) return -1;
  if (variable.gradFn && !wanted) {
    PyErr_SetString(PyExc_RuntimeError,
                    "you can only change requires_grad flags of leaf variables. If you want to use a "
                    "computed variable in a subgraph that doesn't require differentiation use "
                    "var_no_grad = var.detach().");
    return -1;
  }
  if (wanted && variable.isInference && !gradModes().inference) {
    PyErr_SetString(PyExc_RuntimeError,
                    "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed.");
    return -1;
  }
  if (wanted && !isFloating(variable.tensor.dtype()) && !isComplex(variable.tensor.dtype())) {
    PyErr_SetString(PyExc_RuntimeError, "only Tensors of floating point dtype can require gradients");
    return -1;
  }
  if (!variable.gradFn) variable.requiresGrad = wanted != 0;
  return 0;
}

PyObject* grad(PyObject* self, void*) {
  const VariablePtr& grad = variableIn(self)->grad;
  if (!grad) Py_RETURN_NONE;
  return wrapTensor(grad->tensor).release();
}
int setGrad(PyObject* self, PyObject* value, void*) {
  Variable& variable = *variableIn(self);
  if (value == nullptr || value == Py_None) {
    variable.grad = nullptr;
    return 0;
  }
  if (!isTensor(value)) return PyErr_SetString(PyExc_TypeError, "assigned grad expected to be a Tensor or None"), -1;
  if (variableIn(value)->tensor.sizes() != variable.tensor.sizes()) {
    PyErr_SetString(PyExc_RuntimeError, "assigned grad has data of a different size");
    return -1;
  }
  variable.grad = variableIn(value);
  return 0;
}

PyObject* gradFn(PyObject* self, void*) {
  Variable& variable = *variableIn(self);
  if (!variable.gradFn && !(variable.base && variable.base->gradFn != variable.baseFn)) Py_RETURN_NONE;
  const Edge edge = edgeOf(variable);
  if (!edge.node) Py_RETURN_NONE;
  return objectOfNode(edge.node).release();
}
PyObject* isLeaf(PyObject* self, void*) {
  const Variable& variable = *variableIn(self);
  return truth(!variable.gradFn && !(variable.base && variable.base->gradFn != variable.baseFn));
}
PyObject* isInference(PyObject* self, void*) { return truth(variableIn(self)->isInference); }
PyObject* retainsGrad(PyObject* self, void*) { return truth(variableIn(self)->retainsGrad); }
PyObject* outputNumber(PyObject* self, void*) { return PyLong_FromSize_t(variableIn(self)->outputNumber); }
PyObject* version(PyObject* self, void*) { return PyLong_FromUnsignedLong(*variableIn(self)->version); }
PyObject* base(PyObject* self, void*) {
  const VariablePtr& base = variableIn(self)->base;
  if (!base) Py_RETURN_NONE;
  return wrapTensor(base->tensor).release();
}
PyObject* none(PyObject*, void*) { Py_RETURN_NONE; }
PyObject* never(PyObject*, void*) { Py_RETURN_FALSE; }

PyObject* data(PyObject* self, void*) {
  Tensor same = tensorIn(self);
  same.traced = -1;
  return wrapTensor(same).release();
}
int setData(PyObject* self, PyObject* value, void*) {
  if (!isTensor(value)) return PyErr_SetString(PyExc_TypeError, "Variable data has to be a tensor"), -1;
  Variable& variable = *variableIn(self);
  const int number = variable.tensor.traced;
  variable.tensor = variableIn(value)->tensor;
  variable.tensor.traced = number;
  return 0;
}

/// Whether mT, H or mH has a meaning for so many dimensions; else sets PyTorch's exception.
bool takesRank(const char* name, std::int64_t dims) {
  const bool isH = std::string_view(name) == "H";
  if (dims == 0 || dims == 2 || (dims > 2 && !isH)) return true;
  PyErr_Format(PyExc_RuntimeError, "tensor.%s is only supported on %s. Got %d-D tensor.%s", name,
               isH ? "matrices (2-D tensors)" : "matrices or batches of matrices", int(dims),
               dims > 2 ? " For batches of matrices, consider using tensor.mH" : "");
  return false;
}

/// Of one name per entry: the op that gives it, for matrices of the last two dimensions.
PyObject* transposed(PyObject* self, void* how) {
  const Tensor tensor = tensorOf(self);
  const std::string_view name = static_cast<const char*>(how);
  if (name == "T") {
    if (tensor.dim() == 2) return computed("torch.ops.aten.t.default", {tensor});
    ValueList order;
    for (std::int64_t d = tensor.dim(); d-- > 0;) order.emplace_back(d);
    return computed("torch.ops.aten.permute.default", {tensor, Value(std::move(order))});
  }
  if (!takesRank(static_cast<const char*>(how), tensor.dim())) return nullptr;
  const bool isAdjoint = name == "mH" || name == "H";
  if (tensor.dim() == 0 && !(isAdjoint && isComplex(tensor.dtype()))) return Py_NewRef(self);
  if (isAdjoint) return computed("torch.ops.aten.adjoint.default", {tensor});
  return computed("torch.ops.aten.transpose.int", {tensor, std::int64_t{-2}, std::int64_t{-1}});
}
PyObject* realPart(PyObject* self, void*) {
  if (!isComplex(tensorIn(self).dtype())) return Py_NewRef(self);
  return computed("torch.ops.aten.real.default", {tensorOf(self)});
}
PyObject* imaginaryPart(PyObject* self, void*) {
  if (!isComplex(tensorIn(self).dtype())) {
    PyErr_SetString(PyExc_RuntimeError, "imag is not implemented for tensors with non-complex dtypes.");
    return nullptr;
  }
  return computed("torch.ops.aten.imag.default", {tensorOf(self)});
}

template <char kind>
PyObject* onDevice(PyObject* self, void*) {
  const std::string& type = tensorIn(self).device().type;
  return truth(kind == 'c' ? type == "cuda" : kind == 'm' ? type == "meta" : type == "cpu");
}

char nameT[] = "T", nameMT[] = "mT", nameH[] = "H", nameMH[] = "mH";

}  // namespace

PyGetSetDef* tensorAttributes() {
  static PyGetSetDef attributes[] = {{"shape", shape, nullptr, nullptr, nullptr},
                                     {"dtype", dtype, nullptr, nullptr, nullptr},
                                     {"device", device, nullptr, nullptr, nullptr},
                                     {"layout", layout, nullptr, nullptr, nullptr},
                                     {"ndim", dimensions, nullptr, nullptr, nullptr},
                                     {"itemsize", itemBytes, nullptr, nullptr, nullptr},
                                     {"nbytes", bytes, nullptr, nullptr, nullptr},
                                     {"requires_grad", requiresGrad, setRequiresGrad, nullptr, nullptr},
                                     {"grad", grad, setGrad, nullptr, nullptr},
                                     {"_grad", grad, setGrad, nullptr, nullptr},
                                     {"grad_fn", gradFn, nullptr, nullptr, nullptr},
                                     {"is_leaf", isLeaf, nullptr, nullptr, nullptr},
                                     {"retains_grad", retainsGrad, nullptr, nullptr, nullptr},
                                     {"output_nr", outputNumber, nullptr, nullptr, nullptr},
                                     {"_is_inference", isInference, nullptr, nullptr, nullptr},
                                     {"_version", version, nullptr, nullptr, nullptr},
                                     {"_base", base, nullptr, nullptr, nullptr},
                                     {"data", data, setData, nullptr, nullptr},
                                     {"T", transposed, nullptr, nullptr, nameT},
                                     {"mT", transposed, nullptr, nullptr, nameMT},
                                     {"H", transposed, nullptr, nullptr, nameH},
                                     {"mH", transposed, nullptr, nullptr, nameMH},
                                     {"real", realPart, nullptr, nullptr, nullptr},
                                     {"imag", imaginaryPart, nullptr, nullptr, nullptr},
                                     {"names", none, nullptr, nullptr, nullptr},
                                     {"name", none, nullptr, nullptr, nullptr},
                                     {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
                                     {"_backward_hooks", none, nullptr, nullptr, nullptr},
                                     {"is_cuda", onDevice<'c'>, nullptr, nullptr, nullptr},
                                     {"is_cpu", onDevice<'p'>, nullptr, nullptr, nullptr},
                                     {"is_meta", onDevice<'m'>, nullptr, nullptr, nullptr},
                                     {"is_sparse", never, nullptr, nullptr, nullptr},
                                     {"is_sparse_csr", never, nullptr, nullptr, nullptr},
                                     {"is_quantized", never, nullptr, nullptr, nullptr},
                                     {"is_nested", never, nullptr, nullptr, nullptr},
                                     {"is_mkldnn", never, nullptr, nullptr, nullptr},
                                     {"is_xpu", never, nullptr, nullptr, nullptr},
                                     {"is_mps", never, nullptr, nullptr, nullptr},
                                     {"is_mtia", never, nullptr, nullptr, nullptr},
                                     {nullptr, nullptr, nullptr, nullptr, nullptr}};
  return attributes;
}

}  // namespace kerf::inline torch_api
