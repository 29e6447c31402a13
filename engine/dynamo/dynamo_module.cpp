// torch._C._dynamo: what torch.compile calls, and what was compiled, as JSON.
#include <algorithm>
#include <map>
#include <mutex>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "engine/dynamo/break_ids.h"
#include "engine/dynamo/capture_log.h"
#include "engine/dynamo/environment.h"
#include "engine/dynamo/frame_evaluation.h"
#include "engine/dynamo/graph_body.h"
#include "engine/dynamo/logged_graphs.h"
#include "engine/dynamo/modules.h"
#include "engine/dynamo/trace_functions.h"
#include "engine/ir/printer.h"
#include "engine/torch_api/compile_hook.h"
#include "engine/torch_api/torch_environment.h"

namespace kerf::inline dynamo {
namespace {

/// A function under torch.compile, or under torch.compiler.disable.
struct CompiledCallable {
  PyObject_HEAD PyObject* function;
  FrameOptions* options;  ///< null: nothing is compiled
};

PyObject* callCallable(PyObject* self, PyObject* args, PyObject* kwargs) {
  const auto* held = reinterpret_cast<CompiledCallable*>(self);
  if (held->options == nullptr) return callDisabled(held->function, args, kwargs);
  return callCompiled(held->function, args, kwargs, *held->options);
}

void dropCallable(PyObject* self) {
  auto* held = reinterpret_cast<CompiledCallable*>(self);
  Py_XDECREF(held->function);
  delete held->options;
  PyTypeObject* type = Py_TYPE(self);
  type->tp_free(self);
  Py_DECREF(type);
}

PyTypeObject* callableType() {
  static PyType_Slot slots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(dropCallable)},
                                {Py_tp_call, reinterpret_cast<void*>(callCallable)},
                                {0, nullptr}};
  static PyType_Spec spec = {"torch._C._dynamo.Compiled", sizeof(CompiledCallable), 0, Py_TPFLAGS_DEFAULT, slots};
  static auto* type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  return type;
}

Ref makeCallable(PyObject* function, std::unique_ptr<FrameOptions> options) {
  PyTypeObject* type = callableType();
  Ref made = Ref::steal(type ? type->tp_alloc(type, 0) : nullptr);
  if (!made) return {};
  auto* held = reinterpret_cast<CompiledCallable*>(made.get());
  held->function = Py_NewRef(function);
  held->options = options.release();
  return made;
}

/// A callable of torch itself (nn.Linear) has no frame of the program: a function around it has.
Ref wrapInline(PyObject* function) {
  static constexpr const char* text =
      "def wrap_inline(fn):\n"
      "    def inner(*args, **kwargs):\n"
      "        return fn(*args, **kwargs)\n"
      "    return inner\n";
  const Ref globals = Ref::steal(PyDict_New());
  PyDict_SetItemString(globals.get(), "__builtins__", PyEval_GetBuiltins());
  PyDict_SetItemString(globals.get(), "__name__", makeText("kerf_wrap_inline").get());
  // The place that PyTorch's own wrapper has.
  const std::string source = std::string(65, '\n') + text;
  const Ref code = Ref::steal(Py_CompileString(source.c_str(), "torch/_dynamo/external_utils.py", Py_file_input));
  const Ref ran = Ref::steal(code ? PyEval_EvalCode(code.get(), globals.get(), globals.get()) : nullptr);
  if (!ran) return {};
  return Ref::steal(PyObject_CallOneArg(PyDict_GetItemString(globals.get(), "wrap_inline"), function));
}

/// torch.func.hessian(f) says that it is of f's module; its frame is the library's. Wrappers by decorators, no_grad's, are
/// not meant: what they call is compiled by itself.
bool isTransformed(PyObject* callable) {
  if (!PyFunction_Check(callable)) return false;
  PyObject* module = PyDict_GetItemString(PyFunction_GET_GLOBALS(callable), "__name__");
  const std::string name = module ? textOf(module) : std::string();
  return name == "torch.func" || name.starts_with("torch.func.") || name.starts_with("torch._functorch");
}

bool isOfTorch(PyObject* callable) {
  if (isTransformed(callable)) return true;
  const Ref module = attributeOf(PyFunction_Check(callable) || PyMethod_Check(callable)
                                     ? callable
                                     : reinterpret_cast<PyObject*>(Py_TYPE(callable)),
                                 "__module__");
  const std::string name = textOf(module.get());
  return name == "torch" || name.starts_with("torch.");
}

/// What is called so that frames of the program come first: torch's own frames are never compiled.
Ref tracedCallable(PyObject* function) {
  if (PyMethod_Check(function) && isModule(PyMethod_GET_SELF(function)) && isOfTorch(PyMethod_GET_FUNCTION(function))) {
    PyObject* self = PyMethod_GET_SELF(function);
    return isOfTorch(self) ? wrapInline(self) : Ref::borrow(function);
  }
  return isOfTorch(function) ? wrapInline(function) : Ref::borrow(function);
}

/// Backends by name that compile what AOTAutograd makes of a graph.
bool isAotBackend(const std::string& name) {
  static constexpr std::string_view others[] = {"eager", "eager_debug", "eager_noexcept"};
  return !name.empty() && std::ranges::find(others, name) == std::end(others);
}

PyObject* compile(PyObject* /*module*/, PyObject* args, PyObject* kwargs) {
  static const char* names[] = {"fn", "backend", "dynamic", "fullgraph", "options", "mode", nullptr};
  PyObject *function = nullptr, *backend = nullptr, *dynamic = nullptr, *settings = nullptr, *mode = nullptr;
  int fullgraph = 0;
  if (PyArg_ParseTupleAndKeywords(args, kwargs, "O|$OOpOO", const_cast<char**>(names), &function, &backend, &dynamic,
                                  &fullgraph, &settings, &mode) == 0)
    return nullptr;
  auto options = std::make_unique<FrameOptions>();
  options->fullgraph = fullgraph != 0;
  if (dynamic == Py_True) options->dynamic = DynamicMode::Always;
  if (dynamic == Py_False) options->dynamic = DynamicMode::Never;
  if (backend != nullptr && PyCallable_Check(backend) != 0 && !PyUnicode_Check(backend))
    options->backend = Ref::borrow(backend);
  std::string name = backend != nullptr && PyUnicode_Check(backend) ? textOf(backend) : std::string();
  if (options->backend) {  // torch.compile's own "inductor": by that name, until the program gives it options or passes
    const Ref compiler = Ref::steal(PyObject_GetAttrString(backend, "compiler_name"));
    PyErr_Clear();
    if (compiler && PyUnicode_Check(compiler.get())) name = textOf(compiler.get());
  }
  if (name == "aot_eager" || name == "inductor") options->compiler = name;
  options->isAot = isAotBackend(name);
  const Ref target = tracedCallable(function);
  return target ? makeCallable(target.get(), std::move(options)).release() : nullptr;
}

PyObject* disable(PyObject* /*module*/, PyObject* function) { return makeCallable(function, nullptr).release(); }

PyObject* skipCodeOf(PyObject* /*module*/, PyObject* code) {
  if (!PyCode_Check(code)) return PyErr_Format(PyExc_TypeError, "a code object is expected");
  skipCode(code);
  Py_RETURN_NONE;
}

PyObject* reset(PyObject* /*module*/, PyObject* /*none*/) {
  resetCache();
  Py_RETURN_NONE;
}

nlohmann::json nodesJson(const Graph& graph) {
  nlohmann::json nodes = nlohmann::json::array();
  for (const NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    nodes.push_back({opcodeName(node.op()), node.name(), node.target()});
  }
  return nodes;
}

/// "cond_true_1.cond_true_0" for a graph in a graph.
void addNested(nlohmann::json& into, const Graph& graph, const LoggedGraph& logged, const std::string& prefix) {
  for (const NodeId id : graph.order())
    if (const GraphBody* body = logged.body(graph.node(id))) {
      into[prefix + body->name] = nodesJson(body->graph);
      addNested(into, body->graph, logged, prefix + body->name + ".");
    }
}

/// `stacks`: each stack once; `stack_of`: by node, its index among them, -1 for none.
void addStacks(nlohmann::json& into, const LoggedGraph& logged) {
  std::map<std::vector<std::string>, int> known;
  into["stacks"] = into["stack_of"] = nlohmann::json::array();
  for (const NodeId id : logged.graph.order()) {
    const auto stack = logged.stacks.find(id.index);
    if (stack == logged.stacks.end()) {
      into["stack_of"].push_back(-1);
      continue;
    }
    const auto [at, isNew] = known.emplace(stack->second, static_cast<int>(known.size()));
    if (isNew) into["stacks"].push_back(stack->second);
    into["stack_of"].push_back(at->second);
  }
}

nlohmann::json graphJson(const LoggedGraph& logged) {
  nlohmann::json nested = nlohmann::json::object();
  addNested(nested, logged.graph, logged, {});
  nlohmann::json made = {{"name", logged.name},       {"nodes", nodesJson(logged.graph)},
                         {"sources", logged.sources}, {"ran_by", logged.ranBy},
                         {"subgraphs", nested},       {"text", printGraphText(logged.graph)}};
  if (captureLog().isDetailed) addStacks(made, logged);
  return made;
}

nlohmann::json breakJson(const LoggedBreak& item) {
  return {{"type", item.type},   {"id", breakId(item.type)}, {"reason", item.reason}, {"explanation", item.explanation},
          {"hints", item.hints}, {"context", item.context},  {"stack", item.stack},   {"graph_break", item.graphBreak},
          {"frame", item.frame}};
}

/// Rows of [offset, line, name, argument, whether a jump leads here].
nlohmann::json bytecodeJson(const std::vector<LoggedInstruction>& rows) {
  nlohmann::json made = nlohmann::json::array();
  for (const LoggedInstruction& row : rows)
    made.push_back({row.offset, row.line, row.name, row.argument, row.isTarget});
  return made;
}

nlohmann::json frameJson(const LoggedFrame& frame) {
  nlohmann::json guards = nlohmann::json::array(), costs = nlohmann::json::array();
  for (const FrameGuard& guard : frame.guards) {
    guards.push_back({guard.kind, guard.leaf, guard.source});
    costs.push_back({{"ns", guard.nanoseconds}, {"asked", guard.asked}});
  }
  nlohmann::json made = {
      {"frame", frame.name},   {"at", frame.at},       {"id", fmt::format("[{}/{}]", frame.number, frame.entry)},
      {"runs", *frame.runs},   {"calls", frame.calls}, {"guards", guards},
      {"empty", frame.isEmpty}};
  if (!captureLog().isDetailed) return made;
  made["compile_ms"] = frame.milliseconds;
  made["guard_costs"] = costs;
  made["bytecode"] = {{"original", bytecodeJson(frame.original)}, {"modified", bytecodeJson(frame.modified)}};
  return made;
}

nlohmann::json logJson() {
  const CaptureLog& log = captureLog();
  nlohmann::json all = {{"graphs", nlohmann::json::array()}, {"exported", nlohmann::json::array()},
                        {"breaks", nlohmann::json::array()}, {"frames", nlohmann::json::array()},
                        {"skips", nlohmann::json::array()},  {"recompiles", nlohmann::json::array()}};
  for (const LoggedGraph& graph : log.graphs) all["graphs"].push_back(graphJson(graph));
  for (const LoggedGraph& graph : log.exported)
    all["exported"].push_back({{"name", graph.name}, {"text", graph.exported}});
  for (const LoggedBreak& item : log.breaks) all["breaks"].push_back(breakJson(item));
  for (const LoggedBreak& item : log.skips) all["skips"].push_back(breakJson(item));
  for (const LoggedFrame& frame : log.frames) all["frames"].push_back(frameJson(frame));
  for (const LoggedRecompile& item : log.recompiles)
    all["recompiles"].push_back(
        {{"function", item.function}, {"at", item.at}, {"guard", item.failedGuard}, {"frame", item.frame}});
  return all;
}

PyObject* logText(PyObject* /*module*/, PyObject* /*none*/) {
  const std::string text = logJson().dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  return makeText(text).release();
}

PyObject* clearLog(PyObject* /*module*/, PyObject* /*none*/) {
  captureLog() = {};
  Py_RETURN_NONE;
}

PyObject* makeModule() {
  static PyMethodDef methods[] = {{"compile", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(compile)),
                                   METH_VARARGS | METH_KEYWORDS, nullptr},
                                  {"disable", disable, METH_O, nullptr},
                                  {"skip_code", skipCodeOf, METH_O, nullptr},
                                  {"reset", reset, METH_NOARGS, nullptr},
                                  {"log", logText, METH_NOARGS, nullptr},
                                  {"clear_log", clearLog, METH_NOARGS, nullptr},
                                  {nullptr, nullptr, 0, nullptr}};
  static PyModuleDef definition = {
      PyModuleDef_HEAD_INIT, "torch._C._dynamo", nullptr, -1, methods, nullptr, nullptr, nullptr, nullptr};
  Ref module = Ref::steal(PyModule_Create(&definition));
  return module && addLoggedGraphs(module.get()) ? module.release() : nullptr;
}

}  // namespace

ProgramEnvironment dynamoEnvironment() {
  static std::once_flag once;
  std::call_once(once, [] {
    addSubModule({"_dynamo", makeModule});
    addSubModule({"_dynamo_trace", makeTraceModule});
  });
  return torchEnvironment();
}

}  // namespace kerf::inline dynamo
