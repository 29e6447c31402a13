#include "engine/dynamo/side_effects.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "engine/dynamo/modules.h"
#include "engine/dynamo/stand_ins.h"
#include "engine/dynamo/tracer.h"
#include "engine/dynamo/values.h"
#include "engine/torch_api/tensor_type.h"

namespace kerf::inline dynamo {

StandIn& SideEffects::add(StandIn standIn) {
  m_standIns.push_back(std::make_unique<StandIn>(std::move(standIn)));
  StandIn& kept = *m_standIns.back();
  m_byValue[kept.value.get()] = &kept;
  m_byReal[kept.real.get()] = &kept;
  return kept;
}

StandIn* SideEffects::find(PyObject* value) {
  const auto found = m_byValue.find(value);
  return found == m_byValue.end() ? nullptr : found->second;
}

VariableTracker SideEffects::wrap(PyObject* real, SourcePtr source) {
  if (proxyOf(real) != nullptr || m_byValue.contains(real)) return {Ref::borrow(real), nullptr, false};
  if (const auto known = m_byReal.find(real); known != m_byReal.end()) {
    StandIn& standIn = *known->second;
    if (standIn.source && source && standIn.source->name() != source->name())
      m_tracer.addGuard(sameObjectGuard(standIn.source, source));
    return {standIn.value, standIn.source, false};
  }
  if (isTensor(real)) return wrapTensor(real, source);
  if (PyList_Check(real)) return wrapList(real, source);
  if (source && isPlainTuple(real) && isOfModule(source)) return {Ref::borrow(real), std::move(source), true};
  if (PyTuple_Check(real)) return wrapTuple(real, source);
  if (isDeque(real)) return wrapDeque(real, source);
  if (PyDict_Check(real)) return wrapDict(real, source);
  if (PyAnySet_Check(real)) return wrapSet(real, source);
  if (PyMethod_Check(real) || isContainerMethod(real)) return wrapMethod(real, source);
  if (isPartial(real)) return wrapPartial(real, source);
  if (canCopyObject(real)) return wrapObject(real, source);
  if (PyLong_CheckExact(real) || PyFloat_CheckExact(real))
    if (Ref number = wrapNumber(real, source)) return {number, nullptr, false};
  if (!isConstant(real)) m_opaque.insert(real);
  return {Ref::borrow(real), std::move(source), true};
}

/// A number that differed from call to call. Ints of modules, defaults and globals stay what they are.
Ref SideEffects::wrapNumber(PyObject* real, const SourcePtr& source) {
  if (!source) return {};
  const bool isStatic = PyLong_CheckExact(real) && isStaticInt(source);
  const std::optional<SymNumber> number = m_tracer.symbols.numberOf(real, source, isStatic);
  return number ? makeSym({*number, {}, source, Ref::borrow(real)}) : Ref();
}

bool SideEffects::isStaticInt(const SourcePtr& source) const {
  const std::string& name = source->name();
  return !name.starts_with("L[") || isOfModule(source) || name.find("defaults__") != std::string::npos;
}

bool SideEffects::isOfModule(const SourcePtr& source) const {
  for (const Source* at = source.get(); at != nullptr; at = at->base().get())
    if (m_moduleSources.contains(at->name())) return true;
  return false;
}

VariableTracker SideEffects::wrapTensor(PyObject* real, const SourcePtr& source) {
  ProxyState state;
  state.fake = m_tracer.symbols.fakeOf(real, source, isOfModule(source));
  state.source = source;
  state.real = Ref::borrow(real);
  state.pythonClass = Ref::borrow(reinterpret_cast<PyObject*>(Py_TYPE(real)));
  StandIn& added =
      add({StandIn::Kind::Opaque, makeProxy(std::move(state)), Ref::borrow(real), source, false, {}, {}, {}});
  return {added.value, source, false};
}

VariableTracker SideEffects::wrapList(PyObject* real, const SourcePtr& source) {
  Ref copy = emptyLike(real);
  // Known before its items are copied, for a list may hold itself.
  StandIn& added = add({StandIn::Kind::List, copy, Ref::borrow(real), source, false, {}, {}, {}});
  for (Py_ssize_t k = 0; k < PyList_GET_SIZE(real); ++k) {
    const Ref item = wrap(PyList_GET_ITEM(real, k), Source::item(source, Ref::steal(PyLong_FromSsize_t(k)))).value;
    PyList_Append(copy.get(), item.get());
    added.items.push_back(item);
  }
  copyOwnDict(real, copy.get());
  return {copy, source, false};
}

VariableTracker SideEffects::wrapDeque(PyObject* real, const SourcePtr& source) {
  const Ref list = Ref::steal(PySequence_List(real));
  std::vector<Ref> items;
  for (Py_ssize_t k = 0; k < PyList_GET_SIZE(list.get()); ++k)
    items.push_back(
        wrap(PyList_GET_ITEM(list.get(), k), Source::item(source, Ref::steal(PyLong_FromSsize_t(k)))).value);
  Ref copy = dequeLike(real, items);
  if (!copy) throw PythonRaised{};
  add({StandIn::Kind::List, copy, Ref::borrow(real), source, false, items, {}, {}});
  return {copy, source, false};
}

/// Of a named tuple by its field, of others by its place.
SourcePtr SideEffects::tupleItem(PyObject* tuple, const SourcePtr& source, Py_ssize_t place) const {
  const Ref fields = PyTuple_CheckExact(tuple) ? Ref() : attributeOf(tuple, "_fields");
  if (source && fields && PyTuple_Check(fields.get()) && place < PyTuple_GET_SIZE(fields.get()))
    return Source::attribute(source, textOf(PyTuple_GET_ITEM(fields.get(), place)));
  return Source::item(source, Ref::steal(PyLong_FromSsize_t(place)));
}

VariableTracker SideEffects::wrapTuple(PyObject* real, const SourcePtr& source) {
  const Py_ssize_t size = PyTuple_GET_SIZE(real);
  std::vector<Ref> items;
  for (Py_ssize_t k = 0; k < size; ++k)
    items.push_back(wrap(PyTuple_GET_ITEM(real, k), tupleItem(real, source, k)).value);
  Ref copy = tupleLike(real, items);
  add({StandIn::Kind::Tuple, copy, Ref::borrow(real), source, false, items, {}, {}});
  return {copy, source, false};
}

bool SideEffects::isHookTable(const SourcePtr& source) const {
  static constexpr std::array<std::string_view, 6> tables = {
      "_backward_hooks",    "_backward_pre_hooks",        "_forward_hooks",
      "_forward_pre_hooks", "_forward_hooks_with_kwargs", "_forward_pre_hooks_with_kwargs"};
  return source && source->kind() == Source::Kind::Attr && std::ranges::find(tables, source->text()) != tables.end() &&
         isOfModule(source->base());
}

/// Where a tensor is among the keys of a dict; -1: nowhere. Tensors are equal element by element, so only the same one is it.
static Py_ssize_t placeOfKey(PyObject* dict, PyObject* asked) {
  PyObject* key = nullptr;
  Py_ssize_t place = 0;
  for (Py_ssize_t at = 0; PyDict_Next(dict, &at, &key, nullptr) != 0; ++place)
    if (key == asked) return place;
  return -1;
}

SourcePtr SideEffects::dictItem(PyObject* dict, const SourcePtr& source, PyObject* key) const {
  if (isTensor(key))  // its text names no single item: the state of an optimizer
    if (const Py_ssize_t place = placeOfKey(dict, key); place >= 0) return Source::placedItem(source, place);
  if (!isHookTable(source)) return Source::item(source, Ref::borrow(key));
  const Ref keys = Ref::steal(PyDict_Keys(dict));
  const Py_ssize_t place = PySequence_Index(keys.get(), key);
  if (place < 0) throw PythonRaised{};
  return Source::placedItem(source, place);
}

VariableTracker SideEffects::wrapDict(PyObject* real, const SourcePtr& source) {
  Ref copy = emptyLike(real);
  Ref original = Ref::steal(PyDict_New());
  add({StandIn::Kind::Dict, copy, Ref::borrow(real), source, false, {}, original, {}});
  PyObject* key = nullptr;
  PyObject* value = nullptr;
  const Ref snapshot = Ref::steal(PyDict_Copy(real));
  const NativeScope native;
  Py_ssize_t place = 0;
  for (Py_ssize_t at = 0; snapshot && PyDict_Next(snapshot.get(), &at, &key, &value) != 0; ++place) {
    // A tensor is found under what stands for it.
    const Ref own = isTensor(key) ? wrap(key, Source::placedKey(source, place)).value : Ref::borrow(key);
    const Ref item = wrap(value, dictItem(snapshot.get(), source, key)).value;
    m_tracer.checkStatus(setRawItem(copy.get(), own.get(), item.get()));
    m_tracer.checkStatus(PyDict_SetItem(original.get(), own.get(), item.get()));
  }
  copyOwnDict(real, copy.get());
  return {copy, source, false};
}

VariableTracker SideEffects::wrapSet(PyObject* real, const SourcePtr& source) {
  // A tensor is found as what stands for it. The guard of the set says that it is the same one.
  Ref items = Ref::steal(PySequence_List(real));
  for (Py_ssize_t k = 0; items && k < PyList_GET_SIZE(items.get()); ++k)
    if (PyObject* item = PyList_GET_ITEM(items.get(), k); source && isTensor(item)) {
      const SourcePtr own =
          Source::constant("list(" + source->name() + ")[" + std::to_string(k) + "]", Ref::borrow(item));
      PyList_SetItem(items.get(), k, wrap(item, own).value.release());
    }
  if (!items) throw PythonRaised{};
  Ref copy = Ref::steal(PyObject_CallOneArg(reinterpret_cast<PyObject*>(Py_TYPE(real)), items.get()));
  if (!copy) throw PythonRaised{};
  if (copy.get() == real) copy = Ref::steal(PyFrozenSet_New(items.get()));
  StandIn standIn{StandIn::Kind::Set, copy, Ref::borrow(real), source, false, {}, {}, {}};
  standIn.original = Ref::steal(PyFrozenSet_New(items.get()));
  if (copy.get() == real) return {copy, source, true};
  add(std::move(standIn));
  return {copy, source, false};
}

VariableTracker SideEffects::wrapObject(PyObject* real, const SourcePtr& source) {
  Ref copy = allocateLike(real);
  if (!copy) return {Ref::borrow(real), source, true};
  if (source && isModule(real)) m_moduleSources.insert(source->name());
  add({StandIn::Kind::Object, copy, Ref::borrow(real), source, false, {}, Ref::steal(PyDict_New()), {}});
  return {copy, source, false};
}

VariableTracker SideEffects::wrapMethod(PyObject* real, const SourcePtr& source) {
  const bool ofContainer = isContainerMethod(real);
  PyObject* owner = ofContainer ? PyCFunction_GET_SELF(real) : PyMethod_GET_SELF(real);
  const Ref self = wrap(owner, Source::attribute(source, "__self__")).value;
  Ref method = ofContainer ? attributeOf(self.get(), reinterpret_cast<PyCFunctionObject*>(real)->m_ml->ml_name)
                           : Ref::steal(PyMethod_New(PyMethod_GET_FUNCTION(real), self.get()));
  add({StandIn::Kind::Opaque, method, Ref::borrow(real), source, false, {}, {}, {}});
  return {method, source, false};
}

VariableTracker SideEffects::wrapPartial(PyObject* real, const SourcePtr& source) {
  Ref copy = partialLike(real, [&](PyObject* part, const char* name) {
    VariableTracker made = wrap(part, Source::attribute(source, name));
    // The partial keeps containers of its own, which have no sources.
    m_tracer.realize(made);
    m_tracer.realizeDeep(made.get());
    return made.value;
  });
  if (!copy) throw PythonRaised{};
  add({StandIn::Kind::Opaque, copy, Ref::borrow(real), source, false, {}, {}, {}});
  return {copy, source, false};
}

VariableTracker SideEffects::cell(PyObject* real, const SourcePtr& source) {
  if (m_byValue.contains(real)) return {Ref::borrow(real), nullptr, false};
  if (const auto known = m_byReal.find(real); known != m_byReal.end())
    return {known->second->value, known->second->source, false};
  Ref contents;
  if (PyObject* held = PyCell_GET(real)) {
    // That it is an object known by another name is guarded when it is loaded.
    const auto twin = m_byReal.find(held);
    contents =
        twin != m_byReal.end() ? twin->second->value : wrap(held, Source::attribute(source, "cell_contents")).value;
  }
  Ref copy = Ref::steal(PyCell_New(contents.get()));
  add({StandIn::Kind::Cell, copy, Ref::borrow(real), source, true, {}, {}, contents});
  return {copy, source, false};
}

void SideEffects::adoptCell(const Ref& cell, const SourcePtr& source) {
  Ref contents = Ref::borrow(PyCell_GET(cell.get()));
  add({StandIn::Kind::Cell, cell, cell, source, true, {}, {}, contents});
}

VariableTracker SideEffects::ownAttribute(StandIn& standIn, const char* name) {
  PyObject* mine = ownDictOf(standIn.value.get());
  PyObject* original = standIn.original.get();
  if (PyObject* held = mine ? PyDict_GetItemString(mine, name) : nullptr) {
    const bool unchanged = standIn.source && PyDict_GetItemString(original, name) == held;
    return {Ref::borrow(held), unchanged ? Source::attribute(standIn.source, name) : nullptr,
            unchanged && find(held) == nullptr};
  }
  if (PyDict_GetItemString(original, name) != nullptr) return {};
  PyObject* theirs = ownDictOf(standIn.real.get());
  PyObject* held = theirs ? PyDict_GetItemString(theirs, name) : nullptr;
  if (held == nullptr || mine == nullptr) return {};
  VariableTracker wrapped = wrap(held, Source::attribute(standIn.source, name));
  PyDict_SetItemString(mine, name, wrapped.get());
  PyDict_SetItemString(original, name, wrapped.get());
  return wrapped;
}

VariableTracker SideEffects::slotAttribute(StandIn& standIn, PyObject* descriptor, const std::string& name) {
  PyObject* first = standIn.slots ? PyDict_GetItemString(standIn.slots.get(), name.c_str()) : nullptr;
  if (const Ref held = slotValue(standIn.value.get(), descriptor)) {
    const bool unchanged = standIn.source && first == held.get();
    return {held, unchanged ? Source::attribute(standIn.source, name) : nullptr,
            unchanged && find(held.get()) == nullptr};
  }
  const Ref real = first == nullptr ? slotValue(standIn.real.get(), descriptor) : Ref();
  if (!real) return {};
  VariableTracker made = wrap(real.get(), Source::attribute(standIn.source, name));
  if (!standIn.slots) standIn.slots = Ref::steal(PyDict_New());
  PyDict_SetItemString(standIn.slots.get(), name.c_str(), made.get());
  m_tracer.checkStatus(Py_TYPE(descriptor)->tp_descr_set(descriptor, standIn.value.get(), made.get()));
  return made;
}

void SideEffects::completeObject(StandIn& standIn) {
  for (const auto& [name, descriptor] : slotsOf(standIn.real.get())) slotAttribute(standIn, descriptor, name);
  PyObject* theirs = ownDictOf(standIn.real.get());
  if (theirs == nullptr) return;
  const Ref names = Ref::steal(PyDict_Keys(theirs));
  for (Py_ssize_t k = 0; k < PyList_GET_SIZE(names.get()); ++k) {
    const char* name = PyUnicode_AsUTF8(PyList_GET_ITEM(names.get(), k));
    if (name != nullptr) ownAttribute(standIn, name);
  }
}

SourcePtr SideEffects::itemSource(const StandIn& standIn, PyObject* key, PyObject* item) const {
  if (standIn.kind == StandIn::Kind::Dict) {
    PyObject* before = PyDict_GetItemWithError(standIn.original.get(), key);
    PyErr_Clear();
    if (before != item) return nullptr;
    const ProxyState* tensor = proxyOf(key);
    return dictItem(standIn.original.get(), standIn.source, tensor && tensor->real ? tensor->real.get() : key);
  }
  if (!PyLong_CheckExact(key)) return nullptr;
  Py_ssize_t index = PyLong_AsSsize_t(key);
  const auto size = static_cast<Py_ssize_t>(standIn.items.size());
  if (index < 0) index += PyList_Check(standIn.value.get()) ? PyList_GET_SIZE(standIn.value.get()) : size;
  if (index < 0 || index >= size || standIn.items[static_cast<std::size_t>(index)].get() != item) return nullptr;
  if (standIn.kind == StandIn::Kind::Tuple) return tupleItem(standIn.real.get(), standIn.source, index);
  return Source::item(standIn.source, Ref::steal(PyLong_FromSsize_t(index)));
}

void SideEffects::storeGlobal(PyObject* globals, const std::string& name, Ref value) {
  for (GlobalWrite& write : m_globals)
    if (write.globals.get() == globals && write.name == name) {
      write.value = std::move(value);
      return;
    }
  m_globals.push_back({Ref::borrow(globals), name, std::move(value)});
}

const Ref* SideEffects::writtenGlobal(PyObject* globals, const std::string& name) const {
  for (const GlobalWrite& write : m_globals)
    if (write.globals.get() == globals && write.name == name) return &write.value;
  return nullptr;
}

}  // namespace kerf::inline dynamo
