#include "engine/dynamo/stand_ins.h"

#include <string_view>

#include "engine/dynamo/unsupported.h"
#include "engine/torch_api/tensor_type.h"

namespace kerf::inline dynamo {
namespace {

/// The first base that is not written in Python.
PyTypeObject* builtinBase(PyTypeObject* type) {
  // Types of C modules are on the heap too: only those of Python are freed by the function that frees this one.
  static const destructor freesPython = [] {
    const Ref made =
        Ref::steal(PyObject_CallFunction(reinterpret_cast<PyObject*>(&PyType_Type), "s(){}", "kerf_example"));
    return made ? reinterpret_cast<PyTypeObject*>(made.get())->tp_dealloc : nullptr;
  }();
  while (type != nullptr && (type->tp_flags & Py_TPFLAGS_HEAPTYPE) != 0 && type->tp_dealloc == freesPython)
    type = type->tp_base;
  return type;
}

Ref emptyOf(PyTypeObject* base, PyTypeObject* type) {
  const Ref none = Ref::steal(PyTuple_New(0));
  Ref made = Ref::steal(base->tp_new(type, none.get(), nullptr));
  if (!made) throw PythonRaised{};
  return made;
}

bool hasPythonMetaclass(PyTypeObject* type, const char* name) {
  for (PyTypeObject* meta = Py_TYPE(type); meta != nullptr; meta = meta->tp_base)
    if (std::string_view(meta->tp_name) == name) return true;
  return false;
}

bool isNamespaceType(const PyTypeObject* type) {
  return type != nullptr && std::string_view(type->tp_name) == "types.SimpleNamespace";
}

}  // namespace

Tensor fakeOf(PyObject* object) {
  const Tensor real = tensorOf(object);
  Tensor fake(nullptr, real.dtype(), real.symSizes(), real.symStrides(), real.symOffset());
  fake.setDevice(real.device());
  fake.requiresGrad = real.requiresGrad;
  fake.isLeaf = real.isLeaf;
  return fake;
}

Ref emptyLike(PyObject* container) {
  PyTypeObject* type = Py_TYPE(container);
  Ref made = emptyOf(PyList_Check(container) ? &PyList_Type : builtinBase(type), type);
  if (PyDict_Check(container)) {
    // collections.defaultdict: its factory is no item.
    const Ref factory = attributeOf(container, "default_factory");
    if (factory) PyObject_SetAttrString(made.get(), "default_factory", factory.get());
    PyErr_Clear();
  }
  return made;
}

Ref tupleLike(PyObject* tuple, const std::vector<Ref>& items) {
  Ref plain = Ref::steal(PyTuple_New(static_cast<Py_ssize_t>(items.size())));
  for (std::size_t k = 0; k < items.size(); ++k)
    PyTuple_SET_ITEM(plain.get(), static_cast<Py_ssize_t>(k), Py_NewRef(items[k].get()));
  if (PyTuple_CheckExact(tuple)) return plain;
  PyTypeObject* type = Py_TYPE(tuple);
  const bool python = (type->tp_flags & Py_TPFLAGS_HEAPTYPE) != 0 && builtinBase(type) == &PyTuple_Type;
  const Ref args = Ref::steal(PyTuple_Pack(1, plain.get()));
  Ref made = Ref::steal((python ? PyTuple_Type.tp_new : type->tp_new)(type, args.get(), nullptr));
  if (!made) throw PythonRaised{};
  return made;
}

bool isDeque(PyObject* object) { return std::string_view(Py_TYPE(object)->tp_name) == "collections.deque"; }

Ref dequeLike(PyObject* deque, const std::vector<Ref>& items) {
  const Ref list = Ref::steal(PyList_New(0));
  for (const Ref& item : items) PyList_Append(list.get(), item.get());
  const Ref limit = attributeOf(deque, "maxlen");
  return Ref::steal(
      PyObject_CallFunctionObjArgs(reinterpret_cast<PyObject*>(Py_TYPE(deque)), list.get(), limit.get(), nullptr));
}

bool isContainerMethod(PyObject* object) {
  PyObject* self = PyCFunction_Check(object) ? PyCFunction_GET_SELF(object) : nullptr;
  return self != nullptr && (PyList_Check(self) || PyDict_Check(self) || PyAnySet_Check(self) || isDeque(self));
}

bool isPartial(PyObject* object) { return std::string_view(Py_TYPE(object)->tp_name) == "functools.partial"; }

Ref partialLike(PyObject* partial, const std::function<Ref(PyObject*, const char*)>& copy) {
  const Ref function = copy(attributeOf(partial, "func").get(), "func");
  const Ref args = copy(attributeOf(partial, "args").get(), "args");
  const Ref keywords = copy(attributeOf(partial, "keywords").get(), "keywords");
  Ref all = Ref::steal(PyTuple_New(PyTuple_GET_SIZE(args.get()) + 1));
  PyTuple_SET_ITEM(all.get(), 0, Py_NewRef(function.get()));
  for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(args.get()); ++k)
    PyTuple_SET_ITEM(all.get(), k + 1, Py_NewRef(PyTuple_GET_ITEM(args.get(), k)));
  return Ref::steal(PyObject_Call(reinterpret_cast<PyObject*>(Py_TYPE(partial)), all.get(), keywords.get()));
}

bool canCopyObject(PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  if ((type->tp_flags & Py_TPFLAGS_HEAPTYPE) == 0 || PyType_Check(object)) return false;
  if (hasPythonMetaclass(type, "EnumType") || hasPythonMetaclass(type, "EnumMeta")) return false;
  return builtinBase(type) == &PyBaseObject_Type && ownDictOf(object) != nullptr;
}

bool hasHiddenAttributes(PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  if (PyType_Check(object) || hasPythonMetaclass(type, "EnumType") || hasPythonMetaclass(type, "EnumMeta"))
    return false;
  PyTypeObject* base = builtinBase(type);
  if (isNamespaceType(base)) return true;
  return (type->tp_flags & Py_TPFLAGS_HEAPTYPE) != 0 && base == &PyBaseObject_Type && !slotsOf(object).empty();
}

namespace {

/// Not one that a subclass hides by a slot of the same name, and no second name of a slot.
bool isOwnSlot(PyObject* object, PyTypeObject* type, PyObject* name, PyObject* found) {
  if (Py_TYPE(found) != &PyMemberDescr_Type || _PyType_Lookup(Py_TYPE(object), name) != found) return false;
  auto* descriptor = reinterpret_cast<PyDescrObject*>(found);
  return descriptor->d_type == type && PyObject_RichCompareBool(descriptor->d_name, name, Py_EQ) == 1;
}

}  // namespace

std::vector<std::pair<std::string, PyObject*>> slotsOf(PyObject* object) {
  std::vector<std::pair<std::string, PyObject*>> slots;
  PyObject* mro = Py_TYPE(object)->tp_mro;
  for (Py_ssize_t k = 0; mro != nullptr && k < PyTuple_GET_SIZE(mro); ++k) {
    auto* type = reinterpret_cast<PyTypeObject*>(PyTuple_GET_ITEM(mro, k));
    if ((type->tp_flags & Py_TPFLAGS_HEAPTYPE) == 0) continue;
    PyObject *name = nullptr, *found = nullptr;
    for (Py_ssize_t at = 0; PyDict_Next(type->tp_dict, &at, &name, &found) != 0;)
      if (isOwnSlot(object, type, name, found)) slots.emplace_back(textOf(name), found);
  }
  return slots;
}

Ref slotValue(PyObject* object, PyObject* descriptor) {
  Ref value =
      Ref::steal(Py_TYPE(descriptor)->tp_descr_get(descriptor, object, reinterpret_cast<PyObject*>(Py_TYPE(object))));
  if (!value) PyErr_Clear();
  return value;
}

Ref allocateLike(PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  if (PyTypeObject* base = builtinBase(type); isNamespaceType(base)) return emptyOf(base, type);
  Ref made = Ref::steal(type->tp_alloc(type, 0));
  if (made && ownDictOf(made.get()) == nullptr && !hasHiddenAttributes(object)) return {};
  return made;
}

PyObject* ownDictOf(PyObject* object) {
  if (Py_TYPE(object)->tp_dictoffset == 0 || PyType_Check(object)) return nullptr;
  PyObject** dict = _PyObject_GetDictPtr(object);
  if (dict == nullptr) return nullptr;
  if (*dict == nullptr) {
    const Ref made = Ref::steal(PyObject_GenericGetDict(object, nullptr));
    if (!made) PyErr_Clear();
  }
  return *dict;
}

void copyOwnDict(PyObject* from, PyObject* to) {
  PyObject* theirs = ownDictOf(from);
  PyObject* mine = ownDictOf(to);
  if (theirs != nullptr && mine != nullptr) PyDict_Update(mine, theirs);
}

int setRawItem(PyObject* dict, PyObject* key, PyObject* value) {
  if (PyODict_Check(dict)) return PyODict_SetItem(dict, key, value);
  return PyDict_SetItem(dict, key, value);
}

Guard sameObjectGuard(const SourcePtr& a, const SourcePtr& b) {
  Guard guard;
  guard.kind = "DUPLICATE_INPUT";
  guard.leaf = "LAMBDA_GUARD: " + a->name() + " is " + b->name();
  guard.source = b;
  guard.check = [a](PyObject* now, const FrameScope& scope) { return a->evaluate(scope).get() == now; };
  return guard;
}

}  // namespace kerf::inline dynamo
