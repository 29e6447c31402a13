// What differs at the end of a trace from what was there at first.
#include <optional>

#include "engine/dynamo/side_effects.h"
#include "engine/dynamo/stand_ins.h"
#include "engine/dynamo/tensor_proxy.h"
#include "engine/dynamo/tracer.h"
#include "engine/dynamo/values.h"

namespace kerf::inline dynamo {
namespace {

bool sameItems(const StandIn& standIn) {
  const auto size = static_cast<Py_ssize_t>(standIn.items.size());
  const Ref list = PyList_Check(standIn.value.get()) ? standIn.value : Ref::steal(PySequence_List(standIn.value.get()));
  if (!list || PyList_GET_SIZE(list.get()) != size) return false;
  for (Py_ssize_t k = 0; k < size; ++k)
    if (PyList_GET_ITEM(list.get(), k) != standIn.items[static_cast<std::size_t>(k)].get()) return false;
  return true;
}

bool sameDict(PyObject* now, PyObject* before) {
  if (PyDict_GET_SIZE(now) != PyDict_GET_SIZE(before)) return false;
  PyObject *key = nullptr, *value = nullptr, *oldKey = nullptr, *oldValue = nullptr;
  Py_ssize_t at = 0;
  Py_ssize_t oldAt = 0;
  while (PyDict_Next(now, &at, &key, &value) != 0 && PyDict_Next(before, &oldAt, &oldKey, &oldValue) != 0)
    if (value != oldValue || PyObject_RichCompareBool(key, oldKey, Py_EQ) != 1) return false;
  return true;
}

bool sameSet(PyObject* now, PyObject* before) { return PyObject_RichCompareBool(now, before, Py_EQ) == 1; }

/// A list's new end.
Effect newEnd(const StandIn& standIn) {
  PyObject* now = standIn.value.get();
  const Py_ssize_t size = PyList_GET_SIZE(now);
  Py_ssize_t kept = 0;
  while (kept < size && kept < std::ssize(standIn.items) &&
         PyList_GET_ITEM(now, kept) == standIn.items[static_cast<std::size_t>(kept)].get())
    ++kept;
  return {Effect::Kind::ListContents, standIn.value, {}, Ref::steal(PyList_GetSlice(now, kept, size)), kept, {}};
}

/// Entries that are new or differ, where the others keep their order; nothing where all have to be written again.
std::optional<Effect> newEntries(const StandIn& standIn) {
  PyObject *now = standIn.value.get(), *before = standIn.original.get();
  if (PyODict_Check(now)) return std::nullopt;
  const Ref entries = Ref::steal(PyDict_New()), removed = Ref::steal(PyList_New(0)), kept = Ref::steal(PyList_New(0));
  PyObject *key = nullptr, *value = nullptr;
  for (Py_ssize_t at = 0; PyDict_Next(before, &at, &key, &value) != 0;) {
    if (!isConstant(key)) return std::nullopt;
    PyList_Append(PyDict_Contains(now, key) == 1 ? kept.get() : removed.get(), key);
  }
  Py_ssize_t place = 0;
  for (Py_ssize_t at = 0; PyDict_Next(now, &at, &key, &value) != 0; ++place) {
    if (!isConstant(key)) return std::nullopt;
    const bool isOld = place < PyList_GET_SIZE(kept.get());
    if (isOld && PyObject_RichCompareBool(key, PyList_GET_ITEM(kept.get(), place), Py_EQ) != 1) return std::nullopt;
    if (!isOld || PyDict_GetItemWithError(before, key) != value) PyDict_SetItem(entries.get(), key, value);
  }
  return Effect{Effect::Kind::DictContents, standIn.value, {}, entries, 0, removed};
}

Effect whole(Effect::Kind kind, const StandIn& standIn) { return {kind, standIn.value, {}, standIn.value, 0, {}}; }

}  // namespace

void SideEffects::slotChanges(const StandIn& standIn, std::vector<Effect>& into) {
  for (const auto& [name, descriptor] : slotsOf(standIn.value.get())) {
    const Ref now = slotValue(standIn.value.get(), descriptor);
    PyObject* before = standIn.slots ? PyDict_GetItemString(standIn.slots.get(), name.c_str()) : nullptr;
    if (now && now.get() != before)
      into.push_back({Effect::Kind::SetAttr, standIn.value, name, now, 0, {}});
    else if (!now && before != nullptr)
      into.push_back({Effect::Kind::DelAttr, standIn.value, name, {}, 0, {}});
  }
}

void SideEffects::objectChanges(StandIn& standIn, std::vector<Effect>& into) {
  slotChanges(standIn, into);
  PyObject* now = ownDictOf(standIn.value.get());
  PyObject *key = nullptr, *value = nullptr;
  for (Py_ssize_t at = 0; now && PyDict_Next(now, &at, &key, &value) != 0;)
    if (PyDict_GetItemWithError(standIn.original.get(), key) != value)
      into.push_back({Effect::Kind::SetAttr, standIn.value, textOf(key), Ref::borrow(value), 0, {}});
  for (Py_ssize_t at = 0; standIn.original && PyDict_Next(standIn.original.get(), &at, &key, &value) != 0;)
    if (now && PyDict_Contains(now, key) == 0)
      into.push_back({Effect::Kind::DelAttr, standIn.value, textOf(key), {}, 0, {}});
}

/// Written again as a whole, it must hold what it held: that is guarded.
Effect SideEffects::dictChange(const StandIn& standIn) {
  if (std::optional<Effect> entries = newEntries(standIn)) return *std::move(entries);
  m_tracer.realizeDeep(standIn.value.get());
  return whole(Effect::Kind::DictContents, standIn);
}

std::vector<Effect> SideEffects::changes() {
  std::vector<Effect> found;
  for (const auto& held : m_standIns) {
    StandIn& standIn = *held;
    PyObject* value = standIn.value.get();
    switch (standIn.kind) {
      case StandIn::Kind::List:
        if (!sameItems(standIn))
          found.push_back(PyList_Check(value) ? newEnd(standIn) : whole(Effect::Kind::ListContents, standIn));
        break;
      case StandIn::Kind::Dict:
        if (!sameDict(value, standIn.original.get())) found.push_back(dictChange(standIn));
        break;
      case StandIn::Kind::Set:
        if (!sameSet(value, standIn.original.get())) found.push_back(whole(Effect::Kind::SetContents, standIn));
        break;
      case StandIn::Kind::Object:
        objectChanges(standIn, found);
        break;
      case StandIn::Kind::Cell:
        if (PyCell_GET(value) != standIn.contents.get())
          found.push_back({Effect::Kind::CellContents, standIn.value, {}, Ref::borrow(PyCell_GET(value)), 0, {}});
        break;
      case StandIn::Kind::Tuple:
      case StandIn::Kind::Opaque:
        break;
    }
    if (const ProxyState* proxy = proxyOf(value); proxy && proxy->attributes) {
      PyObject *key = nullptr, *item = nullptr;
      for (Py_ssize_t at = 0; PyDict_Next(proxy->attributes.get(), &at, &key, &item) != 0;)
        found.push_back({Effect::Kind::TensorAttr, standIn.value, textOf(key), Ref::borrow(item), 0, {}});
    }
  }
  for (const GlobalWrite& write : m_globals)
    found.push_back({Effect::Kind::Global, write.globals, write.name, write.value, 0, {}});
  return found;
}

}  // namespace kerf::inline dynamo
