#include "engine/dynamo/source.h"

#include <cctype>

#include "engine/dynamo/tracer.h"
#include "engine/dynamo/unsupported.h"
#include "engine/torch_api/tensor_type.h"

namespace kerf::inline dynamo {
namespace {

std::string inBrackets(const std::string& text) { return "['" + text + "']"; }

std::string representation(PyObject* object) {
  const NativeScope native;
  const Ref text = Ref::steal(PyObject_Repr(object));
  if (!text) PyErr_Clear();
  return text ? textOf(text.get()) : "?";
}

/// A name as code objects keep it: dicts find it by identity.
Ref interned(const std::string& name) {
  PyObject* text = makeText(name).release();
  PyUnicode_InternInPlace(&text);
  return Ref::steal(text);
}

/// Attributes without running code of the program: instance dict first, then what the type has.
Ref plainAttribute(PyObject* object, PyObject* key) {
  PyObject** dict = _PyObject_GetDictPtr(object);
  if (dict && *dict && !PyType_Check(object)) {
    PyObject* found = PyDict_GetItemWithError(*dict, key);
    if (found) return Ref::borrow(found);
  }
  const bool generic = Py_TYPE(object)->tp_getattro != nullptr && !PyType_Check(object);
  Ref value = Ref::steal(generic ? PyObject_GenericGetAttr(object, key) : PyObject_GetAttr(object, key));
  if (!value) PyErr_Clear();
  if (!value && generic) value = Ref::steal(PyObject_GetAttr(object, key));
  if (!value) PyErr_Clear();
  return value;
}

Ref valueAt(PyObject* dict, int place) {
  PyObject* value = nullptr;
  Py_ssize_t at = 0;
  for (int k = 0; k <= place; ++k)
    if (!PyDict_Check(dict) || PyDict_Next(dict, &at, nullptr, &value) == 0) return {};
  return Ref::borrow(value);
}

Ref keyAt(PyObject* dict, int place) {
  PyObject* key = nullptr;
  Py_ssize_t at = 0;
  for (int k = 0; k <= place; ++k)
    if (!PyDict_Check(dict) || PyDict_Next(dict, &at, &key, nullptr) == 0) return {};
  return Ref::borrow(key);
}

Ref plainItem(PyObject* base, PyObject* key) {
  if (PyDict_Check(base)) return Ref::borrow(PyDict_GetItemWithError(base, key));
  if (PyTuple_Check(base) || PyList_Check(base)) {
    const Py_ssize_t index = PyLong_AsSsize_t(key);
    const Py_ssize_t size = PySequence_Fast_GET_SIZE(base);
    if (index < 0 || index >= size) return {};
    return Ref::borrow(PySequence_Fast_GET_ITEM(base, index));
  }
  return Ref::steal(PyObject_GetItem(base, key));
}

}  // namespace

void unsupported(std::string type, std::string explanation, std::string context, std::vector<std::string> hints) {
  throw Unsupported{std::move(type), std::move(explanation), std::move(context), std::move(hints), {}, false};
}

std::shared_ptr<Source> Source::make(Kind kind, SourcePtr base, std::string text, std::string name) {
  std::shared_ptr<Source> made(new Source());
  made->m_kind = kind;
  made->m_base = std::move(base);
  made->m_text = std::move(text);
  made->m_name = std::move(name);
  return made;
}

SourcePtr Source::local(std::string name, int slot) {
  auto made = make(Kind::Local, nullptr, name, "L" + inBrackets(name));
  made->m_slot = slot;
  return made;
}

SourcePtr Source::cell(std::string name, int slot) {
  auto made = make(Kind::Cell, nullptr, name, "C" + inBrackets(name));
  made->m_slot = slot;
  return made;
}

SourcePtr Source::global(std::string name) {
  auto made = make(Kind::Global, nullptr, name, "G" + inBrackets(name));
  made->m_key = interned(name);
  return made;
}

SourcePtr Source::attribute(SourcePtr base, std::string name) {
  if (base->kind() == Kind::Cell && name == "cell_contents") {
    auto made = make(Kind::Attr, base, name, "L" + inBrackets(base->text()));
    made->m_key = interned(name);
    return made;
  }
  const std::string full = base->name() + "." + name;
  auto made = make(Kind::Attr, std::move(base), name, full);
  made->m_key = interned(name);
  return made;
}

SourcePtr Source::item(SourcePtr base, Ref key) {
  const std::string text = representation(key.get());
  const std::string full = base->name() + "[" + text + "]";
  auto made = make(Kind::Item, std::move(base), text, full);
  made->m_key = std::move(key);
  return made;
}

SourcePtr Source::placedItem(SourcePtr base, Py_ssize_t place) {
  const std::string name = base->name();
  const std::string full = name + "[list(dict.keys(" + name + "))[" + std::to_string(place) + "]]";
  auto made = make(Kind::PlacedItem, std::move(base), {}, full);
  made->m_slot = static_cast<int>(place);
  return made;
}

SourcePtr Source::placedKey(SourcePtr base, Py_ssize_t place) {
  const std::string full = "list(dict.keys(" + base->name() + "))[" + std::to_string(place) + "]";
  auto made = make(Kind::PlacedKey, std::move(base), {}, full);
  made->m_slot = static_cast<int>(place);
  return made;
}

SourcePtr Source::type(SourcePtr base) {
  const std::string full = "type(" + base->name() + ")";
  return make(Kind::Type, std::move(base), {}, full);
}

SourcePtr Source::typeDict(SourcePtr base) {
  const std::string full = "dict(" + base->name() + ".__dict__)";
  return make(Kind::TypeDict, std::move(base), {}, full);
}

SourcePtr Source::size(SourcePtr base, std::int64_t dim) {
  const std::string full = base->name() + ".size()[" + std::to_string(dim) + "]";
  auto made = make(Kind::Size, std::move(base), {}, full);
  made->m_slot = static_cast<int>(dim);
  return made;
}

SourcePtr Source::constant(std::string name, Ref object) {
  auto made = make(Kind::Constant, nullptr, name, name);
  made->m_key = std::move(object);
  return made;
}

SourcePtr Source::random(int number) {
  auto made = make(Kind::Random, nullptr, {}, "random_value_" + std::to_string(number));
  made->m_slot = number;
  return made;
}

Ref Source::evaluateOn(PyObject* base) const {
  if (m_kind == Kind::Type) return Ref::borrow(reinterpret_cast<PyObject*>(Py_TYPE(base)));
  if (m_kind == Kind::TypeDict)
    return PyType_Check(base) ? Ref::borrow(reinterpret_cast<PyTypeObject*>(base)->tp_dict) : Ref();
  if (m_kind == Kind::Size) {
    if (!isTensor(base)) return {};
    const Sizes sizes = tensorOf(base).sizes();
    const auto dim = static_cast<std::size_t>(m_slot);
    return dim < sizes.size() ? Ref::steal(PyLong_FromLongLong(sizes[dim])) : Ref();
  }
  if (m_kind == Kind::PlacedItem) return valueAt(base, m_slot);
  if (m_kind == Kind::PlacedKey) return keyAt(base, m_slot);
  if (m_kind == Kind::Item) {
    Ref found = plainItem(base, m_key.get());
    PyErr_Clear();
    return found;
  }
  if (PyCell_Check(base)) return Ref::borrow(PyCell_GET(base));
  return plainAttribute(base, m_key.get());
}

Ref Source::evaluate(const FrameScope& scope) const {
  if (m_kind == Kind::Constant) return m_key;
  if (m_kind == Kind::Random) {
    const auto number = static_cast<std::size_t>(m_slot);
    return scope.drawn != nullptr && number < scope.drawn->size() ? (*scope.drawn)[number] : Ref();
  }
  if (m_kind == Kind::Global) {
    Ref found = Ref::borrow(PyDict_GetItemWithError(scope.globals, m_key.get()));
    PyErr_Clear();
    return found;
  }
  if (m_kind == Kind::Local || m_kind == Kind::Cell) {
    PyObject* held = scope.local(m_slot);
    if (held && m_kind == Kind::Local && PyCell_Check(held)) held = PyCell_GET(held);
    return Ref::borrow(held);
  }
  const Ref base = m_base->evaluate(scope);
  return base ? evaluateOn(base.get()) : Ref();
}

std::string inputNameOf(const std::string& sourceName) {
  std::string name;
  for (const char c : sourceName) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) || c == '_';
    const char made = plain ? c : '_';
    if (made == '_' && !name.empty() && name.back() == '_') continue;
    name.push_back(made);
  }
  return name;
}

}  // namespace kerf::inline dynamo
