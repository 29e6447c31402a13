#include "engine/dynamo/convert_frame.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "engine/dynamo/bytecode_listing.h"
#include "engine/dynamo/call_backend.h"
#include "engine/dynamo/capture_log.h"
#include "engine/dynamo/compiled_frame.h"
#include "engine/dynamo/counters.h"
#include "engine/dynamo/fake_failures.h"
#include "engine/dynamo/frame_evaluation.h"
#include "engine/dynamo/frame_start.h"
#include "engine/dynamo/frame_writer.h"
#include "engine/dynamo/graph_compiler.h"
#include "engine/dynamo/handlers.h"
#include "engine/dynamo/input_aliases.h"
#include "engine/dynamo/instruction_translator.h"
#include "engine/dynamo/logged_graphs.h"
#include "engine/dynamo/modules.h"
#include "engine/dynamo/rank_agreement.h"
#include "engine/dynamo/settings.h"
#include "engine/torch_api/eager_ops.h"

namespace kerf::inline dynamo {
namespace {

constexpr int kMostAttempts = 50;

/// A Python backend raised: the caller gets that exception.
struct BackendRaised {};

/// Whether a backend wants the graph. "inductor" does where the program set options or passes, which it may do late.
bool wantsGraph(PyObject* backend) {
  if (backend == nullptr) return false;
  const NativeScope native;
  const Ref acts = Ref::steal(PyObject_GetAttrString(backend, "acts"));
  PyErr_Clear();
  const Ref answer = acts ? Ref::steal(PyObject_CallNoArgs(acts.get())) : Ref();
  PyErr_Clear();
  return answer.get() != Py_False;
}

std::string fileAndLine(const FrameView& frame) {
  const std::string path = textOf(frame.code->co_filename);
  return fmt::format("{}:{}", path.substr(path.rfind('/') + 1), frame.code->co_firstlineno);
}

LoggedBreak logged(const Unsupported& reason, std::vector<std::string> stack, bool graphBreak) {
  return {reason.type,        reasonText(reason.type, reason.explanation, reason.hints, reason.context),
          std::move(stack),   graphBreak,
          reason.explanation, reason.hints,
          reason.context};
}

void logBreak(const Unsupported& reason, bool graphBreak, int frame) {
  captureLog().breaks.push_back(logged(reason, reason.stack, graphBreak));
  captureLog().breaks.back().frame = frame;
  if (graphBreak) countEvent("graph_break", captureLog().breaks.back().reason);
}

std::string nameOf(const Guard& guard) {
  if (!guard.about.empty()) return guard.about;
  return guard.source ? guard.source->name() : std::string();
}

/// PyTorch has no guards on defaults of functions that are numbers or texts, and names classes in other ways.
bool isTold(const Guard& guard) {
  if (guard.isInternal) return false;
  if (guard.about.starts_with("G['__subclass_")) return true;
  const Source* root = guard.source.get();
  while (root != nullptr && root->base()) root = root->base().get();
  const bool isDefault = guard.source && guard.source->kind() == Source::Kind::Item &&
                         guard.source->base()->name().ends_with(".__defaults__") &&
                         (guard.kind == "CONSTANT_MATCH" || guard.kind == "EQUALS_MATCH");
  return !isDefault && (root == nullptr || root->kind() != Source::Kind::Constant);
}

/// What step_graph_break says: where the graph ends, not what could not be traced.
Unsupported unsupportedStep(const std::string& where) { return {"step_unsupported", {}, {}, {}, {where}, false}; }

/// One attempt at tracing a frame; what it decided is read from it afterwards.
class Attempt {
 public:
  Attempt(const FrameView& frame, const FrameOptions& options, FrameState& seen, std::optional<BreakPoint> breakAt)
      : m_frame(frame), m_options(options), m_shape(frame.code), m_scope(m_tracer) {
    m_tracer.rootGlobals = frame.globals;
    m_tracer.symbols.state = &seen;
    m_tracer.symbols.mode = sizeMode(options.dynamic);
    m_tracer.graph.gradEnabled = gradModes().grad;
    m_tracer.graph.function = textOf(frame.code->co_name);
    if (captureLog().isDetailed) m_tracer.graph.userStack = [this] { return m_tracer.userStack(); };
    m_tracer.addGuard(gradModeGuard());
    FrameStart start;
    start.code = Ref::borrow(reinterpret_cast<PyObject*>(frame.code));
    start.globals = Ref::borrow(frame.globals);
    start.builtins = Ref::borrow(frame.builtins);
    start.function = Ref::borrow(frame.function);
    start.variables = firstVariables(m_tracer, frame, m_shape);
    m_root = std::make_unique<InstructionTranslator>(m_tracer, std::move(start), nullptr);
    m_root->breakAt = std::move(breakAt);
  }

  InstructionTranslator& root() { return *m_root; }
  FrameTracer& tracer() { return m_tracer; }

  /// Where the next attempt ends its graph; nothing where no part of the frame may be compiled.
  std::optional<BreakPoint> breakPointFor(const Unsupported& reason) {
    if (reason.skipFrame || m_options.fullgraph || m_root->steps() == 0) return std::nullopt;
    const Op op = m_root->instruction().op;
    const bool here = endsGraphAt(op) || (isJump(op) && op != Op::FOR_ITER && op != Op::SEND);
    if (here && m_root->mayCompilePartially()) {
      if (mayHaveBackedge(m_root->bytecode(), m_root->current())) return std::nullopt;
      return BreakPoint{m_root->steps(), reason, false};
    }
    if (m_root->lastEmptyStackStep() > 0) return BreakPoint{m_root->lastEmptyStackStep(), reason, true};
    return std::nullopt;
  }

  /// `isAgreed`: all ranks end their graphs of the function.
  std::unique_ptr<CacheEntry> finish(InstructionTranslator::Stop stop, bool isAgreed) {
    const bool whole = stop == InstructionTranslator::Stop::Returned;
    m_tracer.settleTuples();
    std::vector<Effect> effects = m_tracer.effects.changes();
    for (const Effect& effect : effects) {
      if (effect.kind == Effect::Kind::DictContents) m_tracer.guardKeys(effect.target.get());
      if (effect.kind == Effect::Kind::ListContents) m_tracer.guardLeadingConstants(effect.target.get());
    }
    if (whole && m_tracer.graph.countCalls() == 0) throw SkipFrame{"because no content in function call"};
    auto compiled = std::make_shared<CompiledFrame>();
    LiveState live;
    if (whole) {
      VariableTracker result{m_root->result, m_root->resultSource, m_root->resultLazy};
      m_tracer.realizeLeaving(result);
      m_tracer.guardAsConstant(result.get());
      compiled->results = {result.value};
      compiled->single = true;
      handOn(*compiled, 0, result);
    } else {
      live = liveState(*compiled);
      live.isAgreed = isAgreed;
    }
    fill(*compiled, std::move(effects));
    return write(std::move(compiled), whole, live);
  }

 private:
  /// What was not looked at needs no guard: it is fetched again.
  void handOn(CompiledFrame& compiled, std::size_t index, const VariableTracker& variable) {
    if (variable.lazy && variable.source && m_tracer.effects.find(variable.get()) == nullptr)
      compiled.moved[index] = variable.source;
  }

  /// The graph leaves the modes that it entered.
  void endModes() {
    m_tracer.modes.leaveAll();
    const bool before = gradModes().grad;
    if (m_tracer.graph.gradEnabled == before) return;
    const Ref function =
        Ref::steal(PyObject_GetAttrString(Ref::steal(PyImport_ImportModule("torch._C")).get(), "_set_grad_enabled"));
    const Ref args = Ref::steal(PyTuple_Pack(1, before ? Py_True : Py_False));
    m_tracer.graph.record(Opcode::CallFunction, "torch._C._set_grad_enabled", {{}, {}, function, args, {}});
    m_tracer.graph.gradEnabled = before;
  }

  /// locals() would look at the rewritten frame: it gets what the program's frame holds here.
  void answerLocals() {
    VariableTracker& callable = m_root->stack().back();
    if (m_root->instruction().op != Op::CALL || m_root->instruction().arg != 0 || !callable ||
        !PyCFunction_Check(callable.get()) || describeCallable(callable.get()) != "builtins.locals")
      return;
    const Ref dict = Ref::steal(PyDict_New()), module = Ref::steal(PyImport_ImportModule("functools"));
    for (int slot = 0; slot < m_shape.places; ++slot) {
      VariableTracker& held = m_root->variables()[static_cast<std::size_t>(slot)];
      if (!held) continue;
      m_tracer.realize(held);
      PyObject* value = PyCell_Check(held.get()) ? PyCell_GET(held.get()) : held.get();
      if (value != nullptr) PyDict_SetItemString(dict.get(), m_shape.name(slot).c_str(), value);
    }
    callable = {m_tracer.checked(PyObject_CallMethod(module.get(), "partial", "OO", &PyDict_Type, dict.get())), nullptr,
                false};
  }

  LiveState liveState(CompiledFrame& compiled) {
    LiveState live;
    live.index = m_root->current();
    const Instruction& instruction = m_root->instruction();
    live.isBefore = m_root->breakAt->isBefore;
    const bool leaves = m_root->breakAt->leavesFrame || live.isBefore;
    live.withs = m_root->openWiths().value_or(std::vector<int>());
    endModes();
    if (!leaves && !m_root->stack().empty()) answerLocals();
    std::vector<int> starts = {leaves ? live.index : live.index + 1};
    if (instruction.target >= 0 && !leaves) starts.push_back(instruction.target);
    for (const int slot : liveLocals(m_root->bytecode(), starts, m_shape)) {
      VariableTracker& held = m_root->variables()[static_cast<std::size_t>(slot)];
      if (!held) continue;
      // What has another name by now is loaded anew.
      if (held.source && held.source->name() != "L['" + m_shape.name(slot) + "']") m_tracer.realizeLeaving(held);
      handOn(compiled, compiled.results.size(), held);
      live.locals.push_back(slot);
      compiled.results.push_back(held.value);
    }
    for (VariableTracker& held : m_root->stack()) {
      // An iterator from outside is only handed on.
      if (held && held.lazy && PyIter_Check(held.get()) && !PyType_Check(held.get())) {
        handOn(compiled, compiled.results.size(), held);
        live.nulls.push_back(false);
        compiled.results.push_back(held.value);
        continue;
      }
      m_tracer.realize(held);
      m_tracer.realizeLeaving(held);
      live.nulls.push_back(!held);
      if (held) compiled.results.push_back(held.value);
    }
    return live;
  }

  void fill(CompiledFrame& compiled, std::vector<Effect> effects) {
    TemplateWalk walk(m_tracer.effects, m_tracer.freshFunctions);
    for (std::size_t k = 0; k < compiled.results.size(); ++k)
      if (!compiled.moved.contains(k)) walk.visit(compiled.results[k].get());
    for (const Effect& effect : effects) {
      const bool contents = effect.kind == Effect::Kind::ListContents || effect.kind == Effect::Kind::DictContents ||
                            effect.kind == Effect::Kind::SetContents;
      if (effect.kind != Effect::Kind::Global) walk.visit(effect.target.get());
      if (contents)
        walk.visitContents(effect.value.get());
      else
        walk.visit(effect.value.get());
    }
    compiled.effects = std::move(effects);
    compiled.standIns = walk.needs().standIns;
    compiled.numbers = walk.needs().numbers;
    compiled.floats = walk.needs().floats;
    compiled.slots = m_shape.inputs();
    compiled.globals = Ref::borrow(m_frame.globals);
    compiled.randomCalls = m_tracer.randomCalls;
    std::vector<NodeId> outputs;
    for (const NodeId node : walk.needs().nodes)
      if (node.valid()) outputs.push_back(node);
    compiled.outputs = outputs;
    m_isEmpty = m_tracer.graph.graph().order().empty();
    m_tracer.graph.finish(outputs);
    compiled.inputs = m_tracer.graph.inputs();
    compiled.calls = m_tracer.graph.calls();
    if (std::optional<Guard> guard = aliasGuard(compiled.inputs)) m_tracer.addGuard(std::move(*guard));
    for (Guard& guard : m_tracer.symbols.guards()) m_tracer.addGuard(std::move(guard));
  }

  std::unique_ptr<CacheEntry> write(std::shared_ptr<CompiledFrame> compiled, bool whole, LiveState live) {
    LoggedFrame logged{textOf(m_frame.code->co_name), fileAndLine(m_frame), {}, {}, m_isEmpty};
    CaptureLog& log = captureLog();
    if (m_tracer.graph.countCalls() > 0 || m_tracer.graph.hasFloatInput) {
      compiled->graphName = fmt::format("__compiled_fn_{}", ++log.compileNumber);
      logged.calls.push_back(compiled->graphName);
      LoggedGraph graph{compiled->graphName, m_tracer.graph.graph(), {}, {}, {}};
      for (const FrameInput& input : compiled->inputs) graph.sources.push_back(input.source->name());
      keepInputs(*compiled, graph);
      graph.nested = m_tracer.graph.nested();
      graph.stacks = std::move(m_tracer.graph.stacks);
      const bool isOfProgram = wantsGraph(m_options.backend.get());
      compiled->isAot = m_options.isAot && !isOfProgram;
      graph.ranBy = isOfProgram ? "eager" : compileByName(*compiled);
      log.graphs.push_back(std::move(graph));
      countEvent("stats", "unique_graphs");
      countEvent("stats", "calls_captured", long(m_tracer.graph.countCalls()));
      if (isOfProgram) {
        compiled->backendCall = callBackend(m_options.backend.get(), m_tracer.graph.graph(), *compiled);
        if (!compiled->backendCall) throw BackendRaised{};
      }
    }
    compiled->freshFunctions = m_tracer.freshFunctions;
    compiled->kept = m_tracer.kept;
    compiled->keptStandIns = m_tracer.effects.release();
    const Ref object = compiledFrameObject(compiled);
    auto entry = std::make_unique<CacheEntry>();
    if (whole) {
      entry->code = writeWholeFrame(m_shape, object);
    } else if (m_root->breakAt->leavesFrame) {
      entry->code = writeLeavingFrame(m_shape, m_root->bytecode(), object, live);
    } else {
      live.resumeNumber = ++log.compileNumber;
      entry->code = writePartialFrame(m_shape, m_root->bytecode(), object, live, m_root->keywordNames, logged.calls);
    }
    if (!entry->code) throw PythonRaised{};
    if (std::string text = m_tracer.symbols.constraintViolations(); !text.empty())
      throw ConstraintViolation{std::move(text)};
    entry->guards = m_tracer.guards;
    for (const Guard& guard : entry->guards.all()) {
      const bool isMode = isOfKeptMode(guard);
      if (isMode ? guard.source->base() != nullptr : !isTold(guard)) continue;
      logged.guards.push_back({isMode ? "CLASS_MATCH" : guard.kind, guard.leaf, nameOf(guard), guard.userLine});
      if (log.isDetailed) logged.guards.back().nanoseconds = costOf(guard);
    }
    if (log.isDetailed) {
      logged.original = listBytecode(m_frame.code);
      logged.modified = listBytecode(reinterpret_cast<PyCodeObject*>(entry->code.get()));
    }
    entry->runs = logged.runs;
    log.frames.push_back(std::move(logged));
    countEvent("frames", "ok");
    return entry;
  }

  double costOf(const Guard& guard) const {
    const NativeScope native;
    return GuardSet::cost(guard, scopeOf(m_frame));
  }

  /// What runs the graph: "inductor", or "eager" with the reason.
  std::string compileByName(CompiledFrame& compiled) {
    if (m_options.compiler.empty()) return "eager";
    if (m_tracer.graph.hasShownNodes()) return "eager (the graph has functions that take functions)";
    auto runner = compileGraph(m_options.compiler, m_tracer.graph.graph(), compiled);
    if (!runner) return "eager (" + runner.error().message + ")";
    compiled.runner = *std::move(runner);
    return m_options.compiler;
  }

  /// The bound __exit__ that a resume function gets of a mode around it: PyTorch hands on the manager's class.
  bool isOfKeptMode(const Guard& guard) const {
    const Source* root = guard.source.get();
    while (root != nullptr && root->base()) root = root->base().get();
    if (root == nullptr || root->kind() != Source::Kind::Local || !root->text().starts_with("___stack")) return false;
    PyObject* held = m_shape.isFree(root->slot()) ? nullptr : m_frame.variables[root->slot()];
    return held != nullptr && PyMethod_Check(held) && isRestorableManager(PyMethod_GET_SELF(held)) &&
           textOf(attributeOf(held, "__name__").get()) == "__exit__";
  }

  const FrameView& m_frame;
  const FrameOptions& m_options;
  FrameShape m_shape;
  FrameTracer m_tracer;
  SuspendedGenerators m_generators;  // ends before what the tracer holds of them
  TraceScope m_scope;
  std::unique_ptr<InstructionTranslator> m_root;
  bool m_isEmpty = false;
};

void raiseFullGraph(const Unsupported& reason) {
  const Ref module = Ref::steal(PyImport_ImportModule("torch._dynamo.exc"));
  Ref type = module ? attributeOf(module.get(), reason.error.empty() ? "Unsupported" : reason.error.c_str()) : Ref();
  PyErr_Clear();
  if (!type) type = Ref::borrow(PyExc_RuntimeError);
  std::string text = reasonText(reason.type, reason.explanation, reason.hints, reason.context);
  text += breakPage(reason.type) + userCode(reason.stack);
  if (reason.error == "UncapturedHigherOrderOpError")
    text =
        "This higher order operator doesn't work unless it is captured completely with torch.compile. Got graph "
        "break/error:\n\n" +
        text;
  PyErr_SetString(type.get(), text.c_str());
}

/// torch._dynamo.config.suppress_errors: the frame runs as it is, unless it must be one graph.
bool suppresses(const FrameOptions& options) {
  PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
  PyErr_Fetch(&type, &value, &trace);
  const bool does = !options.fullgraph && dynamoSetting("suppress_errors", 0) != 0;
  PyErr_Restore(type, value, trace);
  if (!does) return false;
  const std::string message = takePythonError().message;
  captureLog().skips.push_back({"Suppressed error", message, {}, false, message, {}, {}});
  return true;
}

/// Tells ranks that wait for this one's graph that there is none. False with a Python exception set.
bool tellSkip(RankAgreement& ranks, FrameState& seen, const std::string& reason, bool hasCalls) {
  return !ranks.isNeeded(hasCalls) || ranks.agreeToSkip(seen, reason) != RankAgreement::Next::Failed;
}

/// Another rank compiles nothing of the frame: its parts are compiled as they are called, on all ranks.
ConvertResult skipWithRanks(const RankAgreement& ranks, const FrameView& frame) {
  captureLog().skips.push_back(
      {"Skip of another rank", ranks.skipReason(), {fileAndLine(frame)}, false, ranks.skipReason(), {}, {}});
  return {};
}

}  // namespace

ConvertResult convertFrame(const FrameView& frame, const FrameOptions& options, FrameState& seen) {
  std::optional<BreakPoint> breakAt;
  RankAgreement ranks(frame.code);
  countEvent("frames", "total");
  for (int attempt = 0; attempt < kMostAttempts; ++attempt) {
    std::optional<Unsupported> stopped;
    try {
      Attempt trial(frame, options, seen, breakAt);
      if (!options.fullgraph) trial.root().follow = ranks.follow(trial.root().bytecode());
      try {
        const InstructionTranslator::Stop stop = trial.root().run();
        breakAt = trial.root().breakAt;
        if (ranks.isNeeded(trial.tracer().graph.countCalls() > 0)) {
          const RankAgreement::Next next = ranks.agree(seen, trial.root());
          if (next == RankAgreement::Next::Failed) return {nullptr, true};
          if (next == RankAgreement::Next::Skip) return skipWithRanks(ranks, frame);
          if (next == RankAgreement::Next::Trace) {
            breakAt.reset();  // where graphs end is found anew, with what all ranks trace with
            continue;
          }
        }
        std::unique_ptr<CacheEntry> entry = trial.finish(stop, ranks.isBreakOfAll());
        if (breakAt)
          logBreak(breakAt->leavesFrame ? unsupportedStep(trial.root().where()) : breakAt->reason, true,
                   int(captureLog().frames.size()) - 1);
        return {std::move(entry), false};
      } catch (Unsupported& reason) {
        PyErr_Clear();
        if (reason.stack.empty()) reason.stack = {trial.root().where()};
        if (trial.root().hasFollowed()) {
          ranks.leaveAsked();  // what lives there cannot be carried on
          breakAt.reset();
          continue;
        }
        std::optional<BreakPoint> next = trial.breakPointFor(reason);
        // The same break again: what lives there cannot be carried on.
        if (next && breakAt && next->step >= breakAt->step) next.reset();
        if (!reason.error.empty()) {
          raiseFullGraph(reason);
          return {nullptr, true};
        }
        if (!next && options.fullgraph) {
          logBreak(reason, true, -1);
          raiseFullGraph(reason);
          return {nullptr, true};
        }
        if (!next) {
          const bool hasCalls = trial.tracer().graph.countCalls() > 0;
          if (!tellSkip(ranks, seen, fmt::format("{}: {}", reason.stack.back(), reason.type), hasCalls))
            return {nullptr, true};
          // The frame runs as it was written, which is no graph break.
          captureLog().skips.push_back(logged(reason, reason.stack, false));
          return {};
        }
        breakAt = std::move(next);
      }
    } catch (const BackendRaised&) {
      return {nullptr, !suppresses(options)};
    } catch (const ConstraintViolation& violation) {
      setConstraintError(violation);
      return {nullptr, !suppresses(options)};
    } catch (const PythonRaised&) {
      if (raiseForFailure()) return {nullptr, !suppresses(options)};
      // The program's own exception: it is raised when the frame runs as it is.
      const std::string message = takePythonError().message;
      captureLog().skips.push_back({"Observed exception", message, {fileAndLine(frame)}, false, message, {}, {}});
      PyErr_Clear();
      return {nullptr, !tellSkip(ranks, seen, message, false)};
    } catch (const SkipFrame& skip) {
      return {nullptr, !tellSkip(ranks, seen, skip.reason, false)};
    } catch (const Unsupported& reason) {
      // An input that is not traced at all.
      PyErr_Clear();
      captureLog().skips.push_back(logged(reason, {fileAndLine(frame)}, false));
      if (options.fullgraph) raiseFullGraph(reason);
      return {nullptr, options.fullgraph};
    }
  }
  return {};
}

}  // namespace kerf::inline dynamo
