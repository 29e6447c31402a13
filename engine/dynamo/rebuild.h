// From what tracing worked on to what the program gets: templates are traced values, and compiled code builds real
// objects after them.
#pragma once

#include <functional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "engine/dynamo/output_graph.h"
#include "engine/dynamo/side_effects.h"

namespace kerf::inline dynamo {

/// What building templates needs: tensors that the graph computes, and objects that were there before.
struct Needs {
  std::vector<NodeId> nodes;  ///< in order of first need
  std::vector<StandIn*> standIns;
  std::vector<std::pair<Ref, SourcePtr>> numbers;  ///< of the frame, as they came in; functions too
  std::vector<std::pair<Ref, NodeId>> floats;      ///< computed ones leave the graph as tensors
};

class TemplateWalk {
 public:
  TemplateWalk(SideEffects& effects, const std::unordered_set<PyObject*>& freshFunctions)
      : m_effects(effects), m_fresh(freshFunctions) {}
  /// Adds what a template needs. Throws Unsupported for what cannot be built again (a generator).
  void visit(PyObject* value);
  /// The items of a container that was there before.
  void visitContents(PyObject* container);
  const Needs& needs() const { return m_needs; }

 private:
  void visitParts(PyObject* value);
  void visitItself(PyObject* value);
  bool isFunctionOfFrame(PyObject* value);
  void visitNumber(PyObject* value, SymState& number);
  void need(NodeId node);
  SideEffects& m_effects;
  const std::unordered_set<PyObject*>& m_fresh;
  std::unordered_set<PyObject*> m_seen;
  Needs m_needs;
};

/// Builds objects after templates in one run of compiled code. Null with a Python exception set where that fails.
class Rebuilder {
 public:
  Rebuilder(const std::unordered_set<PyObject*>& freshFunctions, const NodeValues& nodes)
      : m_fresh(freshFunctions), m_nodes(nodes) {}
  /// An object that was there before stands for its copy.
  void know(PyObject* standIn, Ref real) { m_memo[standIn] = std::move(real); }
  Ref build(PyObject* value);
  /// New contents for a list, dict or set that was there before.
  Ref buildContents(PyObject* container);

 private:
  Ref make(PyObject* value);
  Ref makeTensor(PyObject* value, Ref made);
  Ref makeSequence(PyObject* value);
  Ref makeDict(PyObject* value);
  Ref makeSet(PyObject* value);
  Ref makeFunction(PyObject* value);
  Ref makeObject(PyObject* value);
  Ref makeException(PyObject* value);
  Ref makeReduced(PyObject* value);
  bool fillDict(PyObject* from, PyObject* into);
  const std::unordered_set<PyObject*>& m_fresh;
  const NodeValues& m_nodes;
  std::unordered_map<PyObject*, Ref> m_memo;
};

/// How an object is built again.
enum class TemplateKind {
  Itself,
  Tensor,
  Sequence,
  Dict,
  Set,
  Cell,
  Function,
  Method,
  Object,
  Exception,
  Partial,
  Reduced,
  DictView,
  Deque,
  TensorMethod,
  ContainerMethod,
  Refused
};
TemplateKind templateKind(PyObject* value, const std::unordered_set<PyObject*>& freshFunctions);

}  // namespace kerf::inline dynamo
