#include "engine/dynamo/tracked_iterators.h"

#include <string_view>

#include "engine/dynamo/stand_ins.h"
#include "engine/dynamo/values.h"

namespace kerf::inline dynamo {
namespace {

using Shape = TrackedIterator::Shape;

bool isPlainSequence(PyObject* object) { return PyList_CheckExact(object) || PyTuple_CheckExact(object); }

/// A constant of a container that is still what was there: it is guarded when it is looked at.
VariableTracker itemAt(FrameTracer& tracer, PyObject* container, PyObject* key, PyObject* item) {
  VariableTracker made{Ref::borrow(item), nullptr, false};
  const StandIn* standIn = tracer.effects.find(container);
  if (standIn == nullptr || !standIn->source || tracer.effects.find(item) != nullptr) return made;
  made.source = tracer.effects.itemSource(*standIn, key, item);
  made.lazy = made.source != nullptr;
  if (!made.source) tracer.realizeDeep(container);
  return made;
}

VariableTracker itemAt(FrameTracer& tracer, PyObject* container, Py_ssize_t place, PyObject* item) {
  if (std::optional<VariableTracker> tracked = itemOfTracked(tracer, container, item, place)) return *tracked;
  return itemAt(tracer, container, Ref::steal(PyLong_FromSsize_t(place)).get(), item);
}

PyObject* viewedDict(PyObject* view) {
  return reinterpret_cast<PyObject*>(reinterpret_cast<_PyDictViewObject*>(view)->dv_dict);
}

bool hasPlainKeys(PyObject* dict) {
  PyObject* key = nullptr;
  for (Py_ssize_t at = 0; PyDict_Next(dict, &at, &key, nullptr) != 0;)
    if (!isConstant(key)) return false;
  return true;
}

void keep(FrameTracer& tracer, const Ref& iterator, Shape shape, std::vector<Ref> parts, Py_ssize_t start) {
  tracer.iterators[iterator.get()] = {iterator, std::move(parts), shape, start};
}

/// The sources of the parts of a tuple that an iterator gave.
std::vector<VariableTracker> partsOf(FrameTracer& tracer, const TrackedIterator& from, PyObject* tuple) {
  std::vector<VariableTracker> parts;
  if (from.shape == Shape::Enumerate) {
    parts.push_back({Ref::borrow(PyTuple_GET_ITEM(tuple, 0)), nullptr, false});
    parts.push_back(itemAt(tracer, from.parts[0].get(), from.next, PyTuple_GET_ITEM(tuple, 1)));
  } else if (from.shape == Shape::Items) {
    PyObject* key = PyTuple_GET_ITEM(tuple, 0);
    parts.push_back({Ref::borrow(key), nullptr, false});
    parts.push_back(itemAt(tracer, from.parts[0].get(), key, PyTuple_GET_ITEM(tuple, 1)));
  } else {
    for (std::size_t k = 0; k < from.parts.size(); ++k)
      parts.push_back(itemAt(tracer, from.parts[k].get(), from.next, PyTuple_GET_ITEM(tuple, Py_ssize_t(k))));
  }
  return parts;
}

}  // namespace

std::optional<VariableTracker> callTrackedIterator(InstructionTranslator& t, PyObject* callable, PyObject* args,
                                                   PyObject* kwargs, std::vector<VariableTracker>& sources) {
  const bool isEnumerate = callable == reinterpret_cast<PyObject*>(&PyEnum_Type);
  const bool isZip = callable == reinterpret_cast<PyObject*>(&PyZip_Type);
  const Py_ssize_t count = PyTuple_GET_SIZE(args);
  if ((!isEnumerate && !isZip) || kwargs != nullptr || count == 0 || (isEnumerate && count != 1)) return std::nullopt;
  std::vector<Ref> parts;
  for (Py_ssize_t k = 0; k < count; ++k) {
    if (!isPlainSequence(PyTuple_GET_ITEM(args, k))) return std::nullopt;
    parts.push_back(Ref::borrow(PyTuple_GET_ITEM(args, k)));
  }
  for (VariableTracker& source : sources) t.tracer().realize(source);
  for (const Ref& part : parts) {
    VariableTracker whole{part, nullptr, false};
    t.tracer().realize(whole);
  }
  Ref made = t.tracer().checked(PyObject_Call(callable, args, nullptr));
  keep(t.tracer(), made, isEnumerate ? Shape::Enumerate : Shape::Zip, std::move(parts), 0);
  return VariableTracker{std::move(made), nullptr, false};
}

std::optional<Ref> trackedIterator(FrameTracer& tracer, PyObject* container) {
  if (tracer.iterators.contains(container)) return Ref::borrow(container);
  const StandIn* standIn = tracer.effects.find(container);
  if ((standIn != nullptr && standIn->source && isPlainSequence(container)) ||
      tracer.trackedTuples.contains(container)) {
    Ref iterator = tracer.checked(PyObject_GetIter(container));
    keep(tracer, iterator, Shape::Plain, {Ref::borrow(container)}, 0);
    return iterator;
  }
  if (standIn != nullptr && standIn->source && PyDict_CheckExact(container) && hasPlainKeys(container)) {
    tracer.guardKeys(container, true);
    return tracer.checked(PyObject_GetIter(container));
  }
  const bool isItems = PyDictItems_Check(container), isValues = PyDictValues_Check(container);
  if (!isItems && !isValues) return std::nullopt;
  PyObject* dict = viewedDict(container);
  standIn = tracer.effects.find(dict);
  if (standIn == nullptr || !standIn->source || !PyDict_CheckExact(dict)) return std::nullopt;
  Ref iterator = tracer.checked(PyObject_GetIter(container));
  std::vector<Ref> parts{Ref::borrow(dict)};
  if (isValues) parts.push_back(Ref::steal(PyDict_Keys(dict)));
  keep(tracer, iterator, isItems ? Shape::Items : Shape::Values, std::move(parts), 0);
  return iterator;
}

VariableTracker trackedItem(FrameTracer& tracer, PyObject* iterator, const Ref& item, bool unpacks) {
  const auto found = tracer.iterators.find(iterator);
  if (found == tracer.iterators.end()) return {item, nullptr, false};
  TrackedIterator& from = found->second;
  const Py_ssize_t place = from.next;
  VariableTracker made{item, nullptr, false};
  if (from.shape == Shape::Plain) {
    made = itemAt(tracer, from.parts[0].get(), place, item.get());
  } else if (from.shape == Shape::Values) {
    if (place < PyList_GET_SIZE(from.parts[1].get()))
      made = itemAt(tracer, from.parts[0].get(), PyList_GET_ITEM(from.parts[1].get(), place), item.get());
  } else if (unpacks) {
    tracer.trackedTuples[item.get()] = {item, partsOf(tracer, from, item.get())};
  } else {
    for (const Ref& part : from.parts) tracer.realizeDeep(part.get());
  }
  ++from.next;
  return made;
}

std::optional<VariableTracker> itemOfTracked(FrameTracer& tracer, PyObject* tuple, PyObject* item, Py_ssize_t place) {
  const auto found = tracer.trackedTuples.find(tuple);
  if (found == tracer.trackedTuples.end()) return std::nullopt;
  const std::vector<VariableTracker>& parts = found->second.second;
  const auto at = static_cast<std::size_t>(place);
  if (at >= parts.size() || parts[at].get() != item) return std::nullopt;
  return parts[at];
}

void guardMethodUse(FrameTracer& tracer, PyObject* object, const char* method) {
  const StandIn* standIn = tracer.effects.find(object);
  if (standIn == nullptr || standIn->kind != StandIn::Kind::Object || !standIn->source) return;
  if (ownDictOf(standIn->real.get()) == nullptr) return;
  PyObject* found = _PyType_Lookup(Py_TYPE(object), makeText(method).get());
  if (found != nullptr && PyFunction_Check(found))
    tracer.addGuard(presenceGuard(standIn->source, makeText(method), false));
}

void guardIteration(FrameTracer& tracer, PyObject* object) {
  const StandIn* standIn = tracer.effects.find(object);
  if (standIn == nullptr || standIn->kind != StandIn::Kind::Object || !standIn->source) return;
  tracer.addGuard(hasAttributeGuard(standIn->source, "__iter__", true));
  guardMethodUse(tracer, object, "__iter__");
}

}  // namespace kerf::inline dynamo
