#include "engine/dynamo/guards.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>

#include <fmt/format.h>

#include "engine/dynamo/tracer.h"
#include "engine/dynamo/values.h"
#include "engine/torch_api/callables.h"
#include "engine/torch_api/eager_ops.h"
#include "engine/torch_api/tensor_type.h"

namespace kerf::inline dynamo {
namespace {

std::string reprOf(PyObject* object) {
  const NativeScope native;
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
  const std::string module = textOf(attributeOf(object, "__module__").get());
  guard.isInternal = attributeOf(object, "_torchdynamo_disable") || module == "torch.utils.checkpoint";
  guard.check = [code = Ref::borrow(PyFunction_GET_CODE(object))](PyObject* now, const FrameScope&) {
    return PyFunction_Check(now) && PyFunction_GET_CODE(now) == code.get();
  };
  return guard;
}

/// Functions of the standard library for which Dynamo traces one in Python.
bool isPolyfilled(PyObject* object) {
  if (!PyCFunction_Check(object)) return false;
  const std::string module = textOf(attributeOf(object, "__module__").get());
  return module == "_functools" || module == "itertools" || module == "sys";
}

std::string identityKind(PyObject* object) {
  if (PyType_Check(object)) return "CLASS_MATCH";
  if (PyModule_Check(object)) return "MODULE_MATCH";
  if (isPolyfilled(object)) return "ID_MATCH";
  if (PyCFunction_Check(object) || !callableOf(object).empty()) return "BUILTIN_MATCH";
  if (std::string_view(Py_TYPE(object)->tp_name) == "torch.dtype") return "CONSTANT_MATCH";
  return "ID_MATCH";
}

Guard identityGuard(PyObject* object, const SourcePtr& source) {
  Guard guard = made(identityKind(object),
                     fmt::format("ID_MATCH: ___check_obj_id({}, ID), type={}", source->name(), reprOf(object)), source);
  guard.check = isSame(object);
  // The locks of functools.cached_property, which Python 3.12 has no longer.
  guard.isInternal = std::string_view(Py_TYPE(object)->tp_name).starts_with("_thread.");
  return guard;
}

bool comparesByValue(PyObject* object) {
  return PyLong_CheckExact(object) || PyFloat_CheckExact(object) || PyUnicode_CheckExact(object) ||
         PyBytes_CheckExact(object) || PyComplex_CheckExact(object) || PySlice_Check(object) || PyRange_Check(object) ||
         isPlainTuple(object);
}

/// L['x'] as reasons print it: x.
std::string localName(std::string text) {
  for (std::size_t at = 0; (at = text.find("L['", at)) != std::string::npos;) {
    const std::size_t end = text.find("']", at);
    if (end == std::string::npos) break;
    text = text.substr(0, at) + text.substr(at + 3, end - at - 3) + text.substr(end + 2);
  }
  return text;
}

}  // namespace

void GuardSet::add(Guard guard) {
  const auto [known, isNew] = m_leaves.emplace(guard.leaf, m_guards.size());
  if (isNew) return m_guards.push_back(std::move(guard));
  Guard& held = m_guards[known->second];
  held.isInternal = held.isInternal && guard.isInternal;
}

namespace {

/// What tells two sources apart that have the same base.
using SourceKey = std::tuple<int, Source::Kind, std::string, int, PyObject*>;

SourceKey keyOf(const Source& source, int base) {
  PyObject* key = source.key();
  const bool isTold = key != nullptr && (PyUnicode_CheckExact(key) || PyLong_CheckExact(key));
  return {base, source.kind(), source.text(), source.slot(),
          isTold && source.kind() != Source::Kind::Constant ? nullptr : key};
}

}  // namespace

void GuardSet::plan() const {
  std::map<SourceKey, int> known;
  const std::function<int(const SourcePtr&)> stepOf = [&](const SourcePtr& source) -> int {
    if (!source) return -1;
    const int base = stepOf(source->base());
    const auto [at, isNew] = known.emplace(keyOf(*source, base), int(m_steps.size()));
    if (isNew) m_steps.push_back({source, base});
    return at->second;
  };
  m_steps.clear();
  m_stepOf.clear();
  for (const Guard& guard : m_guards) m_stepOf.push_back(stepOf(guard.source));
}

const Guard* GuardSet::firstFailure(const FrameScope& scope) const {
  if (m_stepOf.size() != m_guards.size()) plan();
  std::vector<Ref> values(m_steps.size());
  std::vector<bool> isKnown(m_steps.size());
  const auto evaluate = [&](const auto& self, int at) -> PyObject* {
    const auto place = static_cast<std::size_t>(at);
    if (isKnown[place]) return values[place].get();
    isKnown[place] = true;
    const Step& step = m_steps[place];
    PyObject* base = step.base >= 0 ? self(self, step.base) : nullptr;
    if (step.base < 0)
      values[place] = step.source->evaluate(scope);
    else if (base != nullptr)
      values[place] = step.source->evaluateOn(base);
    return values[place].get();
  };
  for (std::size_t k = 0; k < m_guards.size(); ++k) {
    PyObject* now = m_stepOf[k] < 0 ? nullptr : evaluate(evaluate, m_stepOf[k]);
    if ((now == nullptr && m_stepOf[k] >= 0) || !m_guards[k].check(now, scope)) return &m_guards[k];
  }
  return nullptr;
}

double GuardSet::cost(const Guard& guard, const FrameScope& scope) {
  constexpr int kTimes = 4;  // the first one warms up
  double least = -1;
  for (int k = 0; k < kTimes; ++k) {
    const auto start = std::chrono::steady_clock::now();
    const Ref now = guard.source ? guard.source->evaluate(scope) : Ref();
    if ((!guard.source || now) && guard.check) guard.check(now.get(), scope);
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start;
    if (least < 0 || took.count() < least) least = took.count();
  }
  PyErr_Clear();
  return least;
}

Guard constantGuard(PyObject* object, const SourcePtr& source) {
  if (object == Py_None || PyBool_Check(object)) return singletonGuard(object, source);
  if (PyFunction_Check(object)) return functionGuard(object, source);
  if (!comparesByValue(object)) return identityGuard(object, source);
  const bool literal = PyLong_CheckExact(object) || PyFloat_CheckExact(object) || PyUnicode_CheckExact(object) ||
                       PyTuple_CheckExact(object);
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
  const std::string text = size == 0 ? "not " + source->name() : fmt::format("len({}) == {}", source->name(), size);
  Guard guard = made("SEQUENCE_LENGTH", "LENGTH_CHECK: " + text, source);
  guard.check = [size, type = Ref::borrow(reinterpret_cast<PyObject*>(Py_TYPE(object)))](PyObject* now,
                                                                                         const FrameScope&) {
    if (reinterpret_cast<PyObject*>(Py_TYPE(now)) != type.get()) return false;
    const Py_ssize_t length = PyObject_Size(now);
    PyErr_Clear();
    return length == size;
  };
  return guard;
}

/// The first key that is another one.
std::string keyMismatch(PyObject* now, PyObject* keys, const std::string& name) {
  const Ref mine = Ref::steal(PyDict_Check(now) ? PyDict_Keys(now) : PyList_New(0));
  const Py_ssize_t size = PyList_GET_SIZE(keys);
  for (Py_ssize_t k = 0; mine && k < std::min(size, PyList_GET_SIZE(mine.get())); ++k)
    if (PyObject_RichCompareBool(PyList_GET_ITEM(mine.get(), k), PyList_GET_ITEM(keys, k), Py_EQ) != 1)
      return fmt::format("list(dict.keys({}))[{}] == {}", name, k, reprOf(PyList_GET_ITEM(keys, k)));
  return fmt::format("len({}) != {}", name, size);
}

Guard keysGuard(PyObject* dict, const SourcePtr& source, bool walked) {
  const Py_ssize_t size = PyDict_GET_SIZE(dict);
  const std::string text = size == 0 ? "not " + source->name() : fmt::format("len({}) == {}", source->name(), size);
  Guard guard = made("DICT_KEYS_MATCH", "DICT_LENGTH: " + text, source);
  const Ref keys = Ref::steal(PyDict_Keys(dict));
  guard.check = [keys](PyObject* now, const FrameScope&) {
    const Ref mine = Ref::steal(PyDict_Check(now) ? PyDict_Keys(now) : nullptr);
    const int same = mine ? PyObject_RichCompareBool(mine.get(), keys.get(), Py_EQ) : 0;
    PyErr_Clear();
    return same == 1;
  };
  if (walked)
    guard.failure = [keys, name = source->name()](PyObject* now, const FrameScope&) {
      return keyMismatch(now, keys.get(), name);
    };
  return guard;
}

Guard containsGuard(const SourcePtr& source, const Ref& key, bool present) {
  Guard guard = made("DICT_CONTAINS",
                     fmt::format("DICT_CONTAINS: {}___dict_contains({}, {})", present ? "" : "not ", reprOf(key.get()),
                                 source->name()),
                     source);
  guard.check = [key, present](PyObject* now, const FrameScope&) {
    const int found = PyDict_Check(now) ? PyDict_Contains(now, key.get()) : -1;
    PyErr_Clear();
    return found == (present ? 1 : 0);
  };
  return guard;
}

Guard hasAttributeGuard(const SourcePtr& source, const std::string& name, bool present) {
  Guard guard = made(
      "HASATTR", fmt::format("{}hasattr({}, '{}')", present ? "HASATTR: " : "NO_HASATTR: not ", source->name(), name),
      source);
  const Ref text = makeText(name);
  guard.about = PyUnicode_IsIdentifier(text.get()) == 1 ? source->name() + "." + name
                                                        : fmt::format("getattr({}, '{}')", source->name(), name);
  guard.check = [name, present](PyObject* now, const FrameScope&) {
    const Ref found = Ref::steal(PyObject_GetAttrString(now, name.c_str()));
    PyErr_Clear();
    return static_cast<bool>(found) == present;
  };
  return guard;
}

Guard emptyHooksGuard(const SourcePtr& source) {
  Guard guard = made("EMPTY_NN_MODULE_HOOKS_DICT", "EMPTY_NN_MODULE_HOOKS_DICT: not " + source->name(), source);
  guard.check = [](PyObject* now, const FrameScope&) { return PyDict_Check(now) && PyDict_GET_SIZE(now) == 0; };
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

namespace {

/// What is checked of a tensor. No number: a size that may differ.
struct TensorMatch {
  PyTypeObject* type = nullptr;
  DType dtype{};
  Device device;
  bool requiresGrad = false;
  std::vector<std::optional<std::int64_t>> sizes, strides;
  std::vector<int> strideOf;  ///< of a stride that may differ: the dim whose size times stride it is

  std::string mismatch(PyObject* now) const;
};

/// C++'s name of a dtype: "Float", "Long".
std::string scalarTypeName(DType dtype) {
  static const std::unordered_map<std::string_view, const char*> names = {{"torch.float32", "Float"},
                                                                          {"torch.float64", "Double"},
                                                                          {"torch.float16", "Half"},
                                                                          {"torch.int64", "Long"},
                                                                          {"torch.int32", "Int"},
                                                                          {"torch.int16", "Short"},
                                                                          {"torch.int8", "Char"},
                                                                          {"torch.uint8", "Byte"},
                                                                          {"torch.bool", "Bool"},
                                                                          {"torch.bfloat16", "BFloat16"},
                                                                          {"torch.complex64", "ComplexFloat"},
                                                                          {"torch.complex128", "ComplexDouble"}};
  const auto found = names.find(dtypeInfo(dtype).torchName);
  return found == names.end() ? std::string(dtypeInfo(dtype).torchName) : found->second;
}

std::vector<std::optional<std::int64_t>> plainOnly(const SymSizes& sizes) {
  std::vector<std::optional<std::int64_t>> plain;
  for (const SymInt size : sizes) plain.push_back(size.isSymbolic() ? std::nullopt : std::optional(size.bits()));
  return plain;
}

std::string listText(const std::vector<std::optional<std::int64_t>>& sizes) {
  std::vector<std::string> items;
  for (const auto& size : sizes) items.push_back(size ? std::to_string(*size) : "None");
  return fmt::format("[{}]", fmt::join(items, ", "));
}

std::string TensorMatch::mismatch(PyObject* now) const {
  if (Py_TYPE(now) != type || !isTensor(now))
    return fmt::format("type mismatch. expected {}, actual {}", type->tp_name, Py_TYPE(now)->tp_name);
  const Tensor other = tensorOf(now);
  if (other.dtype() != dtype)
    return fmt::format("dtype mismatch. expected {}, actual {}", scalarTypeName(dtype), scalarTypeName(other.dtype()));
  if (!(other.device() == device)) return "device mismatch";
  if (other.requiresGrad != requiresGrad)
    return fmt::format("requires_grad mismatch. expected requires_grad={}", requiresGrad ? 1 : 0);
  const Sizes nowSizes = other.sizes(), nowStrides = other.strides();
  if (nowSizes.size() != sizes.size())
    return fmt::format("rank mismatch. expected {}, actual {}", sizes.size(), nowSizes.size());
  for (std::size_t k = 0; k < sizes.size(); ++k)
    if (sizes[k] && *sizes[k] != nowSizes[k])
      return fmt::format("size mismatch at index {}. expected {}, actual {}", k, *sizes[k], nowSizes[k]);
  for (std::size_t k = 0; k < strides.size(); ++k) {
    const int from = strideOf[k];
    const std::int64_t wanted = strides[k] ? *strides[k]
                                : from < 0 ? nowStrides[k]
                                           : nowSizes[std::size_t(from)] * nowStrides[std::size_t(from)];
    if (wanted != nowStrides[k])
      return fmt::format("stride mismatch at index {}. expected {}, actual {}", k, wanted, nowStrides[k]);
  }
  return "";
}

}  // namespace

Guard tensorGuard(PyObject* object, const Tensor& fake, const SourcePtr& source) {
  const Tensor tensor = tensorOf(object);
  const std::string className = Py_TYPE(object)->tp_name;
  TensorMatch match{Py_TYPE(object),
                    tensor.dtype(),
                    tensor.device(),
                    tensor.requiresGrad,
                    plainOnly(fake.symSizes()),
                    plainOnly(fake.symStrides()),
                    {}};
  const Sizes sizes = tensor.sizes(), strides = tensor.strides();
  for (std::size_t k = 0; k < strides.size(); ++k) {
    int from = -1;
    for (std::size_t j = 0; !match.strides[k] && j < strides.size(); ++j)
      if (j != k && sizes[j] != 1 && strides[k] == sizes[j] * strides[j]) from = static_cast<int>(j);
    match.strideOf.push_back(from);
  }
  Guard guard =
      made("TENSOR_MATCH",
           fmt::format(
               "TENSOR_MATCH: check_tensor({}, {}, DispatchKeySet(CPU, BackendSelect, ADInplaceOrView, AutogradCPU), "
               "{}, device=None, requires_grad={}, size={}, stride={})",
               source->name(), className.substr(className.rfind('.') + 1), dtypeInfo(tensor.dtype()).torchName,
               tensor.requiresGrad ? "True" : "False", listText(match.sizes), listText(match.strides)),
           source);
  guard.check = [match](PyObject* now, const FrameScope&) { return match.mismatch(now).empty(); };
  guard.failure = [match, name = localName(source->name())](PyObject* now, const FrameScope&) {
    if (!isTensor(now))
      return fmt::format("expected type of '{}' to be a tensor type, ' but found {}", name,
                         reprOf(reinterpret_cast<PyObject*>(Py_TYPE(now))));
    return fmt::format("tensor '{}' {}", name, match.mismatch(now));
  };
  return guard;
}

std::string failureText(const Guard& guard, const FrameScope& scope) {
  const Ref now = guard.source ? guard.source->evaluate(scope) : Ref();
  if (guard.failure && (now || !guard.source)) return localName(guard.failure(now.get(), scope));
  const std::size_t start = guard.leaf.find(": ");
  return localName(start == std::string::npos ? guard.leaf : guard.leaf.substr(start + 2));
}

Guard gradModeGuard() {
  Guard guard = made("GRAD_MODE", fmt::format("GLOBAL_STATE: grad_mode == {}", gradModes().grad), nullptr);
  guard.check = [grad = gradModes().grad, inference = gradModes().inference](PyObject*, const FrameScope&) {
    return gradModes().grad == grad && gradModes().inference == inference;
  };
  return guard;
}

}  // namespace kerf::inline dynamo
