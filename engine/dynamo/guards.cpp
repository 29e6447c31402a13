#include "engine/dynamo/guards.h"

#include <fmt/format.h>

#include "engine/dynamo/values.h"
#include "engine/torch_api/eager_ops.h"
#include "engine/torch_api/tensor_type.h"

namespace kerf::inline dynamo {
namespace {

std::string reprOf(PyObject* object) {
  const Ref text = Ref::steal(PyObject_Repr(object));
  if (!text) PyErr_Clear();
  return text ? textOf(text.get()) : "?";
}

Guard made(std::string kind, std::string leaf, const SourcePtr& source) {
  Guard guard;
  guard.kind = std::move(kind);
  guard.leaf = std::move(leaf);
  guard.source = source;
  return guard;
}

auto isSame(PyObject* object) {
  return [kept = Ref::borrow(object)](PyObject* now, const FrameScope&) { return now == kept.get(); };
}

auto isEqual(PyObject* object) {
  return [kept = Ref::borrow(object)](PyObject* now, const FrameScope&) {
    if (now == kept.get()) return true;
    if (Py_TYPE(now) != Py_TYPE(kept.get())) return false;
    const int equal = PyObject_RichCompareBool(now, kept.get(), Py_EQ);
    if (equal < 0) PyErr_Clear();
    return equal == 1;
  };
}

Guard singletonGuard(PyObject* object, const SourcePtr& source) {
  const std::string& name = source->name();
  Guard guard = made("CONSTANT_MATCH",
                     object == Py_None   ? "NONE_MATCH: " + name + " is None"
                     : object == Py_True ? "TRUE_MATCH: " + name + " == True"
                                         : "FALSE_MATCH: " + name + " == False",
                     source);
  guard.check = isSame(object);
  return guard;
}

/// A Python function is the same one as long as its code is: its defaults and cells have guards of their own.
Guard functionGuard(PyObject* object, const SourcePtr& source) {
  Guard guard = made("CLOSURE_MATCH",
                     fmt::format("ID_MATCH: ___check_obj_id({}.__code__, ID), type={}", source->name(),
                                 reprOf(PyFunction_GET_CODE(object))),
                     source);
  guard.check = [code = Ref::borrow(PyFunction_GET_CODE(object))](PyObject* now, const FrameScope&) {
    return PyFunction_Check(now) && PyFunction_GET_CODE(now) == code.get();
  };
  return guard;
}

std::string identityKind(PyObject* object) {
  if (PyType_Check(object)) return "CLASS_MATCH";
  if (PyModule_Check(object)) return "MODULE_MATCH";
  if (PyCFunction_Check(object)) return "BUILTIN_MATCH";
  return "ID_MATCH";
}

Guard identityGuard(PyObject* object, const SourcePtr& source) {
  Guard guard = made(identityKind(object),
                     fmt::format("ID_MATCH: ___check_obj_id({}, ID), type={}", source->name(), reprOf(object)), source);
  guard.check = isSame(object);
  return guard;
}

bool comparesByValue(PyObject* object) {
  return PyLong_CheckExact(object) || PyFloat_CheckExact(object) || PyUnicode_CheckExact(object) ||
         PyBytes_CheckExact(object) || PyComplex_CheckExact(object) || PySlice_Check(object) || PyRange_Check(object);
}

std::string listText(const Sizes& sizes) { return fmt::format("[{}]", fmt::join(sizes, ", ")); }

}  // namespace

void GuardSet::add(Guard guard) {
  if (m_leaves.insert(guard.leaf).second) m_guards.push_back(std::move(guard));
}

const Guard* GuardSet::firstFailure(const FrameScope& scope) const {
  for (const Guard& guard : m_guards) {
    if (!guard.source) {
      if (!guard.check(nullptr, scope)) return &guard;
      continue;
    }
    const Ref now = guard.source->evaluate(scope);
    if (!now || !guard.check(now.get(), scope)) return &guard;
  }
  return nullptr;
}

Guard constantGuard(PyObject* object, const SourcePtr& source) {
  if (object == Py_None || PyBool_Check(object)) return singletonGuard(object, source);
  if (PyFunction_Check(object)) return functionGuard(object, source);
  if (!comparesByValue(object)) return identityGuard(object, source);
  const bool literal = PyLong_CheckExact(object) || PyFloat_CheckExact(object) || PyUnicode_CheckExact(object);
  Guard guard = made(literal ? "CONSTANT_MATCH" : "EQUALS_MATCH",
                     fmt::format("EQUALS_MATCH: {} == {}", source->name(), reprOf(object)), source);
  guard.check = isEqual(object);
  return guard;
}

Guard typeGuard(PyObject* object, const SourcePtr& source) {
  auto* type = reinterpret_cast<PyObject*>(Py_TYPE(object));
  Guard guard = made(
      "TYPE_MATCH", fmt::format("TYPE_MATCH: ___check_type_id({}, ID), type={}", source->name(), reprOf(type)), source);
  guard.check = [kept = Ref::borrow(type)](PyObject* now, const FrameScope&) {
    return reinterpret_cast<PyObject*>(Py_TYPE(now)) == kept.get();
  };
  return guard;
}

Guard lengthGuard(PyObject* object, const SourcePtr& source) {
  const Py_ssize_t size = PyObject_Size(object);
  PyErr_Clear();
  const bool dict = PyDict_Check(object);
  const std::string text = size == 0 ? "not " + source->name() : fmt::format("len({}) == {}", source->name(), size);
  Guard guard =
      made(dict ? "DICT_KEYS_MATCH" : "SEQUENCE_LENGTH", (dict ? "DICT_LENGTH: " : "LENGTH_CHECK: ") + text, source);
  const Ref keys = Ref::steal(dict ? PyDict_Keys(object) : nullptr);
  guard.check = [size, keys](PyObject* now, const FrameScope&) {
    if (keys) {
      const Ref mine = Ref::steal(PyDict_Check(now) ? PyDict_Keys(now) : nullptr);
      const int same = mine ? PyObject_RichCompareBool(mine.get(), keys.get(), Py_EQ) : 0;
      PyErr_Clear();
      return same == 1;
    }
    const Py_ssize_t length = PyObject_Size(now);
    PyErr_Clear();
    return length == size;
  };
  return guard;
}

Guard presenceGuard(const SourcePtr& source, const Ref& key, bool present) {
  Guard guard = made(present ? "DICT_CONTAINS" : "NOT_PRESENT_IN_GENERIC_DICT",
                     fmt::format("DICT_CONTAINS: {}___dict_contains({}, {}.__dict__)", present ? "" : "not ",
                                 reprOf(key.get()), source->name()),
                     source);
  guard.check = [key, present](PyObject* now, const FrameScope&) {
    PyObject** own = PyDict_Check(now) ? &now : _PyObject_GetDictPtr(now);
    const bool found = own && *own && PyDict_Check(*own) && PyDict_Contains(*own, key.get()) == 1;
    return found == present;
  };
  return guard;
}

Guard tensorGuard(PyObject* object, const SourcePtr& source) {
  const Tensor tensor = tensorOf(object);
  const std::string className = Py_TYPE(object)->tp_name;
  Guard guard =
      made("TENSOR_MATCH",
           fmt::format(
               "TENSOR_MATCH: check_tensor({}, {}, DispatchKeySet(CPU, BackendSelect, ADInplaceOrView, AutogradCPU), "
               "{}, device=None, requires_grad={}, size={}, stride={})",
               source->name(), className.substr(className.rfind('.') + 1), dtypeInfo(tensor.dtype()).torchName,
               tensor.requiresGrad ? "True" : "False", listText(tensor.sizes()), listText(tensor.strides())),
           source);
  guard.check = [type = Py_TYPE(object), dtype = tensor.dtype(), device = tensor.device(), sizes = tensor.sizes(),
                 strides = tensor.strides(), requiresGrad = tensor.requiresGrad](PyObject* now, const FrameScope&) {
    if (Py_TYPE(now) != type || !isTensor(now)) return false;
    const Tensor other = tensorOf(now);
    return other.dtype() == dtype && other.requiresGrad == requiresGrad && other.sizes() == sizes &&
           other.strides() == strides && other.device() == device;
  };
  return guard;
}

Guard gradModeGuard() {
  Guard guard = made("GRAD_MODE", fmt::format("GLOBAL_STATE: grad_mode == {}", gradModes().grad), nullptr);
  guard.check = [grad = gradModes().grad, inference = gradModes().inference](PyObject*, const FrameScope&) {
    return gradModes().grad == grad && gradModes().inference == inference;
  };
  return guard;
}

}  // namespace kerf::inline dynamo
