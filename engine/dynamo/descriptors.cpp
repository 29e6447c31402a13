#include "engine/dynamo/descriptors.h"

#include <string_view>

#include "engine/dynamo/stand_ins.h"
#include "engine/dynamo/values.h"

namespace kerf::inline dynamo {
namespace {

/// A method of the descriptor's class in Python; null where it is written in C.
PyObject* pythonMethod(PyObject* descriptor, const char* name) {
  PyTypeObject* type = Py_TYPE(descriptor);
  if ((type->tp_flags & Py_TPFLAGS_HEAPTYPE) == 0) return nullptr;
  PyObject* method = _PyType_Lookup(type, makeText(name).get());
  return method != nullptr && PyFunction_Check(method) ? method : nullptr;
}

bool isProperty(PyObject* found) { return Py_TYPE(found) == &PyProperty_Type; }

Py_ssize_t placeInMro(PyTypeObject* type, PyObject* key) {
  for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(type->tp_mro); ++k) {
    PyObject* dict = reinterpret_cast<PyTypeObject*>(PyTuple_GET_ITEM(type->tp_mro, k))->tp_dict;
    if (dict != nullptr && PyDict_Contains(dict, key) == 1) return k;
  }
  return -1;
}

SourcePtr inMro(const SourcePtr& type, Py_ssize_t place) {
  return Source::item(Source::attribute(type, "__mro__"), Ref::steal(PyLong_FromSsize_t(place)));
}

void guardNotShadowed(FrameTracer& tracer, const StandIn& standIn, const std::string& name) {
  PyObject* own = standIn.source ? ownDictOf(standIn.real.get()) : nullptr;
  if (own == nullptr || PyDict_GetItemString(own, name.c_str()) != nullptr) return;
  tracer.addGuard(presenceGuard(standIn.source, makeText(name), false));
}

/// super().__torch_function__ of a tensor's class, which PyTorch's graph has as a global.
void guardSuperOfTensor(FrameTracer& tracer, PyObject* super) {
  const Ref self = attributeOf(super, "__self__"), from = attributeOf(super, "__thisclass__");
  if (!self || !from || !PyType_Check(self.get())) return;
  auto* type = reinterpret_cast<PyTypeObject*>(self.get());
  for (Py_ssize_t k = 0; k + 1 < PyTuple_GET_SIZE(type->tp_mro); ++k) {
    if (PyTuple_GET_ITEM(type->tp_mro, k) != from.get()) continue;
    Guard guard;
    guard.kind = "CLOSURE_MATCH";
    guard.source = Source::constant("type:" + std::string(type->tp_name), self);
    guard.about = "G['__subclass_" + textOf(attributeOf(self.get(), "__name__").get()) + "'].__mro__[" +
                  std::to_string(k + 1) + "].__torch_function__.__func__";
    guard.leaf = "ID_MATCH: " + guard.about;
    guard.check = [kept = self](PyObject* now, const FrameScope&) { return now == kept.get(); };
    return tracer.addGuard(std::move(guard));
  }
}

}  // namespace

SourcePtr classSource(FrameTracer& tracer, PyTypeObject* type, const SourcePtr& object) {
  if (object) return Source::type(object);
  const auto known = tracer.met.find(reinterpret_cast<PyObject*>(type));
  if (known != tracer.met.end()) return known->second;
  return Source::constant("type:" + std::string(type->tp_name), Ref::borrow(reinterpret_cast<PyObject*>(type)));
}

SourcePtr classItemSource(FrameTracer& tracer, PyTypeObject* type, const SourcePtr& object, const std::string& name) {
  const Ref key = makeText(name);
  SourcePtr holder = classSource(tracer, type, object);
  if (const Py_ssize_t place = placeInMro(type, key.get()); place > 0) holder = inMro(holder, place);
  return Source::item(Source::typeDict(holder), key);
}

void guardNotOverridden(FrameTracer& tracer, PyTypeObject* type, const SourcePtr& object, const std::string& name) {
  const Ref key = makeText(name);
  const SourcePtr own = classSource(tracer, type, object);
  const Py_ssize_t place = placeInMro(type, key.get());
  for (Py_ssize_t k = 0; k < place; ++k) {
    Guard guard = containsGuard(Source::typeDict(k == 0 ? own : inMro(own, k)), key, false);
    guard.isInternal = true;
    tracer.addGuard(std::move(guard));
  }
}

bool isPythonDescriptor(PyObject* found) {
  if (isProperty(found)) {
    const Ref getter = attributeOf(found, "fget");
    return getter && PyFunction_Check(getter.get());
  }
  return pythonMethod(found, "__get__") != nullptr;
}

VariableTracker callDescriptor(InstructionTranslator& t, const VariableTracker& object, const StandIn& standIn,
                               PyObject* found, const std::string& name) {
  FrameTracer& tracer = t.tracer();
  PyTypeObject* type = Py_TYPE(object.get());
  guardNotShadowed(tracer, standIn, name);
  const SourcePtr source = classItemSource(tracer, type, standIn.source, name);
  if (isProperty(found)) {
    const SourcePtr getter = standIn.source ? Source::attribute(source, "fget") : nullptr;
    return t.call({attributeOf(found, "fget"), getter, getter != nullptr}, {object}, nullptr);
  }
  VariableTracker descriptor = tracer.effects.wrap(found, source);
  tracer.realize(descriptor);
  const Ref bound = Ref::steal(PyMethod_New(pythonMethod(found, "__get__"), descriptor.get()));
  const VariableTracker owner{Ref::borrow(reinterpret_cast<PyObject*>(type)), nullptr, false};
  return t.call({bound, nullptr, false}, {object, owner}, nullptr);
}

bool setByDescriptor(InstructionTranslator& t, const VariableTracker& object, const StandIn& standIn,
                     const std::string& name, PyObject* value) {
  PyTypeObject* type = Py_TYPE(object.get());
  PyObject* setattr = _PyType_Lookup(type, makeText("__setattr__").get());
  PyObject* found = _PyType_Lookup(type, makeText(name).get());
  if (value == nullptr || found == nullptr || (setattr != nullptr && PyFunction_Check(setattr))) return false;
  PyObject* set = pythonMethod(found, "__set__");
  if (set == nullptr) return false;
  FrameTracer& tracer = t.tracer();
  const SourcePtr source = classItemSource(tracer, type, standIn.source, name);
  VariableTracker descriptor = tracer.effects.wrap(found, source);
  tracer.realize(descriptor);
  tracer.addGuard(constantGuard(set, Source::attribute(Source::type(source), "__set__")));
  const Ref bound = Ref::steal(PyMethod_New(set, descriptor.get()));
  t.call({bound, nullptr, false}, {object, {Ref::borrow(value), nullptr, false}}, nullptr);
  return true;
}

void guardSuperMethod(FrameTracer& tracer, PyObject* super, PyObject* method, const std::string& name) {
  if (name == "__torch_function__") guardSuperOfTensor(tracer, super);
  if (!PyMethod_Check(method) || !PyFunction_Check(PyMethod_GET_FUNCTION(method))) return;
  PyObject* self = PyMethod_GET_SELF(method);
  const StandIn* standIn = tracer.effects.find(self);
  const Ref from = attributeOf(super, "__thisclass__");
  if (standIn == nullptr || !standIn->source || !from) return;
  PyTypeObject* type = Py_TYPE(self);
  const Ref key = makeText(name);
  bool isPast = false;
  for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(type->tp_mro); ++k) {
    PyObject* at = PyTuple_GET_ITEM(type->tp_mro, k);
    PyObject* dict = reinterpret_cast<PyTypeObject*>(at)->tp_dict;
    if (isPast && PyDict_Contains(dict, key.get()) == 1) {
      const SourcePtr place = Source::attribute(inMro(Source::type(standIn->source), k), name);
      tracer.addGuard(constantGuard(PyMethod_GET_FUNCTION(method), place));
      return;
    }
    isPast = isPast || at == from.get();
  }
}

}  // namespace kerf::inline dynamo
