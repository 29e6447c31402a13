// Attributes of objects of the program, read from copies; CPython's own lookup for everything else.
#include <string_view>

#include "engine/dynamo/instruction_translator.h"
#include "engine/dynamo/modules.h"
#include "engine/dynamo/stand_ins.h"
#include "engine/dynamo/tensor_calls.h"
#include "engine/dynamo/values.h"

namespace kerf::inline dynamo {
namespace {

[[noreturn]] void noAttribute(PyObject* object, const std::string& name) {
  PyErr_Format(PyExc_AttributeError, "'%s' object has no attribute '%s'", typeNameOf(object).c_str(), name.c_str());
  throw PythonRaised{};
}

bool isData(PyObject* descriptor) { return descriptor != nullptr && Py_TYPE(descriptor)->tp_descr_set != nullptr; }

SourcePtr classSource(PyTypeObject* type) {
  return Source::constant("type:" + std::string(type->tp_name), Ref::borrow(reinterpret_cast<PyObject*>(type)));
}

/// An attribute in __slots__: copied at its first use.
VariableTracker slotAttribute(FrameTracer& tracer, StandIn& standIn, PyObject* member, const std::string& name) {
  const Ref mine = Ref::steal(PyObject_GenericGetAttr(standIn.value.get(), makeText(name).get()));
  if (mine) return {mine, nullptr, false};
  PyErr_Clear();
  const Ref real = tracer.checked(Py_TYPE(member)->tp_descr_get(
      member, standIn.real.get(), reinterpret_cast<PyObject*>(Py_TYPE(standIn.real.get()))));
  VariableTracker made = tracer.effects.wrap(real.get(), Source::attribute(standIn.source, name));
  tracer.checkStatus(Py_TYPE(member)->tp_descr_set(member, standIn.value.get(), made.get()));
  return made;
}

/// What a class gives for an attribute that the object itself does not have.
VariableTracker fromClass(FrameTracer& tracer, const VariableTracker& object, const StandIn& standIn, PyObject* found,
                          const std::string& name) {
  PyTypeObject* type = Py_TYPE(object.get());
  for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(type->tp_mro); ++k)
    if (const Ref* written = tracer.effects.writtenGlobal(PyTuple_GET_ITEM(type->tp_mro, k), name))
      return {*written, nullptr, false};
  if (standIn.source && ownDictOf(standIn.real.get()) != nullptr && PyFunction_Check(found))
    tracer.addGuard(presenceGuard(standIn.source, makeText(name), false));
  const descrgetfunc get = Py_TYPE(found)->tp_descr_get;
  if (get != nullptr)
    return {tracer.checked(get(found, object.get(), reinterpret_cast<PyObject*>(type))), nullptr, false};
  const SourcePtr source =
      standIn.source ? Source::attribute(standIn.source, name) : Source::attribute(classSource(type), name);
  return tracer.effects.wrap(found, source);
}

/// What a module does not have in one table is looked for in the next.
void guardAbsence(FrameTracer& tracer, PyObject* dict, const Ref& key) {
  const StandIn* held = tracer.effects.find(dict);
  if (held == nullptr || !held->source) return;
  Guard guard = containsGuard(held->source, key, false);
  guard.isInternal = true;
  tracer.addGuard(std::move(guard));
}

/// Parameters, children and buffers of an nn.Module, in that order (manually_trace_nn_module_getattr).
VariableTracker fromModule(FrameTracer& tracer, StandIn& standIn, const std::string& name) {
  for (const char* table : {"_parameters", "_modules", "_buffers"}) {
    VariableTracker dict = tracer.effects.ownAttribute(standIn, table);
    if (!dict || !PyDict_Check(dict.get())) continue;
    tracer.realize(dict);
    const Ref key = makeText(name);
    PyObject* item = PyDict_GetItemWithError(dict.get(), key.get());
    if (item == nullptr) {
      guardAbsence(tracer, dict.get(), key);
      continue;
    }
    VariableTracker made{Ref::borrow(item), nullptr, false};
    const StandIn* held = tracer.effects.find(dict.get());
    if (held != nullptr && tracer.effects.find(item) == nullptr) {
      made.source = tracer.effects.itemSource(*held, key.get(), item);
      made.lazy = made.source != nullptr;
    }
    tracer.noteTensor(item);
    return made;
  }
  return {};
}

VariableTracker objectAttribute(InstructionTranslator& t, const VariableTracker& object, StandIn& standIn,
                                const std::string& name) {
  FrameTracer& tracer = t.tracer();
  PyTypeObject* type = Py_TYPE(object.get());
  const Ref key = makeText(name);
  if (type->tp_getattro != PyObject_GenericGetAttr && !hasDefaultLookup(type)) {
    tracer.effects.completeObject(standIn);
    return {tracer.checked(PyObject_GetAttr(object.get(), key.get())), nullptr, false};
  }
  PyObject* found = _PyType_Lookup(type, key.get());
  if (isData(found)) {
    if (Py_TYPE(found) == &PyMemberDescr_Type) return slotAttribute(tracer, standIn, found, name);
    if (name == "__dict__") tracer.effects.completeObject(standIn);
    return {tracer.checked(PyObject_GenericGetAttr(object.get(), key.get())), nullptr, false};
  }
  if (VariableTracker own = tracer.effects.ownAttribute(standIn, name.c_str())) return own;
  if (found != nullptr) return fromClass(tracer, object, standIn, found, name);
  if (isModule(object.get()))
    if (VariableTracker held = fromModule(tracer, standIn, name)) return held;
  PyObject* fallback = _PyType_Lookup(type, makeText("__getattr__").get());
  if (fallback == nullptr) noAttribute(object.get(), name);
  const VariableTracker bound{Ref::steal(PyMethod_New(fallback, object.get())), nullptr, false};
  return t.call(bound, {{key, nullptr, false}}, nullptr);
}

/// Of a Python module or a class: the real object's, which a guard watches.
VariableTracker namespaceAttribute(InstructionTranslator& t, const VariableTracker& object, const std::string& name) {
  FrameTracer& tracer = t.tracer();
  if (const Ref* written = tracer.effects.writtenGlobal(
          PyModule_Check(object.get()) ? PyModule_GetDict(object.get()) : object.get(), name))
    return {*written, nullptr, false};
  const Ref value = tracer.checked(PyObject_GetAttrString(object.get(), name.c_str()));
  const bool ofClass = PyMethod_Check(value.get()) && PyType_Check(PyMethod_GET_SELF(value.get()));
  if (ofClass) return {value, nullptr, false};
  if (isTorchNamespace(object.get()))
    return object.source && (isConstant(value.get()) || !graphFunctionName(value.get()).empty() ||
                             std::string_view(Py_TYPE(value.get())->tp_name) == "torch.dtype")
               ? VariableTracker{value, Source::attribute(object.source, name), true}
               : VariableTracker{value, nullptr, false};
  const SourcePtr base = object.source ? object.source : Source::constant(printed(object.get()), object.value);
  return tracer.effects.wrap(value.get(), Source::attribute(base, name));
}

/// Of objects that stand for themselves or that tracing made.
VariableTracker plainAttribute(InstructionTranslator& t, const VariableTracker& object, const std::string& name) {
  FrameTracer& tracer = t.tracer();
  const Ref key = makeText(name);
  Ref value = tracer.checked(PyObject_GetAttr(object.get(), key.get()));
  const bool fromOutside = object.source != nullptr && tracer.effects.find(object.get()) == nullptr;
  const bool ofClass = _PyType_Lookup(Py_TYPE(object.get()), key.get()) == value.get();
  if (isConstant(value.get()) || PyMethod_Check(value.get()) || (!fromOutside && !ofClass)) {
    const bool watched = fromOutside && isConstant(value.get()) && !PyCFunction_Check(value.get());
    return {value, watched ? Source::attribute(object.source, name) : nullptr, watched};
  }
  const SourcePtr base = fromOutside ? object.source : classSource(Py_TYPE(object.get()));
  return tracer.effects.wrap(value.get(), Source::attribute(base, name));
}

}  // namespace

VariableTracker InstructionTranslator::loadAttribute(VariableTracker object, const std::string& attribute) {
  if (!object) unsupported("Empty stack", "An attribute of nothing.", attribute);
  m_tracer.realize(object);
  if (m_tracer.deleted.contains({object.get(), attribute}))
    unsupported("Attempted to read a deleted variable", "The attribute was deleted.",
                "item: " + typeNameOf(object.get()) + ", name: " + attribute);
  if (proxyOf(object.get()) != nullptr)
    return {m_tracer.checked(PyObject_GetAttrString(object.get(), attribute.c_str())), nullptr, false};
  StandIn* standIn = m_tracer.effects.find(object.get());
  if (standIn != nullptr && standIn->kind == StandIn::Kind::Object)
    return objectAttribute(*this, object, *standIn, attribute);
  if (PyModule_Check(object.get()) || PyType_Check(object.get())) return namespaceAttribute(*this, object, attribute);
  return plainAttribute(*this, object, attribute);
}

void InstructionTranslator::storeAttribute(VariableTracker object, const std::string& attribute, PyObject* value) {
  const StandIn* standIn = m_tracer.effects.find(object.get());
  const bool shared = standIn == nullptr && (PyModule_Check(object.get()) || PyType_Check(object.get()) ||
                                             PyFunction_Check(object.get()) || object.source != nullptr);
  const bool programClass = PyType_Check(object.get()) &&
                            (reinterpret_cast<PyTypeObject*>(object.get())->tp_flags & Py_TPFLAGS_HEAPTYPE) != 0;
  if (programClass && value != nullptr) {
    m_tracer.effects.storeGlobal(object.get(), attribute, Ref::borrow(value));
    return;
  }
  if (PyModule_Check(object.get()) && value != nullptr) {
    m_tracer.effects.storeGlobal(PyModule_GetDict(object.get()), attribute, Ref::borrow(value));
    return;
  }
  if (shared && proxyOf(object.get()) == nullptr && !m_tracer.freshFunctions.contains(object.get()))
    unsupported("Unsupported attribute assignment", "Dynamo cannot trace setting an attribute of this object.",
                typeNameOf(object.get()) + "." + attribute);
  if (value == nullptr && standIn != nullptr && standIn->kind == StandIn::Kind::Object)
    m_tracer.effects.ownAttribute(*m_tracer.effects.find(object.get()), attribute.c_str());
  if (value == nullptr) {
    m_tracer.deleted.emplace(object.get(), attribute);
    m_tracer.kept.push_back(object.value);
  } else {
    m_tracer.deleted.erase({object.get(), attribute});
  }
  const Ref key = makeText(attribute);
  m_tracer.checkStatus(PyObject_SetAttr(object.get(), key.get(), value));
}

VariableTracker InstructionTranslator::loadGlobal(const std::string& name) {
  if (const Ref* written = m_tracer.effects.writtenGlobal(globals(), name)) {
    if (*written) return {*written, nullptr, false};
  }
  const Ref key = makeText(name);
  if (PyObject* found = PyDict_GetItemWithError(globals(), key.get())) {
    if (globals() != m_tracer.rootGlobals && PyModule_Check(found)) m_tracer.metModules.insert(found);
    const SourcePtr source =
        globals() == m_tracer.rootGlobals
            ? Source::global(name)
            : Source::item(Source::constant("__import_" + textOf(PyDict_GetItemString(globals(), "__name__")),
                                            Ref::borrow(globals())),
                           key);
    return m_tracer.effects.wrap(found, source);
  }
  PyObject* dict = PyModule_Check(builtins()) ? PyModule_GetDict(builtins()) : builtins();
  if (PyObject* found = PyDict_GetItemWithError(dict, key.get())) return {Ref::borrow(found), nullptr, false};
  PyErr_Format(PyExc_NameError, "name '%s' is not defined", name.c_str());
  throw PythonRaised{};
}

}  // namespace kerf::inline dynamo
