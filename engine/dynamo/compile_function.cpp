#include "engine/dynamo/compile_function.h"

#include "engine/dynamo/graph_compiler.h"
#include "engine/torch_api/conversions.h"
#include "engine/torch_api/placed_tensors.h"
#include "engine/torch_api/tensor_type.h"

namespace kerf::inline dynamo {
namespace {

struct CompiledText {
  PyObject_HEAD GraphRunner* runner;
};

PyObject* runText(PyObject* self, PyObject* args, PyObject* /*kwargs*/) {
  PyObject* given = nullptr;
  if (PyArg_ParseTuple(args, "O!", &PyList_Type, &given) == 0) return nullptr;
  ValueList inputs;
  for (Py_ssize_t k = 0; k < PyList_GET_SIZE(given); ++k) {
    PyObject* item = PyList_GET_ITEM(given, k);
    if (!isTensor(item)) return PyErr_Format(PyExc_TypeError, "input %zd of a compiled graph is no tensor", k);
    inputs.emplace_back(tensorOf(item));
    if (const auto own = refusePlaced(inputs.back().tensor(), "a compiled graph"); !own) return raise(own.error());
  }
  auto outputs = (*reinterpret_cast<CompiledText*>(self)->runner)(inputs);
  if (!outputs) return raise(outputs.error());
  Ref list = Ref::steal(PyList_New(0));
  for (const Value& output : *outputs) {
    const Ref item = output.isTensor() ? wrapTensor(output.tensor()) : objectOf(output);
    if (!item || PyList_Append(list.get(), item.get()) != 0) return nullptr;
  }
  return list.release();
}

void dropText(PyObject* self) {
  delete reinterpret_cast<CompiledText*>(self)->runner;
  PyTypeObject* type = Py_TYPE(self);
  type->tp_free(self);
  Py_DECREF(type);
}

PyTypeObject* textType() {
  static PyType_Slot slots[] = {
      {Py_tp_dealloc, reinterpret_cast<void*>(dropText)}, {Py_tp_call, reinterpret_cast<void*>(runText)}, {0, nullptr}};
  static PyType_Spec spec = {"torch._C._dynamo.CompiledText", sizeof(CompiledText), 0,
                             Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
  static auto* type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  return type;
}

}  // namespace

PyObject* compileGraphText(PyObject* /*module*/, PyObject* args) {
  const char *text = nullptr, *settings = nullptr;
  if (PyArg_ParseTuple(args, "ss", &text, &settings) == 0) return nullptr;
  auto runner = compileText({text, "inductor", settings});
  if (!runner) return makeText(runner.error().message).release();
  PyTypeObject* type = textType();
  PyObject* made = type != nullptr ? type->tp_alloc(type, 0) : nullptr;
  if (made != nullptr) reinterpret_cast<CompiledText*>(made)->runner = new GraphRunner(*std::move(runner));
  return made;
}

}  // namespace kerf::inline dynamo
