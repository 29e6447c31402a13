// What a call becomes: a node, an inlined frame, CPython's own function on stand-ins, or a graph break.
#include <algorithm>
#include <array>
#include <string_view>
#include <unordered_set>

#include <fmt/format.h>

#include "engine/dynamo/builtin_calls.h"
#include "engine/dynamo/call_guards.h"
#include "engine/dynamo/container_calls.h"
#include "engine/dynamo/instruction_translator.h"
#include "engine/dynamo/modules.h"
#include "engine/dynamo/tensor_calls.h"
#include "engine/dynamo/trace_functions.h"
#include "engine/dynamo/tracked_iterators.h"
#include "engine/dynamo/values.h"

namespace kerf::inline dynamo {
namespace {

bool isPythonFunction(PyObject* callable) {
  if (PyMethod_Check(callable)) return PyFunction_Check(PyMethod_GET_FUNCTION(callable));
  return PyFunction_Check(callable);
}

PyObject* functionOf(PyObject* callable) {
  return PyMethod_Check(callable) ? PyMethod_GET_FUNCTION(callable) : callable;
}

/// A class of the program, or an object whose class has a __call__ in Python: its code is traced by itself.
bool callsPython(PyObject* callable) {
  if (isPythonFunction(callable)) return true;
  if (PyType_Check(callable))
    return (reinterpret_cast<PyTypeObject*>(callable)->tp_flags & Py_TPFLAGS_HEAPTYPE) != 0 && !mayCall(callable);
  PyObject* call = _PyType_Lookup(Py_TYPE(callable), makeText("__call__").get());
  return call != nullptr && PyFunction_Check(call);
}

void refuseMarked(PyObject* callable) {
  PyObject* function = functionOf(callable);
  // Of an object, asking would call its own __getattr__.
  if (!PyFunction_Check(function)) return;
  const std::string name = describeCallable(function);
  const Ref recursive = attributeOf(function, "_torchdynamo_disable_recursive");
  const bool inlining = PyMethod_Check(callable) || (recursive && recursive.get() != Py_True);
  if (attributeOf(function, "_torchdynamo_disable"))
    unsupported(fmt::format("Skip {} `torch.compiler.disable()`d function", inlining ? "inlining" : "calling"),
                fmt::format("Skip {} function `{}` since it was wrapped with `torch.compiler.disable`",
                            inlining ? "inlining" : "calling", name),
                name, {"Remove the `torch.compiler.disable` call"});
  if (name == "torch._dynamo.graph_break" || name == "torch._dynamo.decorators.graph_break")
    unsupported("Call to `torch._dynamo.graph_break()`", "User-inserted graph break. Message: None",
                "Called `torch._dynamo.graph_break()` with args `[]`, kwargs `{}`",
                {"Remove the `torch._dynamo.graph_break()` call."});
  if (name == "copy.deepcopy")
    unsupported("copy.deepcopy()", "Dynamo does not support copy.deepcopy()", "copy.deepcopy");
  if (!mayInline(function))
    unsupported(
        "Attempted to call function marked as skipped",
        fmt::format("Dynamo developers have intentionally marked that the function `{}` should not be traced.", name),
        "qualname: " + name);
}

/// Values that several arguments share by identity cannot be told apart in the callee's frame: looked at now.
void settleTwins(FrameTracer& tracer, std::vector<VariableTracker>& args) {
  for (std::size_t a = 0; a < args.size(); ++a)
    for (std::size_t b = 0; b < args.size(); ++b)
      if (a != b && args[a].lazy && args[a].get() == args[b].get()) tracer.realize(args[a]);
}

/// dataclasses.asdict copies what cannot change by handing it on, as of Python 3.12.
std::optional<VariableTracker> copyOfAtom(const InstructionTranslator& t, PyObject* callable, PyObject* args) {
  if (!PyFunction_Check(callable) || PyTuple_GET_SIZE(args) != 1 ||
      !(isLiteral(PyTuple_GET_ITEM(args, 0)) || PyTuple_GET_ITEM(args, 0) == Py_None) ||
      textOf(PyDict_GetItemString(t.globals(), "__name__")) != "dataclasses" ||
      describeCallable(callable) != "copy.deepcopy")
    return std::nullopt;
  return VariableTracker{Ref::borrow(PyTuple_GET_ITEM(args, 0)), nullptr, false};
}

VariableTracker inlineCall(FrameTracer& tracer, const VariableTracker& callable, PyObject* args, PyObject* kwargs,
                           std::vector<VariableTracker>& sources) {
  settleTwins(tracer, sources);
  tracer.pendingArguments = &sources;
  tracer.pendingCallable = callable;
  PyObject* result = PyObject_Call(callable.get(), args, kwargs);
  const bool entered = tracer.pendingArguments == nullptr;
  tracer.pendingArguments = nullptr;
  if (result == nullptr && !entered && isPythonFunction(callable.get()) && PyErr_ExceptionMatches(PyExc_TypeError)) {
    PyErr_Clear();
    const std::string name = describeCallable(functionOf(callable.get()));
    unsupported("failed to bind arguments when attempting to inline",
                fmt::format("Argument mismatch when attempting to trace function {}.", name), "func='" + name + "'");
  }
  Ref made = tracer.checked(result);
  VariableTracker returned = std::exchange(tracer.returned, {});
  if (returned.get() == made.get()) return returned;
  return {std::move(made), nullptr, false};
}

constexpr const char* kHookTables[] = {
    "_backward_hooks",    "_backward_pre_hooks",        "_forward_hooks",
    "_forward_pre_hooks", "_forward_hooks_with_kwargs", "_forward_pre_hooks_with_kwargs"};

/// A module without hooks is its forward; hooks run as torch's Python half runs them.
bool hasHooks(FrameTracer& tracer, StandIn& standIn) {
  bool found = false;
  for (const char* table : kHookTables) {
    const VariableTracker hooks = tracer.effects.ownAttribute(standIn, table);
    found = found || (hooks && PyDict_Check(hooks.get()) && PyDict_GET_SIZE(hooks.get()) > 0);
  }
  if (found) return true;
  for (const char* table : kHookTables)
    if (standIn.source) tracer.addGuard(emptyHooksGuard(Source::attribute(standIn.source, table)));
  return false;
}

std::string argumentTypes(PyObject* args) {
  std::string text;
  for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(args); ++k)
    text += (k > 0 ? ", '" : "'") + typeNameOf(PyTuple_GET_ITEM(args, k)) + "'";
  return "[" + text + "]";
}

[[noreturn]] void refuseBuiltin(PyObject* callable, PyObject* args, PyObject* kwargs) {
  const std::string name = textOf(attributeOf(callable, "__name__").get());
  const std::string module = textOf(attributeOf(callable, "__module__").get());
  const std::string types = argumentTypes(args);
  const char* keywords = kwargs && PyDict_GET_SIZE(kwargs) > 0 ? "True" : "False";
  if (module == "builtins" || module == "_operator")
    unsupported(
        "Failed to trace builtin operator",
        fmt::format("Dynamo does not know how to trace builtin operator `{}` with argument types {} (has_kwargs {})",
                    name, types, keywords),
        fmt::format("builtin {} {} {}", name, types, keywords),
        {fmt::format("Avoid calling builtin `{}` with argument types {}. Consider using an equivalent alternative "
                     "function/method to `{}`.",
                     name, types, name)});
  unsupported("Attempted to call function marked as skipped",
              fmt::format("Dynamo does not know how to trace the builtin `{}`.", describeCallable(callable)),
              "module: " + module + ", qualname: " + name);
}

/// torch._dynamo.allow_in_graph keeps the identities of its functions.
bool isAllowedInGraph(PyObject* function) {
  PyObject* module = PyDict_GetItemString(PyImport_GetModuleDict(), "torch._dynamo.decorators");
  const Ref allowed = module ? attributeOf(module, "_allowed_in_graph") : Ref();
  const Ref identity = Ref::steal(PyLong_FromVoidPtr(function));
  const int found = allowed && PyAnySet_Check(allowed.get()) ? PySet_Contains(allowed.get(), identity.get()) : 0;
  PyErr_Clear();
  return found == 1;
}

/// Objects written in C whose methods change nothing.
bool isFrozen(PyObject* object) {
  const std::string module = textOf(attributeOf(reinterpret_cast<PyObject*>(Py_TYPE(object)), "__module__").get());
  return module == "re" || module == "_thread" || module == "torch" || module == "datetime" || module == "decimal" ||
         PyFrozenSet_Check(object) || PyUnicode_Check(object) || PyLong_Check(object) || PyFloat_Check(object);
}

/// object.__setattr__ and its like look at one attribute, not at all that can be reached.
bool isSlotWrapper(PyObject* callable) {
  const std::string_view type = Py_TYPE(callable)->tp_name;
  if (type != "wrapper_descriptor" && type != "method-wrapper") return false;
  const std::string name = textOf(attributeOf(callable, "__name__").get());
  return name == "__setattr__" || name == "__delattr__" || name == "__init__";
}

/// The class's __call__ that an object of the program is called by.
void guardCallMethod(FrameTracer& tracer, const StandIn& standIn) {
  PyObject* method = _PyType_Lookup(Py_TYPE(standIn.value.get()), makeText("__call__").get());
  if (standIn.source && method != nullptr && PyFunction_Check(method))
    tracer.addGuard(constantGuard(method, Source::attribute(Source::type(standIn.source), "__call__")));
}

/// Functions of torch.nn.functional that Dynamo traces into: they look at `torch` by a name of their own.
void noteTracedFunctional(FrameTracer& tracer, PyObject* function) {
  static constexpr std::array<std::string_view, 3> names = {"pad", "lp_pool3d", "triplet_margin_with_distance_loss"};
  constexpr std::string_view module = "torch.nn.functional.";
  const std::string name = describeCallable(function);
  if (!name.starts_with(module) || std::ranges::find(names, name.substr(module.size())) == names.end()) return;
  PyObject* torch = PyDict_GetItemString(PyImport_GetModuleDict(), "torch");
  if (torch != nullptr)
    tracer.met.emplace(torch, Source::constant("__import_torch_dot_nn_dot_functional.torch", Ref::borrow(torch)));
}

/// Builtins that go over what they get.
bool iterates(PyObject* callable) {
  static constexpr std::array<std::string_view, 14> names = {
      "enumerate", "zip", "map", "filter", "list", "tuple", "sum", "sorted", "iter", "min", "max", "any", "all", "set"};
  const std::string name = textOf(attributeOf(callable, "__name__").get());
  return textOf(attributeOf(callable, "__module__").get()) == "builtins" &&
         std::ranges::find(names, name) != names.end();
}

/// sorted(vars(x)): Dynamo knows single entries of an object's dict alone.
bool iteratesOwnDict(const FrameTracer& tracer, PyObject* callable, PyObject* args) {
  if (tracer.ownDicts.empty() || !iterates(callable)) return false;
  for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(args); ++k)
    if (tracer.ownDicts.contains(PyTuple_GET_ITEM(args, k))) return true;
  return false;
}

/// Lists that methods of constants gave are constants.
void refuseFrozenChange(FrameTracer& tracer, PyObject* callable, PyObject* self) {
  static const std::unordered_set<std::string_view> changing = {"append", "extend",  "insert", "pop",
                                                                "remove", "reverse", "sort",   "clear"};
  // In the outermost frame the list's bound method would live across the break.
  if (self == nullptr || tracer.depth < 2 || !tracer.frozenLists.contains(self)) return;
  const std::string name = textOf(attributeOf(callable, "__name__").get());
  if (changing.contains(name)) refuseListMethod(name);
}

void realizeAll(FrameTracer& tracer, std::vector<VariableTracker>& sources, PyObject* args, PyObject* kwargs) {
  for (VariableTracker& source : sources) tracer.realize(source);
  tracer.realizeDeep(args);
  if (kwargs != nullptr) tracer.realizeDeep(kwargs);
}

/// Functions that take functions are traced as Kerf's own stand-ins for them are written.
VariableTracker callInstead(InstructionTranslator& t, const TracedInstead& other, PyObject* args, PyObject* kwargs,
                            std::vector<VariableTracker> sources) {
  Ref all = Ref::borrow(args);
  if (other.self) {
    if (PyType_Check(other.self.get())) guardAutogradFunction(t.tracer(), other.self.get());
    const Ref first = Ref::steal(PyTuple_Pack(1, other.self.get()));
    all = Ref::steal(PySequence_Concat(first.get(), args));
    sources.insert(sources.begin(), VariableTracker{other.self, nullptr, false});
  }
  try {
    return t.callWith({other.function, nullptr, false}, all.get(), kwargs, std::move(sources));
  } catch (Unsupported& reason) {
    if (reason.stack.empty()) reason.stack = t.tracer().userStack();
    if (reason.error.empty() && other.mustTrace) reason.error = "UncapturedHigherOrderOpError";
    throw;
  }
}

}  // namespace

VariableTracker InstructionTranslator::call(VariableTracker callable, std::vector<VariableTracker> args,
                                            PyObject* keywordNames) {
  const Py_ssize_t named = keywordNames ? PyTuple_GET_SIZE(keywordNames) : 0;
  const Py_ssize_t positional = static_cast<Py_ssize_t>(args.size()) - named;
  const Ref tuple = Ref::steal(PyTuple_New(positional));
  for (Py_ssize_t k = 0; k < positional; ++k)
    PyTuple_SET_ITEM(tuple.get(), k, Py_NewRef(args[static_cast<std::size_t>(k)].get()));
  const Ref dict = Ref::steal(named > 0 ? PyDict_New() : nullptr);
  for (Py_ssize_t k = 0; k < named; ++k)
    PyDict_SetItem(dict.get(), PyTuple_GET_ITEM(keywordNames, k), args[static_cast<std::size_t>(positional + k)].get());
  return callWith(std::move(callable), tuple.get(), dict.get(), std::move(args));
}

VariableTracker InstructionTranslator::callWith(VariableTracker callable, PyObject* args, PyObject* kwargs,
                                                std::vector<VariableTracker> sources) {
  if (!callable) unsupported("Empty stack", "A call of nothing.", where());
  m_tracer.realize(callable);
  PyObject* target = callable.get();
  if (kwargs == nullptr && (holdsSym(args) || !m_tracer.randomCalls.empty()))
    if (Ref number = callOnNumbers(m_tracer, target, args)) return {std::move(number), nullptr, false};
  if (std::optional<VariableTracker> known = callBuiltin(*this, target, args, kwargs, sources)) return *known;
  if (isTraceFunction(target)) {
    for (VariableTracker& source : sources) m_tracer.realize(source);
    return {m_tracer.checked(PyObject_Call(target, args, kwargs)), nullptr, false};
  }
  if (std::optional<VariableTracker> drawn = callRandom(m_tracer, target, args, kwargs)) return *drawn;
  noteLookups(m_tracer, target);
  if (std::optional<TracedInstead> other = tracedInstead(target)) {
    guardKeywordDefaults(m_tracer, callable, kwargs);
    return callInstead(*this, *other, args, kwargs, std::move(sources));
  }
  const std::string graphName = graphFunctionName(target);
  if (!graphName.empty()) {
    noteTracedFunctional(m_tracer, target);
    realizeAll(m_tracer, sources, args, kwargs);
    return {traceTorchFunction(m_tracer, graphName, target, args, kwargs), nullptr, false};
  }
  if (PyFunction_Check(target)) {
    if (attributeOf(target, "_dynamo_marked_constant")) {
      const NativeScope native;
      return {m_tracer.checked(PyObject_Call(target, args, kwargs)), nullptr, false};
    }
    if (isAllowedInGraph(target)) {
      realizeAll(m_tracer, sources, args, kwargs);
      const QuietScope quiet(m_tracer);
      return {m_tracer.graph.callFunction(describeCallable(target), target, args, kwargs), nullptr, false};
    }
  }
  StandIn* standIn = m_tracer.effects.find(target);
  if (standIn != nullptr && standIn->kind == StandIn::Kind::Object && isModule(target)) {
    if (hasHooks(m_tracer, *standIn)) {
      for (VariableTracker& source : sources) m_tracer.realize(source);
    } else {
      return callWith(loadAttribute(callable, "forward"), args, kwargs, std::move(sources));
    }
  }
  if (std::optional<VariableTracker> entered = m_tracer.modes.call(target)) return *entered;
  if (std::optional<VariableTracker> atom = copyOfAtom(*this, target, args)) return *atom;
  if (callsPython(target)) {
    refuseMarked(target);
    if (standIn != nullptr && standIn->kind == StandIn::Kind::Object && !isModule(target))
      guardCallMethod(m_tracer, *standIn);
    if (standIn != nullptr && standIn->kind == StandIn::Kind::Object && !isModule(target))
      return callWith(loadAttribute(callable, "__call__"), args, kwargs, std::move(sources));
    return inlineCall(m_tracer, callable, args, kwargs, sources);
  }
  const Ref self = PyCFunction_Check(target) ? attributeOf(target, "__self__") : Ref();
  const bool changesOutside = self && m_tracer.effects.isOpaque(self.get()) && !isFrozen(self.get());
  if (PyType_Check(target) && std::string_view(reinterpret_cast<PyTypeObject*>(target)->tp_name) == "itertools.starmap")
    unsupported("Unsupported function call",
                "Dynamo does not know how to trace the function `<class 'itertools.starmap'>`",
                "call_function ItertoolsVariable(<class 'itertools.starmap'>)",
                {"Avoid calling `<class 'itertools.starmap'>` in your code."});
  if (changesOutside || !mayCall(target) || iteratesOwnDict(m_tracer, target, args)) {
    for (VariableTracker& source : sources) m_tracer.realize(source);
    refuseBuiltin(target, args, kwargs);
  }
  if (std::optional<VariableTracker> made = callTrackedIterator(*this, target, args, kwargs, sources)) return *made;
  if (iterates(target))
    for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(args); ++k) guardIteration(m_tracer, PyTuple_GET_ITEM(args, k));
  if (std::optional<VariableTracker> known = callContainerMethod(*this, target, args, kwargs, sources)) return *known;
  if (isSlotWrapper(target)) {
    for (VariableTracker& source : sources) m_tracer.settle(source);
  } else {
    realizeAll(m_tracer, sources, args, kwargs);
    m_tracer.realizeDeep(attributeOf(target, "__self__").get());
  }
  refuseFrozenChange(m_tracer, target, self.get());
  const Ref wrapped = wrapGraphFunctions(args);
  Ref made = m_tracer.checked(PyObject_Call(target, wrapped.get(), kwargs));
  if (self && PyList_CheckExact(made.get()) && isConstant(self.get())) {
    m_tracer.frozenLists.insert(made.get());
    m_tracer.kept.push_back(made);
  }
  return {std::move(made), nullptr, false};
}

}  // namespace kerf::inline dynamo
