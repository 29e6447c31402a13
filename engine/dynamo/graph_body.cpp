#include "engine/dynamo/graph_body.h"

#include "engine/dynamo/call_backend.h"
#include "engine/dynamo/tracer.h"

namespace kerf::inline dynamo {
namespace {

struct GraphBodyObject {
  PyObject_HEAD std::shared_ptr<GraphBody>* body;
};

PyObject* runBody(PyObject* self, PyObject* args, PyObject* /*kwargs*/) {
  const GraphBody& body = **reinterpret_cast<GraphBodyObject*>(self)->body;
  if (std::size_t(PyTuple_GET_SIZE(args)) != body.inputs.size())
    return PyErr_Format(PyExc_TypeError, "the nested graph takes %zu values, got %zd", body.inputs.size(),
                        PyTuple_GET_SIZE(args));
  NodeValues values;
  for (std::size_t k = 0; k < body.inputs.size(); ++k)
    values[body.inputs[k].index] = Ref::borrow(PyTuple_GET_ITEM(args, Py_ssize_t(k)));
  if (!replay(body.calls, values)) return nullptr;
  return fillValue(body.output.get(), values).release();
}

PyObject* nameOfBody(PyObject* self, void* /*closure*/) {
  return makeText((*reinterpret_cast<GraphBodyObject*>(self)->body)->name).release();
}

/// Fills torch.fx's builder with the body's nodes.
PyObject* fillBuilder(PyObject* self, PyObject* builder) {
  return buildNested(builder, **reinterpret_cast<GraphBodyObject*>(self)->body).release();
}

void dropBody(PyObject* self) {
  delete reinterpret_cast<GraphBodyObject*>(self)->body;
  PyTypeObject* type = Py_TYPE(self);
  type->tp_free(self);
  Py_DECREF(type);
}

PyTypeObject* nestedType() {
  static PyGetSetDef getters[] = {{"__name__", nameOfBody, nullptr, nullptr, nullptr},
                                  {nullptr, nullptr, nullptr, nullptr, nullptr}};
  static PyMethodDef methods[] = {{"build", fillBuilder, METH_O, nullptr}, {nullptr, nullptr, 0, nullptr}};
  static PyType_Slot slots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(dropBody)},
                                {Py_tp_call, reinterpret_cast<void*>(runBody)},
                                {Py_tp_getset, getters},
                                {Py_tp_methods, methods},
                                {0, nullptr}};
  static PyType_Spec spec = {"kerf.GraphBody", sizeof(GraphBodyObject), 0, Py_TPFLAGS_DEFAULT, slots};
  static auto* type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  return type;
}

}  // namespace

Ref nestedGraphObject(std::shared_ptr<GraphBody> body) {
  PyTypeObject* type = nestedType();
  Ref made = Ref::steal(type ? type->tp_alloc(type, 0) : nullptr);
  if (!made) throw PythonRaised{};
  reinterpret_cast<GraphBodyObject*>(made.get())->body = new std::shared_ptr<GraphBody>(std::move(body));
  return made;
}

GraphBody* nestedOf(PyObject* object) {
  if (object == nullptr || Py_TYPE(object) != nestedType()) return nullptr;
  return reinterpret_cast<GraphBodyObject*>(object)->body->get();
}

}  // namespace kerf::inline dynamo
