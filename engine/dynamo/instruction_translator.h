// InstructionTranslator: executes a frame's bytecode on stand-ins, which records its graph.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/dynamo/bytecode.h"
#include "engine/dynamo/tracer.h"
#include "engine/dynamo/variable_tracker.h"

namespace kerf::inline dynamo {

/// What a frame starts from: a code object and the places of its variables (locals, cells, free variables).
struct FrameStart {
  Ref code;
  Ref globals;
  Ref builtins;
  Ref function;  ///< may be null
  std::vector<VariableTracker> variables;
  std::vector<VariableTracker> stack;  ///< of a generator that goes on
  int next = 0;                        ///< index of the first instruction
};

/// Where a partial graph ends, found in an earlier attempt (speculation log): before the n-th instruction executed.
struct BreakPoint {
  long step = -1;
  Unsupported reason;
  bool leavesFrame = false;  ///< the rest of the frame runs as it was written (step_graph_break)
  bool isBefore = false;     ///< the frame goes on with the instruction itself
};

/// The break of another rank, which this rank takes as well: where it stands, or where all ways from there come together.
struct FollowedBreak {
  int instruction = -1;     ///< index; -1: the graph may not end there
  int visit = 1;            ///< the how many-th execution of it
  std::vector<bool> joins;  ///< by index: all ways from `instruction` lead through it
  bool leavesFrame = false;
  bool isBefore = false;
  Unsupported reason;
};

class InstructionTranslator {
 public:
  enum class Stop { Returned, Yielded, GraphBreak };

  InstructionTranslator(FrameTracer& tracer, FrameStart start, InstructionTranslator* parent);
  virtual ~InstructionTranslator();
  InstructionTranslator(const InstructionTranslator&) = delete;
  InstructionTranslator& operator=(const InstructionTranslator&) = delete;

  /// Until the frame returns, yields, or must break. Throws Unsupported, SkipFrame, PythonRaised.
  Stop run();
  /// Resumes a generator: the exception that is pending is raised where it stands.
  void throwHere() {
    m_throwFirst = true;
    m_current = m_next > 0 ? m_next - 1 : 0;
  }

  // The frame
  PyCodeObject* code() const { return reinterpret_cast<PyCodeObject*>(m_start.code.get()); }
  const Bytecode& bytecode() const { return m_bytecode; }
  InstructionTranslator* parent() const { return m_parent; }
  FrameTracer& tracer() { return m_tracer; }
  PyObject* globals() const { return m_start.globals.get(); }
  PyObject* builtins() const { return m_start.builtins.get(); }
  PyObject* constant(int index) const;
  std::string name(int index) const;
  std::vector<VariableTracker>& variables() { return m_start.variables; }
  std::string variableName(int slot) const;
  /// "file.py:3 in f" of the current instruction.
  std::string where() const;
  /// Whether the frame is of a function that is traced in the place of another one.
  bool isStandIn() const;
  long steps() const { return m_steps; }
  /// Index of the instruction that is being executed.
  int current() const { return m_current; }
  const Instruction& instruction() const { return m_bytecode.instructions[static_cast<std::size_t>(m_current)]; }

  // The stack
  std::vector<VariableTracker>& stack() { return m_stack; }
  void push(VariableTracker variable) { m_stack.push_back(std::move(variable)); }
  void push(Ref value) { m_stack.push_back({std::move(value), nullptr, false}); }
  /// Takes the top off; what it stands for is guarded, since it is used.
  VariableTracker pop();
  /// Takes it off as it is: it is only moved.
  VariableTracker popLazy();
  std::vector<VariableTracker> popMany(int count);
  VariableTracker& peek(int depth = 1);
  void jump() { m_next = instruction().target; }
  void checkedPush(PyObject* object) { push(m_tracer.checked(object)); }

  // Calls and attributes
  VariableTracker loadAttribute(VariableTracker object, const std::string& attribute);
  void storeAttribute(VariableTracker object, const std::string& attribute, PyObject* value);
  VariableTracker call(VariableTracker callable, std::vector<VariableTracker> args, PyObject* keywordNames);
  VariableTracker callWith(VariableTracker callable, PyObject* args, PyObject* kwargs,
                           std::vector<VariableTracker> sources);
  VariableTracker loadGlobal(const std::string& name);

  Ref keywordNames;                      ///< of the next CALL (KW_NAMES)
  std::vector<VariableTracker> handled;  ///< exceptions being handled, innermost last
  Ref result;                            ///< of RETURN_VALUE or YIELD_VALUE
  SourcePtr resultSource;
  bool resultLazy = false;
  void stop(Stop how) { m_stop = how; }
  int nextInstruction() const { return m_next; }

  /// Of the outermost frame.
  std::optional<BreakPoint> breakAt;
  std::optional<FollowedBreak> follow;
  /// Whether the break of `follow` was taken: `breakAt` says where.
  bool hasFollowed() const { return m_hasFollowed; }
  /// How often an instruction was executed so far, with the one being executed.
  int visits(int index) const { return m_visits[static_cast<std::size_t>(index)]; }
  /// Whether a graph may end inside this frame (should_compile_partial_graph).
  virtual bool mayCompilePartially() const;
  /// Stack places of the bound __exit__ of all with-blocks around the instruction, outermost first; none where one of them,
  /// or a try-block, cannot be gone on in.
  std::optional<std::vector<int>> openWiths() const;
  /// The step at which a break that is not tied to a call would end the graph; -1: none.
  long lastEmptyStackStep() const { return m_lastEmptyStep; }

 private:
  void step();
  /// step(), where what rests on a number that only running the graph gives is a graph break.
  void stepOnSymbols();
  bool unwind();
  void noteStep();
  void followBreak();

  FrameTracer& m_tracer;
  FrameStart m_start;
  InstructionTranslator* m_parent;
  InstructionTranslator* m_before;
  Bytecode m_bytecode;
  std::vector<VariableTracker> m_stack;
  int m_current = 0;
  int m_next = 0;
  std::vector<int> m_visits;  ///< by index of an instruction
  bool m_hasFollowed = false;
  long m_steps = 0;
  long m_lastEmptyStep = -1;
  bool m_throwFirst = false;
  std::optional<Stop> m_stop;
};

/// A frame called from the one being traced: it is all or nothing.
class InliningInstructionTranslator : public InstructionTranslator {
 public:
  using InstructionTranslator::InstructionTranslator;
  bool mayCompilePartially() const override { return false; }
};

using OpHandler = void (*)(InstructionTranslator&, const Instruction&);
/// The handler of an opcode; null where there is none.
OpHandler handlerOf(Op op);
struct OpHandlerRow {
  Op op;
  OpHandler handle;
};

}  // namespace kerf::inline dynamo
