#include "engine/dynamo/instruction_translator.h"

#include <fmt/format.h>

#include "engine/dynamo/fake_failures.h"
#include "engine/dynamo/handlers.h"
#include "engine/dynamo/values.h"

namespace kerf::inline dynamo {
namespace {

constexpr int kRecursionLimit = 200;

std::string fileNameOf(PyCodeObject* code) {
  const std::string path = textOf(code->co_filename);
  return path.substr(path.rfind('/') + 1);
}

/// Operations that may end a graph right before they are executed (break_graph_if_unsupported).
bool breaksGraph(Op op) {
  return op == Op::CALL || op == Op::CALL_FUNCTION_EX || op == Op::STORE_ATTR || op == Op::STORE_SUBSCR ||
         op == Op::BINARY_SUBSCR;
}

}  // namespace

InstructionTranslator::InstructionTranslator(FrameTracer& tracer, FrameStart start, InstructionTranslator* parent)
    : m_tracer(tracer), m_start(std::move(start)), m_parent(parent), m_before(tracer.translator) {
  m_bytecode = decode(code());
  m_visits.resize(m_bytecode.instructions.size());
  m_stack = std::move(m_start.stack);
  m_next = m_start.next;
  tracer.translator = this;
  ++tracer.depth;
}

InstructionTranslator::~InstructionTranslator() {
  m_tracer.translator = m_before;
  --m_tracer.depth;
}

PyObject* InstructionTranslator::constant(int index) const { return PyTuple_GET_ITEM(code()->co_consts, index); }
std::string InstructionTranslator::name(int index) const { return textOf(PyTuple_GET_ITEM(code()->co_names, index)); }
std::string InstructionTranslator::variableName(int slot) const {
  return textOf(PyTuple_GET_ITEM(code()->co_localsplusnames, slot));
}

std::string InstructionTranslator::where() const {
  return fmt::format("{}:{} in {}", fileNameOf(code()), instruction().line, textOf(code()->co_name));
}

bool InstructionTranslator::isStandIn() const {
  const std::string file = textOf(code()->co_filename);
  return file.ends_with("/_dynamo/_higher_order.py") || file.ends_with("/_dynamo/_transform_levels.py");
}

VariableTracker InstructionTranslator::popLazy() {
  if (m_stack.empty()) unsupported("Empty stack", "Bytecode takes more values than there are.", where());
  VariableTracker top = std::move(m_stack.back());
  m_stack.pop_back();
  return top;
}

VariableTracker InstructionTranslator::pop() {
  VariableTracker top = popLazy();
  if (!top) unsupported("Empty stack", "Bytecode takes a NULL for a value.", where());
  m_tracer.realize(top);
  return top;
}

std::vector<VariableTracker> InstructionTranslator::popMany(int count) {
  std::vector<VariableTracker> values(static_cast<std::size_t>(count));
  for (int k = count; k-- > 0;) values[static_cast<std::size_t>(k)] = popLazy();
  return values;
}

VariableTracker& InstructionTranslator::peek(int depth) {
  if (m_stack.size() < static_cast<std::size_t>(depth))
    unsupported("Empty stack", "Bytecode looks at more values than there are.", where());
  return m_stack[m_stack.size() - static_cast<std::size_t>(depth)];
}

bool InstructionTranslator::mayCompilePartially() const { return openWiths().has_value(); }

std::optional<std::vector<int>> InstructionTranslator::openWiths() const {
  std::vector<int> places;
  const auto opAt = [&](int index) { return m_bytecode.instructions[static_cast<std::size_t>(index)].op; };
  // A handler is covered by its own cleanup, and that by what is around it.
  for (const ExceptionEntry* entry = m_bytecode.handlerOf(m_current); entry != nullptr;
       entry = m_bytecode.handlerOf(entry->target)) {
    if (opAt(entry->target) != Op::PUSH_EXC_INFO) continue;
    if (opAt(entry->target + 1) != Op::WITH_EXCEPT_START) return std::nullopt;
    const int place = entry->depth - 1;
    if (place < 0 || static_cast<std::size_t>(place) >= m_stack.size()) return std::nullopt;
    PyObject* exit = m_stack[static_cast<std::size_t>(place)].get();
    if (exit == nullptr || !PyMethod_Check(exit) || !isRestorableManager(PyMethod_GET_SELF(exit))) return std::nullopt;
    places.insert(places.begin(), place);
  }
  return places;
}

/// Ends the graph here where another rank did, or could only have come by here.
void InstructionTranslator::followBreak() {
  const bool isSame = m_current == follow->instruction && visits(m_current) == follow->visit;
  const bool isJoin = follow->joins[static_cast<std::size_t>(m_current)];
  if (!isSame && !isJoin) return;
  const bool leaves = follow->leavesFrame;
  const bool mayEnd = leaves ? m_stack.empty() && m_bytecode.handlerOf(m_current) == nullptr : mayCompilePartially();
  if (!mayEnd) return;
  breakAt = BreakPoint{m_steps, follow->reason, leaves, !leaves && (follow->isBefore || !isSame)};
  breakAt->reason.stack = m_tracer.userStack();
  m_hasFollowed = true;
}

void InstructionTranslator::noteStep() {
  ++m_steps;
  ++m_visits[static_cast<std::size_t>(m_current)];
  if (m_parent == nullptr && m_stack.empty() && m_bytecode.handlerOf(m_current) == nullptr &&
      m_tracer.graph.countCalls() > 1)
    m_lastEmptyStep = m_steps;
  if (m_steps > 2'000'000) unsupported("Unsupported loop", "The frame executes too many instructions.", where());
}

void InstructionTranslator::step() {
  m_current = m_next;
  const Instruction& now = instruction();
  noteStep();
  if (follow) followBreak();
  if (breakAt && m_steps == breakAt->step) {
    m_stop = Stop::GraphBreak;
    return;
  }
  m_next = m_current + 1;
  if (!isStandIn()) {
    m_tracer.graph.line = now.line;
    m_tracer.graph.file = fileNameOf(code());
  }
  const OpHandler handle = handlerOf(now.op);
  if (handle == nullptr)
    unsupported("Missing bytecode handler",
                fmt::format("Dynamo does not know how to handle the bytecode instruction `{}`.", opName(now.op)),
                fmt::format("{} with args {}", opName(now.op), now.arg));
  handle(*this, now);
}

void InstructionTranslator::stepOnSymbols() {
  try {
    step();
  } catch (const SymbolicFailure& failure) {
    dataDependent(failure.error.message);
  }
}

/// Goes to the handler of the pending exception, as CPython's table says; false where there is none, and for an operator
/// that failed on fake tensors, which ends the compilation.
bool InstructionTranslator::unwind() {
  if (isFailurePending()) return false;
  const ExceptionEntry* entry = m_bytecode.handlerOf(m_current);
  if (entry == nullptr || m_stack.size() < static_cast<std::size_t>(entry->depth)) return false;
  PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
  PyErr_Fetch(&type, &value, &trace);
  PyErr_NormalizeException(&type, &value, &trace);
  Py_XDECREF(type);
  Py_XDECREF(trace);
  m_stack.resize(static_cast<std::size_t>(entry->depth));
  if (entry->lasti) push(Ref::steal(PyLong_FromLong(m_current)));
  push(Ref::steal(value));
  m_next = entry->target;
  return true;
}

InstructionTranslator::Stop InstructionTranslator::run() {
  if (m_tracer.depth > kRecursionLimit) {
    PyErr_SetString(PyExc_RecursionError, "maximum recursion depth exceeded");
    throw PythonRaised{};
  }
  InstructionTranslator* const before = std::exchange(m_tracer.translator, this);
  const auto leave = [&] { m_tracer.translator = before; };
  m_stop.reset();
  try {
    while (!m_stop) {
      try {
        if (std::exchange(m_throwFirst, false)) throw PythonRaised{};
        stepOnSymbols();
      } catch (const PythonRaised&) {
        if (!unwind()) throw;
      } catch (Unsupported& reason) {
        if (reason.stack.empty()) reason.stack = m_tracer.userStack();
        throw;
      }
    }
  } catch (...) {
    leave();
    throw;
  }
  leave();
  return *m_stop;
}

bool endsGraphAt(Op op) { return breaksGraph(op); }

}  // namespace kerf::inline dynamo
