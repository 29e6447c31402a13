// FrameTracer: what one trace of a frame shares: its graph, its side effects, its guards, and where it is.
#pragma once

#include <exception>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "engine/dynamo/guards.h"
#include "engine/dynamo/modes.h"
#include "engine/dynamo/output_graph.h"
#include "engine/dynamo/random_calls.h"
#include "engine/dynamo/side_effects.h"
#include "engine/dynamo/sym_proxy.h"
#include "engine/dynamo/symbols.h"
#include "engine/dynamo/unsupported.h"

namespace kerf::inline dynamo {

class InstructionTranslator;

/// An iterator over lists, tuples or a dict of the program, whose items keep their sources.
struct TrackedIterator {
  enum class Shape { Plain, Enumerate, Zip, Items, Values };
  Ref iterator;
  std::vector<Ref> parts;  ///< what it goes over; of a dict's values its keys, too
  Shape shape = Shape::Plain;
  Py_ssize_t next = 0;
};

class FrameTracer {
 public:
  FrameTracer() : graph(*this), effects(*this) {}
  FrameSymbols symbols;  ///< first: tensors of the graph have sizes of it
  OutputGraph graph;
  SideEffects effects;
  TracedModes modes{*this};
  GuardSet guards;
  InstructionTranslator* translator = nullptr;  ///< the innermost
  int depth = 0;
  /// Arguments of the call that is about to be inlined: its frame takes their sources.
  const std::vector<VariableTracker>* pendingArguments = nullptr;
  VariableTracker pendingCallable;
  VariableTracker returned;         ///< what the last inlined frame gave, with its source
  PyObject* rootGlobals = nullptr;  ///< of the frame that is compiled; borrowed
  /// Python modules and classes that were looked at, by the name that they were first met by.
  std::unordered_map<PyObject*, SourcePtr> met;
  /// Own dicts of stand-ins that the program holds (`x.__dict__`): whose they are.
  std::unordered_map<PyObject*, PyObject*> ownDicts;
  int quiet = 0;  ///< above 0: PyTorch does not look here, and has none of the guards that come
  std::unordered_map<PyObject*, TrackedIterator> iterators;
  /// Tuples whose items are looked at one by one, themselves and their items: those that such an iterator gave and that are
  /// taken apart next, and those of a call's further arguments.
  std::unordered_map<PyObject*, std::pair<Ref, std::vector<VariableTracker>>> trackedTuples;
  /// Functions that tracing made: their cells are its own.
  std::unordered_set<PyObject*> freshFunctions;
  int transformLevel = 0;  ///< of torch.func: vmap and grad around what is traced
  int gradientLevels = 0;  ///< those of grad alone
  int dualLevels = 0;      ///< those of jvp alone
  int overrideLevel = 0;   ///< below 0: subclasses of Tensor take no calls over
  /// Lists that methods of constants gave (str.split): Dynamo does not let them change.
  std::unordered_set<PyObject*> frozenLists;
  /// Attributes that the program deleted.
  std::set<std::pair<PyObject*, std::string>> deleted;
  std::vector<Ref> kept;  ///< objects whose identity tracing relies on
  /// What variables of generators' frames hold between their runs, by frame.
  std::unordered_map<const void*, std::vector<VariableTracker>> generatorVariables;
  /// Draws of Python's module random, made before the graph runs.
  std::vector<TracedDraw> randomCalls;
  /// Functions of the program by where they were found: their cells and defaults have guards by that name.
  std::unordered_map<PyObject*, SourcePtr> functions;

  /// The trace that goes on in this process; null where none does.
  static FrameTracer* active();

  /// Guards what a lazy value stands for; then it is looked at.
  void realize(VariableTracker& variable);
  /// Guards a stand-in, and all that can be reached from it: before code outside of tracing looks at it.
  void realizeDeep(PyObject* value);
  /// Guards what leaves the graph on the stack, tensors in it too; numbers and texts in containers of the program stay as
  /// they are (realize_all).
  void realizeLeaving(VariableTracker& variable);
  /// Guards all keys of a dict of the program: before something depends on more than one of them.
  void guardKeys(PyObject* dict, bool walked = false);
  /// Guards the entry of a dict of the program that a key asks for, or that there is none.
  void guardEntry(const StandIn& standIn, const VariableTracker& key);
  /// Guards the constants that a changed list of the program starts with: PyTorch tries to write it as one constant.
  void guardLeadingConstants(PyObject* list);
  /// Guards the items of a tuple whose items are looked at one by one: something looks at all of it.
  void realizeTracked(PyObject* tuple);
  /// Checks items of tuples that live on when the graph ends.
  void settleTuples();
  /// Guards the constants that a tuple of the result starts with: PyTorch tries to write it as one constant. Whether it is.
  bool guardAsConstant(PyObject* value);
  void addGuard(Guard guard);
  /// A tensor is looked at: it is guarded and becomes an input of the graph.
  void noteTensor(PyObject* proxy);
  /// Before a value is only moved: guards what tracing takes as it is.
  void settle(VariableTracker& variable);
  /// A number of an input is looked at: its type is guarded.
  void noteUse(const SymState& number);
  /// "file.py:3 in f" of all frames being traced, outermost first.
  std::vector<std::string> userStack() const;

  /// `object`, or the reason why it is null: a graph break on its way through C code, or a Python exception.
  Ref checked(PyObject* object);
  void checkStatus(int status);
  /// Keeps an exception of C++ while C code unwinds; sets a Python one that nobody catches. Null.
  PyObject* keepException();
  /// The same of a shape rule that needed a number which only running the graph gives.
  PyObject* keepDataDependent(const std::string& message);

 private:
  friend class TraceScope;
  Guard firstMet(VariableTracker& variable, Guard guard);
  void realizeItems(PyObject* value);
  std::exception_ptr m_pending;
  std::vector<PyObject*> m_realizing;
};

/// Makes a trace the active one.
class TraceScope {
 public:
  explicit TraceScope(FrameTracer& tracer);
  ~TraceScope();
  TraceScope(const TraceScope&) = delete;
  TraceScope& operator=(const TraceScope&) = delete;

 private:
  FrameTracer* m_before;
};

/// While it lives, guards are checked and not told: PyTorch runs here what is traced.
class QuietScope {
 public:
  explicit QuietScope(FrameTracer& tracer) : m_tracer(tracer) { ++m_tracer.quiet; }
  ~QuietScope() { --m_tracer.quiet; }
  QuietScope(const QuietScope&) = delete;
  QuietScope& operator=(const QuietScope&) = delete;

 private:
  FrameTracer& m_tracer;
};

/// While it lives, Python code runs as it is: neither traced nor compiled.
class NativeScope {
 public:
  NativeScope();
  ~NativeScope();
  NativeScope(const NativeScope&) = delete;
  NativeScope& operator=(const NativeScope&) = delete;
  static bool active();
};

}  // namespace kerf::inline dynamo
