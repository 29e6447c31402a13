// What differs at the end of a trace from what was there at first.
#include "engine/dynamo/side_effects.h"
#include "engine/dynamo/stand_ins.h"
#include "engine/dynamo/tensor_proxy.h"

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

Effect whole(Effect::Kind kind, const StandIn& standIn) { return {kind, standIn.value, {}, standIn.value}; }

}  // namespace

void SideEffects::objectChanges(StandIn& standIn, std::vector<Effect>& into) {
  PyObject* now = ownDictOf(standIn.value.get());
  PyObject *key = nullptr, *value = nullptr;
  for (Py_ssize_t at = 0; now && PyDict_Next(now, &at, &key, &value) != 0;)
    if (PyDict_GetItemWithError(standIn.original.get(), key) != value)
      into.push_back({Effect::Kind::SetAttr, standIn.value, textOf(key), Ref::borrow(value)});
  for (Py_ssize_t at = 0; standIn.original && PyDict_Next(standIn.original.get(), &at, &key, &value) != 0;)
    if (now && PyDict_Contains(now, key) == 0) into.push_back({Effect::Kind::DelAttr, standIn.value, textOf(key), {}});
}

std::vector<Effect> SideEffects::changes() {
  std::vector<Effect> found;
  for (const auto& held : m_standIns) {
    StandIn& standIn = *held;
    PyObject* value = standIn.value.get();
    switch (standIn.kind) {
      case StandIn::Kind::List:
        if (!sameItems(standIn)) found.push_back(whole(Effect::Kind::ListContents, standIn));
        break;
      case StandIn::Kind::Dict:
        if (!sameDict(value, standIn.original.get())) found.push_back(whole(Effect::Kind::DictContents, standIn));
        break;
      case StandIn::Kind::Set:
        if (!sameSet(value, standIn.original.get())) found.push_back(whole(Effect::Kind::SetContents, standIn));
        break;
      case StandIn::Kind::Object:
        objectChanges(standIn, found);
        break;
      case StandIn::Kind::Cell:
        if (PyCell_GET(value) != standIn.contents.get())
          found.push_back({Effect::Kind::CellContents, standIn.value, {}, Ref::borrow(PyCell_GET(value))});
        break;
      case StandIn::Kind::Tuple:
      case StandIn::Kind::Opaque:
        break;
    }
    if (const ProxyState* proxy = proxyOf(value); proxy && proxy->attributes) {
      PyObject *key = nullptr, *item = nullptr;
      for (Py_ssize_t at = 0; PyDict_Next(proxy->attributes.get(), &at, &key, &item) != 0;)
        found.push_back({Effect::Kind::TensorAttr, standIn.value, textOf(key), Ref::borrow(item)});
    }
  }
  for (const GlobalWrite& write : m_globals)
    found.push_back({Effect::Kind::Global, write.globals, write.name, write.value});
  return found;
}

}  // namespace kerf::inline dynamo
