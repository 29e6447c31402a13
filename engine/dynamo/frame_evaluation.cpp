// CPython's internals of 3.11: this file alone looks at them.
#define Py_BUILD_CORE 1
#include <Python.h>
#include <internal/pycore_frame.h>
#undef Py_BUILD_CORE

#include <algorithm>
#include <chrono>
#include <memory>
#include <unordered_map>
#include <unordered_set>

#include "engine/dynamo/capture_log.h"
#include "engine/dynamo/frame_evaluation.h"
#include "engine/dynamo/frame_start.h"
#include "engine/dynamo/instruction_translator.h"
#include "engine/dynamo/modules.h"
#include "engine/dynamo/recompile_errors.h"
#include "engine/dynamo/settings.h"
#include "engine/dynamo/values.h"
#include "engine/torch_api/tensor_type.h"

namespace kerf::inline dynamo {
namespace {

constexpr long kRecompileLimit = 8;

/// Set by either of its two names.
std::size_t recompileLimit() {
  const long limit = dynamoSetting("recompile_limit", kRecompileLimit);
  return std::size_t(std::max(0L, limit != kRecompileLimit ? limit : dynamoSetting("cache_size_limit", limit)));
}

/// Compiled forms of one code object.
struct FrameCache {
  Ref code;
  std::vector<std::shared_ptr<CacheEntry>> entries;
  bool skipped = false;
  int number = -1;  ///< in the order of first compilations
};

struct State {
  const FrameOptions* options = nullptr;  ///< null: nothing is compiled
  std::unordered_map<PyCodeObject*, std::shared_ptr<FrameCache>> caches;
  std::unordered_map<std::string, std::shared_ptr<FrameState>>
      seen;                                    ///< by place and name: code objects made again share it
  std::unordered_set<PyObject*> written;       ///< code objects that were made here
  int compiledCodes = 0;                       ///< how many code objects were met
  std::unordered_set<PyObject*> chosen;        ///< those of functions that torch.compile got
  std::unordered_map<PyObject*, Ref> skipped;  ///< those that the program asked not to compile
};

State& state() {
  static State held;
  return held;
}

SuspendedGenerators* innermostAttempt = nullptr;

PyObject* evaluateDefault(PyThreadState* thread, _PyInterpreterFrame* frame, int thrown) {
  return _PyEval_EvalFrameDefault(thread, frame, thrown);
}

/// In co_localspluskinds: a variable that closures share.
constexpr int kCellKind = 0x40;

bool isGenerator(const _PyInterpreterFrame* frame) { return frame->owner == FRAME_OWNED_BY_GENERATOR; }

PyObject* functionOf(_PyInterpreterFrame* frame) { return reinterpret_cast<PyObject*>(frame->f_func); }

/// Defaults that are more than a number or text are told apart by their number, too.
VariableTracker positionalDefault(FrameTracer& tracer, PyObject* function, const SourcePtr& base, Py_ssize_t place) {
  PyObject* all = PyFunction_GET_DEFAULTS(function);
  PyObject* value = PyTuple_GET_ITEM(all, place);
  const SourcePtr source = Source::attribute(base, "__defaults__");
  if (!isConstant(value)) tracer.addGuard(lengthGuard(all, source));
  return tracer.effects.wrap(value, Source::item(source, Ref::steal(PyLong_FromSsize_t(place))));
}

/// Where the function that is called was found.
SourcePtr functionSource(const FrameTracer& tracer, PyObject* function) {
  if (tracer.pendingCallable.source && tracer.pendingCallable.get() == function) return tracer.pendingCallable.source;
  if (const auto known = tracer.functions.find(function); known != tracer.functions.end()) return known->second;
  const auto* code = reinterpret_cast<PyCodeObject*>(PyFunction_GET_CODE(function));
  return Source::constant(textOf(code->co_name), Ref::borrow(function));
}

/// The source of an argument's default, which binding took out of the function.
VariableTracker defaultOf(FrameTracer& tracer, PyObject* function, PyObject* value) {
  if (function == nullptr || tracer.freshFunctions.contains(function)) return {Ref::borrow(value), nullptr, false};
  PyObject* defaults = PyFunction_GET_DEFAULTS(function);
  const SourcePtr base = functionSource(tracer, function);
  for (Py_ssize_t k = 0; defaults && k < PyTuple_GET_SIZE(defaults); ++k)
    if (PyTuple_GET_ITEM(defaults, k) == value) return positionalDefault(tracer, function, base, k);
  PyObject *key = nullptr, *item = nullptr;
  PyObject* named = PyFunction_GET_KW_DEFAULTS(function);
  for (Py_ssize_t at = 0; named && PyDict_Next(named, &at, &key, &item) != 0;)
    if (item == value)
      return tracer.effects.wrap(value, Source::item(Source::attribute(base, "__kwdefaults__"), Ref::borrow(key)));
  return {Ref::borrow(value), nullptr, false};
}

VariableTracker argumentOf(FrameTracer& tracer, const std::vector<VariableTracker>* pending, PyObject* function,
                           PyObject* value) {
  if (pending != nullptr)
    for (const VariableTracker& argument : *pending)
      if (argument.get() == value) return argument;
  if (const auto known = PyType_CheckExact(value) ? tracer.met.find(value) : tracer.met.end();
      known != tracer.met.end())
    return {Ref::borrow(value), known->second, false};
  return defaultOf(tracer, function, value);
}

int nextIndex(const Bytecode& bytecode, int lastUnit) {
  for (std::size_t k = 0; k < bytecode.instructions.size(); ++k)
    if (bytecode.instructions[k].offset > 2 * lastUnit) return static_cast<int>(k);
  return 0;
}

/// Free variables are the function's own cells; those from outside have stand-ins.
void fillFrees(FrameTracer& tracer, PyCodeObject* code, PyObject* function, std::vector<VariableTracker>& variables) {
  PyObject* closure = function ? PyFunction_GET_CLOSURE(function) : nullptr;
  const int first = code->co_nlocalsplus - code->co_nfreevars;
  for (int k = 0; closure && k < code->co_nfreevars; ++k) {
    PyObject* cell = PyTuple_GET_ITEM(closure, k);
    VariableTracker& variable = variables[static_cast<std::size_t>(first + k)];
    if (tracer.freshFunctions.contains(function)) {
      variable = {Ref::borrow(cell), nullptr, false};
      continue;
    }
    const SourcePtr cells = Source::attribute(functionSource(tracer, function), "__closure__");
    variable = tracer.effects.cell(cell, Source::item(cells, Ref::steal(PyLong_FromLong(k))));
  }
}

/// What a call's further arguments are bound to: a tuple whose items keep their sources, and a dict.
void noteFurther(FrameTracer& tracer, const PyCodeObject* code, const std::vector<VariableTracker>& pending,
                 const std::vector<VariableTracker>& variables) {
  auto slot = static_cast<std::size_t>(code->co_argcount + code->co_kwonlyargcount);
  const auto given = [&](PyObject* value) {
    for (const VariableTracker& argument : pending)
      if (argument.get() == value) return argument;
    return VariableTracker{Ref::borrow(value), nullptr, false};
  };
  if ((code->co_flags & CO_VARARGS) != 0) {
    PyObject* tuple = variables[slot++].get();
    std::vector<VariableTracker> items;
    for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(tuple); ++k) items.push_back(given(PyTuple_GET_ITEM(tuple, k)));
    if (std::ranges::any_of(items, [](const VariableTracker& item) { return item.lazy; }))
      tracer.trackedTuples[tuple] = {Ref::borrow(tuple), std::move(items)};
  }
  if ((code->co_flags & CO_VARKEYWORDS) == 0) return;
  PyObject* value = nullptr;
  for (Py_ssize_t at = 0; PyDict_Next(variables[slot].get(), &at, nullptr, &value) != 0;) {
    VariableTracker argument = given(value);
    tracer.realize(argument);
  }
}

/// A generator's variable that is still what it was keeps its source.
VariableTracker generatorVariable(const FrameTracer& tracer, const _PyInterpreterFrame* frame, std::size_t slot,
                                  PyObject* value) {
  const auto known = tracer.generatorVariables.find(frame);
  if (known != tracer.generatorVariables.end() && slot < known->second.size() && known->second[slot].get() == value)
    return known->second[slot];
  return {Ref::borrow(value), nullptr, false};
}

FrameStart startOf(FrameTracer& tracer, _PyInterpreterFrame* frame, const std::vector<VariableTracker>* pending) {
  FrameStart start;
  start.code = Ref::borrow(reinterpret_cast<PyObject*>(frame->f_code));
  start.globals = Ref::borrow(frame->f_globals);
  start.builtins = Ref::borrow(frame->f_builtins);
  start.function = Ref::borrow(functionOf(frame));
  const int places = frame->f_code->co_nlocalsplus;
  start.variables.resize(static_cast<std::size_t>(places));
  for (int slot = 0; slot < places; ++slot)
    if (PyObject* value = frame->localsplus[slot])
      start.variables[static_cast<std::size_t>(slot)] = isGenerator(frame)
                                                            ? generatorVariable(tracer, frame, std::size_t(slot), value)
                                                            : argumentOf(tracer, pending, functionOf(frame), value);
  fillFrees(tracer, frame->f_code, functionOf(frame), start.variables);
  if (pending != nullptr && !isGenerator(frame)) noteFurther(tracer, frame->f_code, *pending, start.variables);
  if (!isGenerator(frame)) return start;
  for (int k = places; k < frame->stacktop; ++k)
    start.stack.push_back({Ref::borrow(frame->localsplus[k]), nullptr, false});
  start.next = nextIndex(decode(frame->f_code), _PyInterpreterFrame_LASTI(frame));
  return start;
}

/// Leaves a generator's frame as YIELD_VALUE does.
void suspend(InstructionTranslator& translator, _PyInterpreterFrame* frame) {
  const int places = frame->f_code->co_nlocalsplus;
  for (int slot = 0; slot < places; ++slot)
    Py_XSETREF(frame->localsplus[slot], Py_XNewRef(translator.variables()[static_cast<std::size_t>(slot)].get()));
  for (int k = places; k < frame->stacktop; ++k) Py_CLEAR(frame->localsplus[k]);
  frame->stacktop = places;
  for (VariableTracker& held : translator.stack()) {
    translator.tracer().realize(held);
    frame->localsplus[frame->stacktop++] = Py_XNewRef(held.get());
  }
  translator.tracer().generatorVariables[frame] = translator.variables();
  frame->prev_instr = _PyCode_CODE(frame->f_code) + translator.instruction().offset / 2;
  PyGenObject* generator = _PyFrame_GetGenerator(frame);
  generator->gi_frame_state = FRAME_SUSPENDED;
  SuspendedGenerators::note(reinterpret_cast<PyObject*>(generator));
}

PyObject* inlineTraced(FrameTracer& tracer, _PyInterpreterFrame* frame, int thrown) {
  const std::vector<VariableTracker>* pending = std::exchange(tracer.pendingArguments, nullptr);
  if (functionOf(frame) != nullptr && !mayInline(functionOf(frame)))
    unsupported("Attempted to inline function marked as skipped",
                "Dynamo developers have intentionally marked that the function `" +
                    describeCallable(functionOf(frame)) + "` should not be traced.",
                "qualname: " + describeCallable(functionOf(frame)));
  FrameStart start = startOf(tracer, frame, pending);
  tracer.pendingCallable = {};
  InliningInstructionTranslator translator(tracer, std::move(start), tracer.translator);
  if (thrown != 0) translator.throwHere();
  const InstructionTranslator::Stop stop = translator.run();
  if (stop == InstructionTranslator::Stop::Yielded) {
    suspend(translator, frame);
    tracer.returned = {};
  } else {
    tracer.returned = {translator.result, translator.resultSource, translator.resultLazy};
  }
  return Py_NewRef(translator.result.get());
}

/// CPython makes the generator; its frame comes here when it runs, with what the call bound.
PyObject* makeGenerator(FrameTracer& tracer, PyThreadState* thread, _PyInterpreterFrame* frame, int thrown) {
  const std::vector<VariableTracker>* pending = std::exchange(tracer.pendingArguments, nullptr);
  std::vector<VariableTracker> variables = startOf(tracer, frame, pending).variables;
  tracer.pendingCallable = {};
  for (std::size_t slot = 0; slot < variables.size(); ++slot)
    if ((PyBytes_AS_STRING(frame->f_code->co_localspluskinds)[slot] & kCellKind) != 0) tracer.settle(variables[slot]);
  PyObject* generator = evaluateDefault(thread, frame, thrown);
  if (generator != nullptr && PyGen_CheckExact(generator))
    tracer.generatorVariables[reinterpret_cast<PyGenObject*>(generator)->gi_iframe] = std::move(variables);
  return generator;
}

PyObject* inlineFrame(FrameTracer& tracer, PyThreadState* thread, _PyInterpreterFrame* frame, int thrown) {
  const int flags = frame->f_code->co_flags;
  try {
    if (!isGenerator(frame) && (flags & CO_GENERATOR) != 0) return makeGenerator(tracer, thread, frame, thrown);
    if ((flags & (CO_COROUTINE | CO_ASYNC_GENERATOR)) != 0)
      unsupported("Unsupported coroutine", "Dynamo cannot trace coroutines.", describeCallable(functionOf(frame)));
    return inlineTraced(tracer, frame, thrown);
  } catch (const PythonRaised&) {
    return nullptr;
  } catch (...) {
    return tracer.keepException();
  }
}

FrameView viewOf(_PyInterpreterFrame* frame) {
  return {frame->f_code, frame->f_globals, frame->f_builtins, functionOf(frame), frame->localsplus};
}

PyObject* runEntry(const CacheEntry& entry, const FrameView& frame) {
  const Ref function = Ref::steal(PyFunction_New(entry.code.get(), frame.globals));
  if (!function) return nullptr;
  if (PyObject* closure = PyFunction_GET_CLOSURE(frame.function))
    if (PyFunction_SetClosure(function.get(), closure) < 0) return nullptr;
  const auto count = static_cast<std::size_t>(reinterpret_cast<PyCodeObject*>(entry.code.get())->co_argcount);
  return PyObject_Vectorcall(function.get(), frame.variables, count, nullptr);
}

std::string placeOf(PyCodeObject* code) {
  const std::string path = textOf(code->co_filename);
  return (path.starts_with("torch/") ? path : path.substr(path.rfind('/') + 1)) + ":" +
         std::to_string(code->co_firstlineno);
}

/// Whether code is of the backend and the kind of sizes that torch.compile asks for now.
bool isOfBackend(const FrameOptions& compiled, const FrameOptions& asked) {
  if (compiled.compiler != asked.compiler || compiled.isAot != asked.isAot || compiled.dynamic != asked.dynamic)
    return false;
  if (!compiled.backend || !asked.backend) return !compiled.backend && !asked.backend;
  const int equal = PyObject_RichCompareBool(compiled.backend.get(), asked.backend.get(), Py_EQ);
  if (equal < 0) PyErr_Clear();
  return equal == 1;
}

/// A backend's own __eq__ may reset the cache or add to it: the entries are looked through as they are now.
std::shared_ptr<const CacheEntry> findEntry(const FrameCache& cache, const FrameView& frame) {
  const NativeScope native;
  const FrameScope scope = scopeOf(frame);
  std::string reason;
  const auto entries = cache.entries;
  for (const auto& entry : entries) {
    if (state().options != nullptr && !isOfBackend(entry->options, *state().options)) {
      if (reason.empty()) reason = "BACKEND_MATCH failure: torch.compile detected different backend callables.";
      continue;
    }
    const Guard* failure = entry->guards.firstFailure(scope);
    if (failure == nullptr) return entry;
    if (reason.empty()) reason = failureText(*failure, scope);
  }
  if (!cache.entries.empty())
    captureLog().recompiles.push_back({textOf(frame.code->co_name), placeOf(frame.code), reason});
  return nullptr;
}

bool mayCompile(_PyInterpreterFrame* frame) {
  constexpr int kNever = CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR;
  if (isGenerator(frame) || (frame->f_code->co_flags & kNever) != 0 || frame->f_func == nullptr) return false;
  if ((frame->f_code->co_flags & CO_OPTIMIZED) == 0) return false;
  PyObject* code = reinterpret_cast<PyObject*>(frame->f_code);
  if (state().written.contains(code) || state().skipped.contains(code)) return false;
  if (textOf(frame->f_code->co_filename).starts_with("<kerf")) return false;
  // Comprehensions get an iterator, which tracing would use up.
  const std::string function = textOf(frame->f_code->co_name);
  if (function == "<listcomp>" || function == "<setcomp>" || function == "<dictcomp>" || function == "<genexpr>")
    return false;
  PyObject* module = PyDict_GetItemString(frame->f_globals, "__name__");
  const std::string name = module ? textOf(module) : std::string();
  if (name == "torch" || name.starts_with("torch.")) return false;
  return mayInline(functionOf(frame)) && name != "contextlib" && name != "functools" && name != "copyreg";
}

/// Whether a value is a tensor or a module, or holds one in lists, tuples and dicts.
bool holdsTensor(PyObject* value, std::unordered_set<PyObject*>& seen) {
  if (value == nullptr || !seen.insert(value).second) return false;
  if (isTensor(value) || isModule(value)) return true;
  if (PyType_Check(value)) return isModuleType(reinterpret_cast<PyTypeObject*>(value));
  const auto sequence = [&] {
    for (Py_ssize_t k = 0; k < PySequence_Fast_GET_SIZE(value); ++k)
      if (holdsTensor(PySequence_Fast_GET_ITEM(value, k), seen)) return true;
    return false;
  };
  const bool named = PyTuple_Check(value) && attributeOf(value, "_fields");
  if (PyList_CheckExact(value) || PyTuple_CheckExact(value) || named) return sequence();
  PyObject *key = nullptr, *item = nullptr;
  for (Py_ssize_t at = 0; PyDict_CheckExact(value) && PyDict_Next(value, &at, &key, &item) != 0;)
    if (holdsTensor(item, seen)) return true;
  return false;
}

/// A frame that neither names torch nor holds a tensor is not worth a look (has_tensor_in_frame).
bool isOfInterest(const FrameView& frame) {
  if (state().chosen.contains(reinterpret_cast<PyObject*>(frame.code))) return true;
  for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(frame.code->co_names); ++k) {
    PyObject* global = PyDict_GetItemWithError(frame.globals, PyTuple_GET_ITEM(frame.code->co_names, k));
    if (global != nullptr && isTorchNamespace(global)) return true;
  }
  PyErr_Clear();
  std::unordered_set<PyObject*> seen;
  for (int slot = 0; slot < frame.code->co_nlocalsplus; ++slot) {
    PyObject* value = frame.variables[slot];
    if (holdsTensor(value != nullptr && PyCell_Check(value) ? PyCell_GET(value) : value, seen)) return true;
  }
  // Not all places are filled when a frame starts: what it closes over is in its function.
  PyObject* closure = frame.function ? PyFunction_GET_CLOSURE(frame.function) : nullptr;
  for (Py_ssize_t k = 0; closure && k < PyTuple_GET_SIZE(closure); ++k)
    if (holdsTensor(PyCell_GET(PyTuple_GET_ITEM(closure, k)), seen)) return true;
  return false;
}

/// What the log's newest frame is among those of its code object, and which recompile it is.
void noteFrame(const FrameCache& cache, std::size_t recompiles, std::chrono::duration<double, std::milli> time) {
  CaptureLog& log = captureLog();
  LoggedFrame& frame = log.frames.back();
  frame.number = cache.number;
  frame.entry = static_cast<int>(cache.entries.size());
  frame.milliseconds = time.count();
  if (!cache.entries.empty() && recompiles > 0 && recompiles <= log.recompiles.size())
    log.recompiles[recompiles - 1].frame = static_cast<int>(log.frames.size()) - 1;
}

PyObject* evaluateCompiled(PyThreadState* thread, _PyInterpreterFrame* frame) {
  auto& kept = state().caches[frame->f_code];
  if (!kept) kept = std::make_shared<FrameCache>();
  const std::shared_ptr<FrameCache> held = kept;  // what the program calls here may reset the cache
  FrameCache& cache = *held;
  if (!cache.code) cache.code = Ref::borrow(reinterpret_cast<PyObject*>(frame->f_code));
  if (cache.skipped) return evaluateDefault(thread, frame, 0);
  const FrameView view = viewOf(frame);
  if (cache.entries.empty() && !isOfInterest(view)) return evaluateDefault(thread, frame, 0);
  std::shared_ptr<const CacheEntry> entry = cache.entries.empty() ? nullptr : findEntry(cache, view);
  if (entry == nullptr) {
    const std::string stance = currentStance();
    if (stance == "eager_on_recompile") return evaluateDefault(thread, frame, 0);
    if (stance == "fail_on_recompile") {
      const std::size_t count = cache.entries.size();
      return raiseByStance(view, count == 0 ? "" : std::to_string(cache.number) + "/" + std::to_string(count - 1));
    }
    if (cache.entries.size() >= recompileLimit()) {
      if (dynamoSetting("fail_on_recompile_limit_hit", 0) != 0) return raiseAtLimit("fail_on_recompile_limit_hit");
      if (state().options->fullgraph) return raiseAtLimit("fullgraph=True");
      return evaluateDefault(thread, frame, 0);
    }
    if (!cache.entries.empty() && dynamoSetting("error_on_recompile", 0) != 0) return raiseRecompile();
    const auto start = std::chrono::steady_clock::now();
    const std::size_t recompiles = captureLog().recompiles.size();
    if (cache.number < 0) cache.number = state().compiledCodes++;
    const FrameOptions* options = std::exchange(state().options, nullptr);
    auto& place = state().seen[placeOf(view.code) + " " + textOf(view.code->co_name)];
    if (!place) place = std::make_shared<FrameState>();
    const std::shared_ptr<FrameState> seen = place;
    ConvertResult converted = convertFrame(view, *options, *seen);
    state().options = options;
    if (converted.failed) return nullptr;
    if (!converted.entry) {
      cache.skipped = cache.entries.empty();
      return evaluateDefault(thread, frame, 0);
    }
    noteFrame(cache, recompiles, std::chrono::steady_clock::now() - start);
    state().written.insert(converted.entry->code.get());
    converted.entry->options = *state().options;
    cache.entries.insert(cache.entries.begin(), std::move(converted.entry));
    entry = cache.entries.front();
  }
  ++*entry->runs;
  return runEntry(*entry, view);
}

PyObject* evaluateFrame(PyThreadState* thread, _PyInterpreterFrame* frame, int thrown) {
  if (NativeScope::active()) return evaluateDefault(thread, frame, thrown);
  if (FrameTracer* tracer = FrameTracer::active()) return inlineFrame(*tracer, thread, frame, thrown);
  if (thrown != 0 || state().options == nullptr || !mayCompile(frame)) return evaluateDefault(thread, frame, thrown);
  return evaluateCompiled(thread, frame);
}

PyObject* callWithOptions(PyObject* function, PyObject* args, PyObject* kwargs, const FrameOptions* options) {
  _PyInterpreterState_SetEvalFrameFunc(PyInterpreterState_Get(), evaluateFrame);
  const FrameOptions* before = std::exchange(state().options, options);
  PyObject* result = PyObject_Call(function, args, kwargs);
  state().options = before;
  return result;
}

}  // namespace

SuspendedGenerators::SuspendedGenerators() : m_around(std::exchange(innermostAttempt, this)) {}
SuspendedGenerators::~SuspendedGenerators() {
  innermostAttempt = m_around;
  for (const auto& [weak, held] : m_weak) {
    PyObject* generator = PyWeakref_GetObject(weak);
    if (!PyGen_CheckExact(generator)) continue;  // None: it is gone
    auto& state = reinterpret_cast<PyGenObject*>(generator)->gi_frame_state;
    if (state == FRAME_SUSPENDED) state = FRAME_COMPLETED;
  }
}
void SuspendedGenerators::note(PyObject* generator) {
  if (innermostAttempt == nullptr) return;
  Ref weak = Ref::steal(PyWeakref_NewRef(generator, nullptr));
  PyErr_Clear();
  PyObject* key = weak.get();
  if (key != nullptr) innermostAttempt->m_weak.try_emplace(key, std::move(weak));
}

PyObject* callCompiled(PyObject* function, PyObject* args, PyObject* kwargs, const FrameOptions& options) {
  PyObject* inner = PyMethod_Check(function) ? PyMethod_GET_FUNCTION(function) : function;
  if (PyFunction_Check(inner)) state().chosen.insert(PyFunction_GET_CODE(inner));
  return callWithOptions(function, args, kwargs, &options);
}

PyObject* callDisabled(PyObject* function, PyObject* args, PyObject* kwargs) {
  return callWithOptions(function, args, kwargs, nullptr);
}

void skipCode(PyObject* code) { state().skipped.try_emplace(code, Ref::borrow(code)); }

void resetCache() {
  state().caches.clear();
  state().seen.clear();
  state().written.clear();
  state().chosen.clear();
}

}  // namespace kerf::inline dynamo
