#include "engine/torch_api/batched_tensors.h"

#include <string>

#include "engine/torch_api/tensor_object.h"

namespace kerf::inline torch_api {
namespace {

int& vmapLevel() {
  static int level = 0;
  return level;
}

/// visit(tensor) of a value and of what lists, tuples and dicts in it hold; ends where it says true.
template <class Visit>
bool anyTensor(PyObject* value, const Visit& visit) {
  if (value == nullptr) return false;
  if (isTensor(value)) return visit(value);
  if (PyTuple_Check(value) || PyList_Check(value)) {
    for (Py_ssize_t k = 0; k < PySequence_Fast_GET_SIZE(value); ++k)
      if (anyTensor(PySequence_Fast_GET_ITEM(value, k), visit)) return true;
  } else if (PyDict_Check(value)) {
    PyObject *key = nullptr, *item = nullptr;
    for (Py_ssize_t at = 0; PyDict_Next(value, &at, &key, &item) != 0;)
      if (anyTensor(item, visit)) return true;
  }
  return false;
}

bool isBatched(PyObject* tensor) { return variableIn(tensor)->isBatched; }

bool markBatched(PyObject* tensor) {
  variableIn(tensor)->isBatched = true;
  return false;
}

/// torch's own Python functions ask for numbers where PyTorch's kernels need none.
bool asksItself() {
  PyObject* globals = PyEval_GetGlobals();
  PyObject* module = globals != nullptr ? PyDict_GetItemString(globals, "__name__") : nullptr;
  const std::string name = module != nullptr && PyUnicode_Check(module) ? textOf(module) : std::string();
  return name != "torch" && !name.starts_with("torch.");
}

bool isRefused(PyObject* tensor) { return vmapLevel() > 0 && isBatched(tensor) && asksItself(); }

PyObject* enterVmap(PyObject* /*module*/, PyObject* tensors) {
  ++vmapLevel();
  anyTensor(tensors, markBatched);
  Py_RETURN_NONE;
}

PyObject* leaveVmap(PyObject* /*module*/, PyObject* /*none*/) {
  --vmapLevel();
  Py_RETURN_NONE;
}

}  // namespace

void noteBatched(PyObject* args, PyObject* kwargs, PyObject* result) {
  if (vmapLevel() > 0 && (anyTensor(args, isBatched) || anyTensor(kwargs, isBatched))) anyTensor(result, markBatched);
}

bool mayAskItem(PyObject* tensor) {
  if (!isRefused(tensor)) return true;
  PyErr_SetString(
      PyExc_RuntimeError,
      "vmap: It looks like you're calling .item() on a Tensor. We don't support vmap over calling .item() on a "
      "Tensor, please try to rewrite what you're doing with other operations. If error is occurring somewhere "
      "inside PyTorch internals, please file a bug report.");
  return false;
}

bool mayBranchOn(PyObject* tensor) {
  if (!isRefused(tensor)) return true;
  PyErr_SetString(PyExc_RuntimeError,
                  "vmap: It looks like you're attempting to use a Tensor in some data-dependent control flow. We don't "
                  "support that yet, please shout over at https://github.com/pytorch/functorch/issues/257 .");
  return false;
}

bool addBatchedTensors(PyObject* module) {
  static PyMethodDef functions[] = {{"_vmap_enter", enterVmap, METH_O, nullptr},
                                    {"_vmap_leave", leaveVmap, METH_NOARGS, nullptr},
                                    {nullptr, nullptr, 0, nullptr}};
  return PyModule_AddFunctions(module, functions) == 0;
}

}  // namespace kerf::inline torch_api
