// SideEffects: copies that stand for the program's lists, dicts, cells and objects while tracing, and what changed in them.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "engine/dynamo/variable_tracker.h"

namespace kerf::inline dynamo {

class FrameTracer;

struct StandIn {
  enum class Kind { List, Dict, Set, Tuple, Object, Cell, Opaque };
  Kind kind = Kind::Opaque;
  Ref value;  ///< the copy
  Ref real;
  SourcePtr source;
  bool guarded = false;
  std::vector<Ref> items;  ///< what a sequence or set held at first
  Ref original;            ///< of a dict, or of an object's attributes looked at: a dict of what was there at first
  Ref contents;            ///< of a cell, at first
  Ref slots{};             ///< of an object: what slots that were looked at held at first, by name; null: none
};

/// A change to a real object that compiled code makes at its end. Templates: see rebuild.h.
struct Effect {
  enum class Kind { ListContents, DictContents, SetContents, SetAttr, DelAttr, CellContents, Global, TensorAttr };
  Kind kind = Kind::ListContents;
  Ref target;  ///< the stand-in; of a global, the dict
  std::string name;
  Ref value;            ///< template; null: deleted
  Py_ssize_t kept = 0;  ///< of a list: items at its start that stay as they are
  Ref removed;          ///< of a dict: keys that go; null: all entries go, `value` has all
};

class SideEffects {
 public:
  explicit SideEffects(FrameTracer& tracer) : m_tracer(tracer) {}
  /// What stands for an object of the program (VariableBuilder).
  VariableTracker wrap(PyObject* real, SourcePtr source);
  /// The stand-in's record; null for what tracing made, and for constants.
  StandIn* find(PyObject* value);
  /// Attribute of an object's own dict: from the copy, or from the real object the first time. Null where it has none.
  VariableTracker ownAttribute(StandIn& standIn, const char* name);
  /// What a slot of an object's class holds, as ownAttribute(). Null where it holds nothing.
  VariableTracker slotAttribute(StandIn& standIn, PyObject* descriptor, const std::string& name);
  /// Item of a copied sequence or dict with the source it has, if it is still what was there.
  SourcePtr itemSource(const StandIn& standIn, PyObject* key, PyObject* item) const;
  /// Copies all attributes of an object that were not looked at yet; before code outside of tracing sees it.
  void completeObject(StandIn& standIn);

  VariableTracker cell(PyObject* real, const SourcePtr& source);
  /// A cell that tracing made for a variable of the frame: compiled code has one in its place.
  void adoptCell(const Ref& cell, const SourcePtr& source);
  void storeGlobal(PyObject* globals, const std::string& name, Ref value);
  /// Written global: its value; null where it was not written.
  const Ref* writtenGlobal(PyObject* globals, const std::string& name) const;

  /// Everything that differs from what it was at first.
  std::vector<Effect> changes();
  /// Whether an object stands for itself though its own methods may change it.
  /// Whether something comes out of a module: such sizes and ints are not symbols.
  bool isOfModule(const SourcePtr& source) const;
  /// Whether an int is taken to stay what it is: of a global, a default, a module.
  bool isStaticInt(const SourcePtr& source) const;
  /// Whether a dict is one of a module's tables of hooks: their keys are numbers that differ from module to module.
  bool isHookTable(const SourcePtr& source) const;
  bool isOpaque(PyObject* object) const { return m_opaque.contains(object); }
  /// Hands all records over to the compiled code that uses them.
  std::vector<std::unique_ptr<StandIn>> release() { return std::move(m_standIns); }

 private:
  StandIn& add(StandIn standIn);
  VariableTracker wrapList(PyObject* real, const SourcePtr& source);
  VariableTracker wrapDeque(PyObject* real, const SourcePtr& source);
  SourcePtr dictItem(PyObject* dict, const SourcePtr& source, PyObject* key) const;
  SourcePtr tupleItem(PyObject* tuple, const SourcePtr& source, Py_ssize_t place) const;
  VariableTracker wrapTuple(PyObject* real, const SourcePtr& source);
  VariableTracker wrapDict(PyObject* real, const SourcePtr& source);
  VariableTracker wrapSet(PyObject* real, const SourcePtr& source);
  VariableTracker wrapObject(PyObject* real, const SourcePtr& source);
  Ref wrapNumber(PyObject* real, const SourcePtr& source);
  VariableTracker wrapTensor(PyObject* real, const SourcePtr& source);
  VariableTracker wrapMethod(PyObject* real, const SourcePtr& source);
  VariableTracker wrapPartial(PyObject* real, const SourcePtr& source);
  void objectChanges(StandIn& standIn, std::vector<Effect>& into);
  void slotChanges(const StandIn& standIn, std::vector<Effect>& into);
  Effect dictChange(const StandIn& standIn);

  struct GlobalWrite {
    Ref globals;
    std::string name;
    Ref value;
  };
  FrameTracer& m_tracer;
  std::vector<std::unique_ptr<StandIn>> m_standIns;
  std::unordered_map<PyObject*, StandIn*> m_byValue;
  std::unordered_map<PyObject*, StandIn*> m_byReal;
  std::vector<GlobalWrite> m_globals;
  std::unordered_set<PyObject*> m_opaque;
  std::unordered_set<std::string> m_moduleSources;  ///< where modules come from
};

}  // namespace kerf::inline dynamo
