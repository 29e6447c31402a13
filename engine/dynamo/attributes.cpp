// Attributes of objects of the program, read from copies; CPython's own lookup for everything else.
#include <string_view>

#include "engine/dynamo/descriptors.h"
#include "engine/dynamo/instruction_translator.h"
#include "engine/dynamo/modules.h"
#include "engine/dynamo/stand_ins.h"
#include "engine/dynamo/tensor_calls.h"
#include "engine/dynamo/values.h"
#include "engine/torch_api/tensor_type.h"

namespace kerf::inline dynamo {
namespace {

[[noreturn]] void noAttribute(PyObject* object, const std::string& name) {
  PyErr_Format(PyExc_AttributeError, "'%s' object has no attribute '%s'", typeNameOf(object).c_str(), name.c_str());
  throw PythonRaised{};
}

bool isData(PyObject* descriptor) { return descriptor != nullptr && Py_TYPE(descriptor)->tp_descr_set != nullptr; }

/// An attribute in __slots__: copied at its first use.
VariableTracker slotAttribute(FrameTracer& tracer, StandIn& standIn, PyObject* member, const std::string& name) {
  VariableTracker held = tracer.effects.slotAttribute(standIn, member, name);
  if (!held) noAttribute(standIn.value.get(), name);
  return held;
}

/// Before an attribute is deleted, what it holds is looked at.
void lookAtAttribute(FrameTracer& tracer, StandIn& standIn, const std::string& name) {
  tracer.effects.ownAttribute(standIn, name.c_str());
  for (const auto& [slot, descriptor] : slotsOf(standIn.real.get()))
    if (slot == name) tracer.effects.slotAttribute(standIn, descriptor, name);
}

/// What a class gives for an attribute that the object itself does not have.
VariableTracker fromClass(InstructionTranslator& t, const VariableTracker& object, const StandIn& standIn,
                          PyObject* found, const std::string& name) {
  FrameTracer& tracer = t.tracer();
  PyTypeObject* type = Py_TYPE(object.get());
  for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(type->tp_mro); ++k)
    if (const Ref* written = tracer.effects.writtenGlobal(PyTuple_GET_ITEM(type->tp_mro, k), name))
      return {*written, nullptr, false};
  if (standIn.source) guardNotOverridden(tracer, type, standIn.source, name);
  if (standIn.source && ownDictOf(standIn.real.get()) != nullptr && PyFunction_Check(found))
    tracer.addGuard(presenceGuard(standIn.source, makeText(name), false));
  if (standIn.source && PyFunction_Check(found) && PyFunction_GET_CLOSURE(found) != nullptr)
    tracer.functions.emplace(found, classItemSource(tracer, type, standIn.source, name));
  if (isPythonDescriptor(found)) return callDescriptor(t, object, standIn, found, name);
  const descrgetfunc get = Py_TYPE(found)->tp_descr_get;
  if (get != nullptr)
    return {tracer.checked(get(found, object.get(), reinterpret_cast<PyObject*>(type))), nullptr, false};
  if (!standIn.source) return tracer.effects.wrap(found, Source::attribute(classSource(tracer, type, nullptr), name));
  if (!isConstant(found)) return tracer.effects.wrap(found, Source::attribute(standIn.source, name));
  Guard unshadowed = presenceGuard(standIn.source, makeText(name), false);
  unshadowed.isInternal = true;
  tracer.addGuard(std::move(unshadowed));
  return tracer.effects.wrap(found, classItemSource(tracer, type, standIn.source, name));
}

/// What a module does not have in one table is looked for in the next.
void guardAbsence(FrameTracer& tracer, PyObject* dict, const Ref& key) {
  const StandIn* held = tracer.effects.find(dict);
  if (held == nullptr || !held->source) return;
  Guard guard = containsGuard(held->source, key, false);
  guard.isInternal = true;
  tracer.addGuard(std::move(guard));
}

bool isOfModuleClass(PyObject* function) {
  return PyFunction_Check(function) && textOf(PyFunction_GET_MODULE(function)).starts_with("torch.nn.modules.");
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

/// A property that raises AttributeError leaves the answer to __getattr__.
VariableTracker computedAttribute(InstructionTranslator& t, const VariableTracker& object, const StandIn& standIn,
                                  PyObject* found, const std::string& name) {
  PyObject* fallback = _PyType_Lookup(Py_TYPE(object.get()), makeText("__getattr__").get());
  try {
    return callDescriptor(t, object, standIn, found, name);
  } catch (const PythonRaised&) {
    if (fallback == nullptr || PyErr_ExceptionMatches(PyExc_AttributeError) == 0) throw;
    PyErr_Clear();
  }
  const VariableTracker bound{Ref::steal(PyMethod_New(fallback, object.get())), nullptr, false};
  return t.call(bound, {{makeText(name), nullptr, false}}, nullptr);
}

/// The program may ask for any key of it, and in any way: which there are, and what they hold.
void guardOwnDict(FrameTracer& tracer, StandIn& standIn, PyObject* dict) {
  PyObject* real = standIn.source ? ownDictOf(standIn.real.get()) : nullptr;
  if (real == nullptr) return;
  const QuietScope checkedOnly(tracer);
  tracer.addGuard(keysGuard(real, Source::attribute(standIn.source, "__dict__"), false));
  const Ref names = Ref::steal(PyDict_Keys(dict));
  for (Py_ssize_t k = 0; k < PyList_GET_SIZE(names.get()); ++k) {
    PyObject* name = PyList_GET_ITEM(names.get(), k);
    if (PyUnicode_Check(name) == 0) continue;
    VariableTracker held = tracer.effects.ownAttribute(standIn, textOf(name).c_str());
    if (held && tracer.effects.find(held.get()) == nullptr) tracer.realize(held);
  }
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
    if (isPythonDescriptor(found)) {
      if (standIn.source) guardNotOverridden(tracer, type, standIn.source, name);
      return computedAttribute(t, object, standIn, found, name);
    }
    if (name == "__class__" && standIn.source)
      tracer.met.emplace(reinterpret_cast<PyObject*>(type), Source::attribute(standIn.source, name));
    if (name == "__dict__") tracer.effects.completeObject(standIn);
    Ref value = tracer.checked(PyObject_GenericGetAttr(object.get(), key.get()));
    if (name == "__dict__") {
      guardOwnDict(tracer, standIn, value.get());
      tracer.ownDicts[value.get()] = object.get();
      tracer.kept.push_back(value);
    }
    return {std::move(value), nullptr, false};
  }
  if (VariableTracker own = tracer.effects.ownAttribute(standIn, name.c_str())) return own;
  if (found != nullptr) return fromClass(t, object, standIn, found, name);
  if (isModule(object.get()))
    if (VariableTracker held = fromModule(tracer, standIn, name)) return held;
  PyObject* fallback = _PyType_Lookup(type, makeText("__getattr__").get());
  // The one of nn.Module has nothing more to say.
  if (fallback == nullptr || isOfModuleClass(fallback)) noAttribute(object.get(), name);
  const VariableTracker bound{Ref::steal(PyMethod_New(fallback, object.get())), nullptr, false};
  return t.call(bound, {{key, nullptr, false}}, nullptr);
}

/// What a function or class is called, which needs no guard: itself has one.
bool isName(const std::string& name) {
  return name == "__name__" || name == "__qualname__" || name == "__doc__" || name == "__module__";
}

bool isEnumMember(PyObject* object) {
  return std::string_view(Py_TYPE(reinterpret_cast<PyObject*>(Py_TYPE(object)))->tp_name).starts_with("Enum");
}

/// What torch.Tensor has of torch needs no guard; a program may put its own there.
bool isOwnOfTensor(PyObject* value) {
  if (!graphFunctionName(value).empty() || !isConstant(value)) return true;
  return PyFunction_Check(value) && textOf(PyFunction_GET_MODULE(value)).starts_with("torch");
}

/// The global that Dynamo makes of an import: "__import_torch_dot_nn" of "torch.nn".
std::string importAlias(std::string_view module) {
  std::string alias = "__import_";
  for (const char c : module) alias += c == '.' ? std::string_view("_dot_") : std::string_view(&c, 1);
  return alias;
}

/// A name for a module that the program imported on the way, or for a class that no source tells.
std::string nameOfNamespace(PyObject* object) {
  const NativeScope native;  // a module's text is Python's work
  if (!PyModule_Check(object)) return printed(object);
  if (const char* module = PyModule_GetName(object)) return importAlias(module);
  PyErr_Clear();
  return printed(object);
}

/// The attribute itself. Modules of torch import some of their parts when they are first asked for, which is no frame of the
/// program's.
Ref ofNamespace(FrameTracer& tracer, PyObject* object, const std::string& name) {
  if (!PyModule_Check(object) || !isTorchNamespace(object))
    return tracer.checked(PyObject_GetAttrString(object, name.c_str()));
  Ref value;
  {
    const NativeScope native;
    value = Ref::steal(PyObject_GetAttrString(object, name.c_str()));
  }
  return tracer.checked(value.release());
}

/// Of a Python module or a class: the real object's, which a guard watches.
VariableTracker namespaceAttribute(InstructionTranslator& t, const VariableTracker& object, const std::string& name) {
  FrameTracer& tracer = t.tracer();
  if (const Ref* written = tracer.effects.writtenGlobal(
          PyModule_Check(object.get()) ? PyModule_GetDict(object.get()) : object.get(), name))
    return {*written, nullptr, false};
  const Ref value = ofNamespace(tracer, object.get(), name);
  const bool ofClass = (PyMethod_Check(value.get()) && PyType_Check(PyMethod_GET_SELF(value.get()))) ||
                       (object.get() == reinterpret_cast<PyObject*>(tensorClass()) && isOwnOfTensor(value.get()));
  if (ofClass || (PyType_Check(object.get()) && (isName(name) || isEnumMember(value.get()))))
    return {value, nullptr, false};
  if (isTorchNamespace(object.get()))
    return object.source && (isConstant(value.get()) || !graphFunctionName(value.get()).empty() ||
                             std::string_view(Py_TYPE(value.get())->tp_name) == "torch.dtype")
               ? VariableTracker{value, Source::attribute(object.source, name), true}
               : VariableTracker{value, nullptr, false};
  const SourcePtr base = object.source ? object.source : Source::constant(nameOfNamespace(object.get()), object.value);
  return tracer.effects.wrap(value.get(), Source::attribute(base, name));
}

/// A number or text of a class of the program, read from an object that tracing made.
bool isWatchedConstant(FrameTracer& tracer, PyObject* object, PyObject* value) {
  const bool literal = isConstant(value) && !PyFunction_Check(value) && !PyCFunction_Check(value) &&
                       !PyModule_Check(value) && !PyType_Check(value);
  return literal && tracer.met.contains(reinterpret_cast<PyObject*>(Py_TYPE(object)));
}

/// An object with a __get__ in Python that answers for an object that tracing made; null where none does.
PyObject* descriptorOfFresh(FrameTracer& tracer, const VariableTracker& object, PyObject* found,
                            const std::string& name) {
  PyTypeObject* type = Py_TYPE(object.get());
  if (found == nullptr || object.source || Py_TYPE(found) == &PyProperty_Type || !isPythonDescriptor(found) ||
      type->tp_getattro != PyObject_GenericGetAttr || !tracer.met.contains(reinterpret_cast<PyObject*>(type)))
    return nullptr;
  PyObject* own = ownDictOf(object.get());
  const bool shadowed = !isData(found) && own != nullptr && PyDict_GetItemString(own, name.c_str()) != nullptr;
  return shadowed ? nullptr : found;
}

/// Of objects that stand for themselves or that tracing made.
VariableTracker plainAttribute(InstructionTranslator& t, const VariableTracker& object, const std::string& name) {
  FrameTracer& tracer = t.tracer();
  const Ref key = makeText(name);
  PyObject* found = _PyType_Lookup(Py_TYPE(object.get()), key.get());
  if (PyObject* descriptor = descriptorOfFresh(tracer, object, found, name))
    return callDescriptor(t, object, {}, descriptor, name);
  Ref value = tracer.checked(PyObject_GetAttr(object.get(), key.get()));
  if (Py_TYPE(object.get()) == &PySuper_Type) guardSuperMethod(tracer, object.get(), value.get(), name);
  if (PyFunction_Check(object.get()) && isName(name)) return {value, nullptr, false};
  const bool fromOutside = object.source != nullptr && tracer.effects.find(object.get()) == nullptr;
  const bool ofClass = found == value.get();
  if (ofClass && !fromOutside && name != "_compiled_call_impl" && isWatchedConstant(tracer, object.get(), value.get()))
    return {value, Source::attribute(classSource(tracer, Py_TYPE(object.get()), nullptr), name), true};
  if (isConstant(value.get()) || PyMethod_Check(value.get()) || (!fromOutside && !ofClass)) {
    const bool watched = fromOutside && isConstant(value.get()) && !PyCFunction_Check(value.get());
    return {value, watched ? Source::attribute(object.source, name) : nullptr, watched};
  }
  const SourcePtr base = fromOutside ? object.source : classSource(tracer, Py_TYPE(object.get()), nullptr);
  return tracer.effects.wrap(value.get(), Source::attribute(base, name));
}

/// A field of a named tuple, or a property of a class that is a list, tuple or dict.
std::optional<VariableTracker> containerAttribute(InstructionTranslator& t, const VariableTracker& object,
                                                  const StandIn& standIn, const std::string& name) {
  if (PyTuple_CheckExact(object.get()) || PyList_CheckExact(object.get()) || PyDict_CheckExact(object.get()))
    return std::nullopt;
  PyObject* found = _PyType_Lookup(Py_TYPE(object.get()), makeText(name).get());
  if (found == nullptr) return std::nullopt;
  if (Py_TYPE(found) == &PyProperty_Type && isPythonDescriptor(found))
    return callDescriptor(t, object, standIn, found, name);
  const Ref fields = standIn.kind == StandIn::Kind::Tuple ? attributeOf(object.get(), "_fields") : Ref();
  const Py_ssize_t place = fields ? PySequence_Index(fields.get(), makeText(name).get()) : -1;
  PyErr_Clear();
  if (place < 0 || place >= PyTuple_GET_SIZE(object.get())) return std::nullopt;
  PyObject* item = PyTuple_GET_ITEM(object.get(), place);
  if (t.tracer().effects.find(item) != nullptr) return VariableTracker{Ref::borrow(item), nullptr, false};
  SourcePtr source = t.tracer().effects.itemSource(standIn, Ref::steal(PyLong_FromSsize_t(place)).get(), item);
  const bool isLazy = source != nullptr;
  return VariableTracker{Ref::borrow(item), std::move(source), isLazy};
}

/// A gradient that is there is read from the tensor itself.
void guardGrad(FrameTracer& tracer, PyObject* tensor) {
  const ProxyState* proxy = proxyOf(tensor);
  if (proxy == nullptr || !proxy->source || !proxy->real) return;
  const NativeScope native;
  const Ref grad = attributeOf(proxy->real.get(), "grad");
  if (grad && grad.get() != Py_None) tracer.addGuard(hasAttributeGuard(proxy->source, "grad", true));
}

}  // namespace

VariableTracker InstructionTranslator::loadAttribute(VariableTracker object, const std::string& attribute) {
  if (!object) unsupported("Empty stack", "An attribute of nothing.", attribute);
  m_tracer.realize(object);
  if (m_tracer.deleted.contains({object.get(), attribute}))
    unsupported("Attempted to read a deleted variable", "The attribute was deleted.",
                "item: " + typeNameOf(object.get()) + ", name: " + attribute);
  if (const ProxyState* proxy = proxyOf(object.get());
      proxy && proxy->source && proxy->real && !isStandIn() && (attribute == "requires_grad" || attribute == "data"))
    m_tracer.addGuard(typeGuard(proxy->real.get(), proxy->source));
  if (attribute == "grad") guardGrad(m_tracer, object.get());
  if (proxyOf(object.get()) != nullptr)
    return {m_tracer.checked(PyObject_GetAttrString(object.get(), attribute.c_str())), nullptr, false};
  StandIn* standIn = m_tracer.effects.find(object.get());
  if (standIn != nullptr && standIn->kind == StandIn::Kind::Object)
    return objectAttribute(*this, object, *standIn, attribute);
  if (PyModule_Check(object.get()) || PyType_Check(object.get())) return namespaceAttribute(*this, object, attribute);
  if (standIn != nullptr && standIn->source)
    if (std::optional<VariableTracker> held = containerAttribute(*this, object, *standIn, attribute)) return *held;
  return plainAttribute(*this, object, attribute);
}

void InstructionTranslator::storeAttribute(VariableTracker object, const std::string& attribute, PyObject* value) {
  const StandIn* standIn = m_tracer.effects.find(object.get());
  const bool shared = standIn == nullptr && (PyModule_Check(object.get()) || PyType_Check(object.get()) ||
                                             PyFunction_Check(object.get()) || object.source != nullptr);
  const bool programClass = PyType_Check(object.get()) &&
                            (reinterpret_cast<PyTypeObject*>(object.get())->tp_flags & Py_TPFLAGS_HEAPTYPE) != 0;
  if (programClass && value != nullptr)
    unsupported("Failed to trace builtin operator",
                "Dynamo does not know how to trace builtin operator `setattr` with argument types ['type', 'str', '" +
                    typeNameOf(value) + "'] (has_kwargs False)",
                "builtin setattr");
  if (PyModule_Check(object.get()) && value != nullptr) {
    m_tracer.effects.storeGlobal(PyModule_GetDict(object.get()), attribute, Ref::borrow(value));
    return;
  }
  if (shared && proxyOf(object.get()) == nullptr && !m_tracer.freshFunctions.contains(object.get()))
    unsupported("Unsupported attribute assignment", "Dynamo cannot trace setting an attribute of this object.",
                typeNameOf(object.get()) + "." + attribute);
  if (value == nullptr && standIn != nullptr && standIn->kind == StandIn::Kind::Object)
    lookAtAttribute(m_tracer, *m_tracer.effects.find(object.get()), attribute);
  if (value == nullptr) {
    m_tracer.deleted.emplace(object.get(), attribute);
    m_tracer.kept.push_back(object.value);
  } else {
    m_tracer.deleted.erase({object.get(), attribute});
  }
  const bool isFresh = standIn == nullptr && m_tracer.met.contains(reinterpret_cast<PyObject*>(Py_TYPE(object.get())));
  if ((isFresh || (standIn != nullptr && standIn->kind == StandIn::Kind::Object)) &&
      setByDescriptor(*this, object, isFresh ? StandIn{} : *standIn, attribute, value))
    return;
  const Ref key = makeText(attribute);
  m_tracer.checkStatus(PyObject_SetAttr(object.get(), key.get(), value));
}

VariableTracker InstructionTranslator::loadGlobal(const std::string& name) {
  if (const Ref* written = m_tracer.effects.writtenGlobal(globals(), name)) {
    if (*written) return {*written, nullptr, false};
  }
  const Ref key = makeText(name);
  if (PyObject* found = PyDict_GetItemWithError(globals(), key.get())) {
    const SourcePtr source =
        globals() == m_tracer.rootGlobals
            ? Source::global(name)
            : Source::item(Source::constant(importAlias(textOf(PyDict_GetItemString(globals(), "__name__"))),
                                            Ref::borrow(globals())),
                           key);
    if (globals() != m_tracer.rootGlobals && PyModule_Check(found)) m_tracer.met.emplace(found, source);
    return m_tracer.effects.wrap(found, source);
  }
  PyObject* dict = PyModule_Check(builtins()) ? PyModule_GetDict(builtins()) : builtins();
  if (PyObject* found = PyDict_GetItemWithError(dict, key.get())) return {Ref::borrow(found), nullptr, false};
  PyErr_Format(PyExc_NameError, "name '%s' is not defined", name.c_str());
  throw PythonRaised{};
}

}  // namespace kerf::inline dynamo
