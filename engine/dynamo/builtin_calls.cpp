#include "engine/dynamo/builtin_calls.h"

#include <string_view>
#include <unordered_map>

#include "engine/dynamo/modules.h"
#include "engine/dynamo/stand_ins.h"
#include "engine/dynamo/tensor_calls.h"
#include "engine/dynamo/traced_slot.h"
#include "engine/dynamo/tracked_iterators.h"
#include "engine/dynamo/values.h"

namespace kerf::inline dynamo {
namespace {

using Args = std::vector<VariableTracker>;
using Builtin = std::optional<VariableTracker> (*)(InstructionTranslator& t, PyObject* args, Args& sources);

VariableTracker plain(PyObject* object) { return {Ref::borrow(object), nullptr, false}; }

VariableTracker argument(InstructionTranslator& t, PyObject* args, Args& sources, Py_ssize_t index) {
  const auto at = static_cast<std::size_t>(index);
  VariableTracker value = at < sources.size() ? sources[at] : plain(PyTuple_GET_ITEM(args, index));
  t.tracer().realize(value);
  return value;
}

/// What hasattr() says of an object of the program.
void guardAttribute(InstructionTranslator& t, const VariableTracker& object, const std::string& name) {
  const StandIn* standIn = t.tracer().effects.find(object.get());
  if (standIn == nullptr || !standIn->source) return;
  const NativeScope native;
  const Ref now = Ref::steal(PyObject_GetAttrString(standIn->real.get(), name.c_str()));
  PyErr_Clear();
  // Tracing may have set it: what the object itself says is watched.
  t.tracer().addGuard(hasAttributeGuard(standIn->source, name, static_cast<bool>(now)));
}

std::optional<VariableTracker> attributeOr(InstructionTranslator& t, PyObject* args, Args& sources) {
  const VariableTracker object = argument(t, args, sources, 0);
  const VariableTracker name = argument(t, args, sources, 1);
  if (!PyUnicode_Check(name.get())) return std::nullopt;
  if (PyTuple_GET_SIZE(args) > 2 && t.tracer().deleted.contains({object.get(), textOf(name.get())}))
    return argument(t, args, sources, 2);
  try {
    return t.loadAttribute(object, textOf(name.get()));
  } catch (const PythonRaised&) {
    if (PyTuple_GET_SIZE(args) < 3 || PyErr_ExceptionMatches(PyExc_AttributeError) == 0) throw;
    PyErr_Clear();
    guardAttribute(t, object, textOf(name.get()));
    return argument(t, args, sources, 2);
  }
}

std::optional<VariableTracker> hasAttribute(InstructionTranslator& t, PyObject* args, Args& sources) {
  const VariableTracker object = argument(t, args, sources, 0);
  const VariableTracker name = argument(t, args, sources, 1);
  if (t.tracer().deleted.contains({object.get(), textOf(name.get())})) return plain(Py_False);
  try {
    t.loadAttribute(object, textOf(name.get()));
    guardAttribute(t, object, textOf(name.get()));
    return plain(Py_True);
  } catch (const PythonRaised&) {
    if (PyErr_ExceptionMatches(PyExc_AttributeError) == 0) throw;
    PyErr_Clear();
    guardAttribute(t, object, textOf(name.get()));
    return plain(Py_False);
  }
}

std::optional<VariableTracker> setAttribute(InstructionTranslator& t, PyObject* args, Args& sources) {
  const VariableTracker object = argument(t, args, sources, 0);
  const VariableTracker name = argument(t, args, sources, 1);
  const VariableTracker value = argument(t, args, sources, 2);
  t.storeAttribute(object, textOf(name.get()), value.get());
  return plain(Py_None);
}

std::optional<VariableTracker> deleteAttribute(InstructionTranslator& t, PyObject* args, Args& sources) {
  const VariableTracker object = argument(t, args, sources, 0);
  t.storeAttribute(object, textOf(PyTuple_GET_ITEM(args, 1)), nullptr);
  return plain(Py_None);
}

std::optional<VariableTracker> typeOf(InstructionTranslator& t, PyObject* args, Args& sources) {
  if (PyTuple_GET_SIZE(args) != 1) return std::nullopt;
  const VariableTracker object = argument(t, args, sources, 0);
  if (const SymState* number = symOf(object.get())) return plain(pythonTypeOf(*number));
  if (proxyOf(object.get()) != nullptr)
    return VariableTracker{t.tracer().checked(PyObject_GetAttrString(object.get(), "__class__")), nullptr, false};
  VariableTracker type = plain(reinterpret_cast<PyObject*>(Py_TYPE(object.get())));
  const StandIn* standIn = t.tracer().effects.find(object.get());
  const auto known = t.tracer().met.find(type.get());
  if (standIn != nullptr && standIn->kind == StandIn::Kind::Object && standIn->source) {
    type.source = Source::type(standIn->source);
    type.lazy = true;
  } else if (standIn == nullptr && known != t.tracer().met.end()) {
    type.source = known->second;
  }
  return type;
}

/// super() without arguments asks the frame that calls it: its first argument and its __class__ cell.
std::optional<VariableTracker> superOf(InstructionTranslator& t, PyObject* args, Args& /*sources*/) {
  if (PyTuple_GET_SIZE(args) != 0) return std::nullopt;
  PyObject* type = nullptr;
  for (std::size_t slot = 0; slot < t.variables().size(); ++slot) {
    PyObject* held = t.variables()[slot].get();
    if (held && PyCell_Check(held) && t.variableName(static_cast<int>(slot)) == "__class__") type = PyCell_GET(held);
  }
  PyObject* self = t.variables().empty() ? nullptr : t.variables()[0].get();
  if (self != nullptr && PyCell_Check(self)) self = PyCell_GET(self);
  if (type == nullptr || self == nullptr) {
    PyErr_SetString(PyExc_RuntimeError, "super(): no arguments");
    throw PythonRaised{};
  }
  if (StandIn* standIn = t.tracer().effects.find(self)) t.tracer().effects.completeObject(*standIn);
  return VariableTracker{
      t.tracer().checked(PyObject_CallFunctionObjArgs(reinterpret_cast<PyObject*>(&PySuper_Type), type, self, nullptr)),
      nullptr, false};
}

std::optional<VariableTracker> identityOf(InstructionTranslator& t, PyObject* args, Args& sources) {
  const VariableTracker object = argument(t, args, sources, 0);
  const StandIn* standIn = t.tracer().effects.find(object.get());
  const std::string module = textOf(PyDict_GetItemString(t.globals(), "__name__"));
  if (standIn == nullptr && !isConstant(object.get()) && !module.starts_with("torch."))
    unsupported("Unsupported call_id() without source", "call_id() without source is not supported.",
                "call_id " + typeNameOf(object.get()));
  PyObject* real = standIn != nullptr ? standIn->real.get() : object.get();
  return VariableTracker{Ref::steal(PyLong_FromVoidPtr(real)), nullptr, false};
}

std::optional<VariableTracker> callableTest(InstructionTranslator& t, PyObject* args, Args& sources) {
  const VariableTracker object = argument(t, args, sources, 0);
  if (proxyOf(object.get()) != nullptr) return plain(Py_False);
  return std::nullopt;
}

/// The exception that the innermost traced handler works on.
std::optional<VariableTracker> handledException(InstructionTranslator& t) {
  for (InstructionTranslator* at = &t; at != nullptr; at = at->parent()) {
    if (at->handled.empty() || at->handled.back().get() == Py_None) continue;
    PyObject* exception = at->handled.back().get();
    return VariableTracker{
        Ref::steal(PyTuple_Pack(3, reinterpret_cast<PyObject*>(Py_TYPE(exception)), exception, Py_None)), nullptr,
        false};
  }
  return VariableTracker{Ref::steal(PyTuple_Pack(3, Py_None, Py_None, Py_None)), nullptr, false};
}

/// What shows the frame's own variables: no rewritten frame has the same ones.
std::optional<VariableTracker> refuseFrameLook(InstructionTranslator& /*t*/, PyObject* args, Args& /*sources*/) {
  if (PyTuple_GET_SIZE(args) > 0) return std::nullopt;
  throw Unsupported{"Failed to trace builtin operator",
                    "Dynamo cannot trace what looks at the frame's variables.",
                    "locals",
                    {},
                    {},
                    true};
}

/// locals(): the graph ends, and what the frame holds is handed to what goes on.
std::optional<VariableTracker> localsOf(InstructionTranslator& /*t*/, PyObject* /*args*/, Args& /*sources*/) {
  unsupported("Failed to trace builtin operator",
              "Dynamo does not know how to trace builtin operator `locals` with argument types [] (has_kwargs False)",
              "builtin locals [] False");
}

/// vars(x): the object's own dict, of which Dynamo knows single entries.
std::optional<VariableTracker> varsOf(InstructionTranslator& t, PyObject* args, Args& sources) {
  if (PyTuple_GET_SIZE(args) != 1) return refuseFrameLook(t, args, sources);
  const VariableTracker object = argument(t, args, sources, 0);
  if (PyModule_Check(object.get()) || PyType_Check(object.get()) || proxyOf(object.get()) != nullptr)
    return std::nullopt;
  VariableTracker dict = t.loadAttribute(object, "__dict__");
  if (t.tracer().ownDicts.emplace(dict.get(), object.get()).second) {
    t.tracer().kept.push_back(dict.value);
    t.tracer().kept.push_back(object.value);
  }
  return dict;
}

/// The size of a tensor may be a symbol.
std::optional<VariableTracker> lengthOf(InstructionTranslator& t, PyObject* args, Args& sources) {
  if (PyTuple_GET_SIZE(args) != 1) return std::nullopt;
  const VariableTracker object = argument(t, args, sources, 0);
  guardMethodUse(t.tracer(), object.get(), "__len__");
  // The number of items is in the guard of a list or tuple itself.
  if (PyList_CheckExact(object.get()) || PyTuple_CheckExact(object.get()))
    return VariableTracker{Ref::steal(PyLong_FromSsize_t(PySequence_Fast_GET_SIZE(object.get()))), nullptr, false};
  const ProxyState* proxy = proxyOf(object.get());
  if (proxy == nullptr || proxy->fake.dim() == 0) return std::nullopt;
  return VariableTracker{tensorMethod(t.tracer(), object.get(), "__len__", Ref::steal(PyTuple_New(0)).get(), nullptr),
                         nullptr, false};
}

/// hash() of an object of the program, divmod() of symbols.
std::optional<VariableTracker> refuseUserObjects(InstructionTranslator& t, PyObject* args, Args& sources) {
  for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(args); ++k) {
    const VariableTracker object = argument(t, args, sources, k);
    const StandIn* standIn = t.tracer().effects.find(object.get());
    const bool fresh =
        standIn == nullptr && (Py_TYPE(object.get())->tp_flags & Py_TPFLAGS_HEAPTYPE) != 0 && !isConstant(object.get());
    if (fresh || symOf(object.get()) != nullptr || (standIn != nullptr && standIn->kind == StandIn::Kind::Object))
      unsupported("Failed to trace builtin operator", "Dynamo does not know how to trace this builtin operator.",
                  "builtin with " + typeNameOf(object.get()));
  }
  return std::nullopt;
}

const std::unordered_map<std::string_view, Builtin> kBuiltins = {
    {"len", lengthOf},
    {"hash", refuseUserObjects},
    {"divmod", refuseUserObjects},
    {"locals", localsOf},
    {"vars", varsOf},
    {"dir", refuseFrameLook},
    {"getattr", attributeOr},
    {"hasattr", hasAttribute},
    {"setattr", setAttribute},
    {"delattr", deleteAttribute},
    {"type", typeOf},
    {"super", superOf},
    {"id", identityOf},
    {"callable", callableTest},
};

/// A function of torch in the hands of C code.
struct GraphFunction {
  PyObject_HEAD PyObject* callable;
};

PyObject* callGraphFunction(PyObject* self, PyObject* args, PyObject* kwargs) {
  PyObject* callable = reinterpret_cast<GraphFunction*>(self)->callable;
  if (FrameTracer::active() == nullptr) return PyObject_Call(callable, args, kwargs);
  return whileTracing([&](FrameTracer& tracer) {
    return traceTorchFunction(tracer, graphFunctionName(callable), callable, args, kwargs);
  });
}

void dropGraphFunction(PyObject* self) {
  Py_XDECREF(reinterpret_cast<GraphFunction*>(self)->callable);
  PyTypeObject* type = Py_TYPE(self);
  type->tp_free(self);
  Py_DECREF(type);
}

Ref graphFunction(PyObject* callable) {
  static PyType_Slot slots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(dropGraphFunction)},
                                {Py_tp_call, reinterpret_cast<void*>(callGraphFunction)},
                                {0, nullptr}};
  static PyType_Spec spec = {"kerf.GraphFunction", sizeof(GraphFunction), 0, Py_TPFLAGS_DEFAULT, slots};
  static auto* type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  Ref made = Ref::steal(type ? type->tp_alloc(type, 0) : nullptr);
  if (!made) throw PythonRaised{};
  reinterpret_cast<GraphFunction*>(made.get())->callable = Py_NewRef(callable);
  return made;
}

/// The method of a tensor that int(x) and float(x) are.
const char* conversionOf(PyObject* callable) {
  if (callable == reinterpret_cast<PyObject*>(&PyLong_Type)) return "__int__";
  return callable == reinterpret_cast<PyObject*>(&PyFloat_Type) ? "__float__" : nullptr;
}

}  // namespace

std::optional<VariableTracker> callBuiltin(InstructionTranslator& t, PyObject* callable, PyObject* args,
                                           PyObject* kwargs, std::vector<VariableTracker>& sources) {
  if (callable == reinterpret_cast<PyObject*>(&PyType_Type) && kwargs == nullptr) return typeOf(t, args, sources);
  if (callable == reinterpret_cast<PyObject*>(&PyBool_Type) && kwargs == nullptr && PyTuple_GET_SIZE(args) == 1 &&
      proxyOf(PyTuple_GET_ITEM(args, 0)) != nullptr)
    return VariableTracker{
        tensorMethod(t.tracer(), PyTuple_GET_ITEM(args, 0), "item", Ref::steal(PyTuple_New(0)).get(), nullptr), nullptr,
        false};
  if (const char* method = conversionOf(callable); method != nullptr && kwargs == nullptr &&
                                                   PyTuple_GET_SIZE(args) == 1 && capturesScalars() &&
                                                   proxyOf(PyTuple_GET_ITEM(args, 0)) != nullptr)
    return plain(
        tensorMethod(t.tracer(), PyTuple_GET_ITEM(args, 0), method, Ref::steal(PyTuple_New(0)).get(), nullptr).get());
  if (callable == reinterpret_cast<PyObject*>(&PySuper_Type) && kwargs == nullptr) return superOf(t, args, sources);
  if (isPartial(callable)) {
    const Ref function = attributeOf(callable, "func");
    const Ref first = attributeOf(callable, "args");
    const Ref all = Ref::steal(PySequence_Concat(first.get(), args));
    const Ref named = Ref::steal(PyDict_Copy(attributeOf(callable, "keywords").get()));
    if (kwargs != nullptr) PyDict_Update(named.get(), kwargs);
    t.tracer().realizeDeep(first.get());
    t.tracer().graph.realizeNodes(first.get());
    t.tracer().realizeDeep(attributeOf(callable, "keywords").get());
    for (VariableTracker& source : sources) t.tracer().realize(source);
    return t.callWith(plain(function.get()), all.get(), named.get(), {});
  }
  if (callable == enterAgainFunction().get()) {
    PyObject* exit = PyTuple_GET_ITEM(args, 0);
    if (!PyMethod_Check(exit))
      unsupported("Unsupported context manager", "It cannot be entered again.", typeNameOf(exit));
    const VariableTracker manager{Ref::borrow(PyMethod_GET_SELF(exit)), nullptr, false};
    return t.call(t.loadAttribute(manager, "__enter__"), {}, nullptr);
  }
  if (!PyCFunction_Check(callable) || kwargs != nullptr) return std::nullopt;
  const char* name = reinterpret_cast<PyCFunctionObject*>(callable)->m_ml->ml_name;
  const std::string module = textOf(attributeOf(callable, "__module__").get());
  if (module == "sys" && std::string_view(name) == "exc_info") return handledException(t);
  const auto row = kBuiltins.find(name);
  if (row == kBuiltins.end() || module != "builtins") return std::nullopt;
  return row->second(t, args, sources);
}

Ref wrapGraphFunctions(PyObject* args) {
  Ref copy = Ref::steal(PyTuple_New(PyTuple_GET_SIZE(args)));
  for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(args); ++k) {
    PyObject* item = PyTuple_GET_ITEM(args, k);
    const bool graph = (PyCFunction_Check(item) || PyFunction_Check(item)) && !graphFunctionName(item).empty();
    PyTuple_SET_ITEM(copy.get(), k, graph ? graphFunction(item).release() : Py_NewRef(item));
  }
  return copy;
}

}  // namespace kerf::inline dynamo
