// The Python object of a GradNode: what t.grad_fn shows.
#include <map>

#include "engine/torch_api/grad_node.h"
#include "engine/torch_api/hooks.h"
#include "engine/torch_api/tensor_type.h"

namespace kerf::inline torch_api {
namespace {

struct NodeObject {
  PyObject_HEAD std::shared_ptr<GradNode> node;
  PyObject* dict;
};

const std::shared_ptr<GradNode>& nodeIn(PyObject* self) { return reinterpret_cast<NodeObject*>(self)->node; }

void freeNode(PyObject* self) {
  auto& object = *reinterpret_cast<NodeObject*>(self);
  object.node->object = nullptr;
  object.node.~shared_ptr();
  Py_XDECREF(object.dict);
  PyTypeObject* type = Py_TYPE(self);
  type->tp_free(self);
  Py_DECREF(type);
}
PyObject* reprNode(PyObject* self) {
  return PyUnicode_FromFormat("<%s object at %p>", nodeIn(self)->name.c_str(), nodeIn(self).get());
}
PyObject* nameOfNode(PyObject* self, PyObject*) { return makeText(nodeIn(self)->name).release(); }
PyObject* nextFunctions(PyObject* self, void*) {
  const auto& edges = nodeIn(self)->edges;
  Ref tuple = Ref::steal(PyTuple_New(Py_ssize_t(edges.size())));
  for (std::size_t i = 0; tuple && i < edges.size(); ++i) {
    const Ref node = edges[i].node ? objectOfNode(edges[i].node) : Ref::borrow(Py_None);
    if (!node) return nullptr;
    PyTuple_SET_ITEM(tuple.get(), Py_ssize_t(i), Py_BuildValue("(On)", node.get(), Py_ssize_t(edges[i].number)));
  }
  return tuple.release();
}
PyObject* variable(PyObject* self, void*) {
  const VariablePtr& leaf = nodeIn(self)->leaf;
  if (leaf) return wrapTensor(leaf->tensor).release();
  PyErr_Format(PyExc_AttributeError, "'%s' object has no attribute 'variable'", nodeIn(self)->name.c_str());
  return nullptr;
}
PyObject* metadata(PyObject* self, void*) {
  auto& object = *reinterpret_cast<NodeObject*>(self);
  if (object.dict == nullptr) object.dict = PyDict_New();
  return Py_XNewRef(object.dict);
}
PyObject* sequence(PyObject* self, PyObject*) { return PyLong_FromUnsignedLongLong(nodeIn(self)->sequence); }
template <std::vector<Ref> GradNode::* hooks>
PyObject* registerHook(PyObject* self, PyObject* hook) {
  auto& all = (*nodeIn(self)).*hooks;
  all.push_back(Ref::borrow(hook));
  return hookHandle(nodeIn(self), all).release();
}
/// What the ctx of an autograd.Function holds is reached through its node.
PyObject* attribute(PyObject* self, PyObject* name) {
  PyObject* found = PyObject_GenericGetAttr(self, name);
  const Ref& context = nodeIn(self)->context;
  if (found != nullptr || !context || !PyErr_ExceptionMatches(PyExc_AttributeError)) return found;
  PyErr_Clear();
  if (textOf(name) == "_ctx") return Py_NewRef(context.get());
  return PyObject_GetAttr(context.get(), name);
}

/// One type a name, so that type(t.grad_fn).__name__ is PyTorch's.
PyTypeObject* typeNamed(const std::string& name) {
  static auto& types = *new std::map<std::string, std::pair<std::string, PyTypeObject*>>;
  auto& [full, type] = types[name];
  if (type != nullptr) return type;
  full = "torch.autograd." + name;
  static PyGetSetDef attributes[] = {{"next_functions", nextFunctions, nullptr, nullptr, nullptr},
                                     {"variable", variable, nullptr, nullptr, nullptr},
                                     {"metadata", metadata, nullptr, nullptr, nullptr},
                                     {nullptr, nullptr, nullptr, nullptr, nullptr}};
  static PyMethodDef methods[] = {{"name", nameOfNode, METH_NOARGS, nullptr},
                                  {"_sequence_nr", sequence, METH_NOARGS, nullptr},
                                  {"register_hook", registerHook<&GradNode::hooks>, METH_O, nullptr},
                                  {"register_prehook", registerHook<&GradNode::preHooks>, METH_O, nullptr},
                                  {nullptr, nullptr, 0, nullptr}};
  static PyType_Slot slots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(freeNode)},
                                {Py_tp_repr, reinterpret_cast<void*>(reprNode)},
                                {Py_tp_getattro, reinterpret_cast<void*>(attribute)},
                                {Py_tp_getset, attributes},
                                {Py_tp_methods, methods},
                                {0, nullptr}};
  PyType_Spec spec{full.c_str(), sizeof(NodeObject), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
  type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  return type;
}

}  // namespace

Ref objectOfNode(const std::shared_ptr<GradNode>& node) {
  if (node->object != nullptr) return Ref::borrow(node->object);
  PyTypeObject* type = typeNamed(node->name);
  PyObject* object = type ? type->tp_alloc(type, 0) : nullptr;
  if (object == nullptr) return {};
  new (&reinterpret_cast<NodeObject*>(object)->node) std::shared_ptr<GradNode>(node);
  node->object = object;
  return Ref::steal(object);
}

}  // namespace kerf::inline torch_api
