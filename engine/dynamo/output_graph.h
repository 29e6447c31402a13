// OutputGraph: the graph that is being recorded, and how its nodes are run again.
#pragma once

#include <functional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "engine/dynamo/sym_proxy.h"
#include "engine/dynamo/tensor_proxy.h"
#include "engine/ir/graph.h"
#include "engine/ir/op_caller.h"
#include "engine/python/reference.h"
#include "engine/symbolic/symbolic.h"

namespace kerf::inline dynamo {

/// A node together with the Python call that it stands for. Arguments hold proxies where tensors go.
struct TracedCall {
  NodeId node;
  std::string method;  ///< of a call_method
  Ref callable;        ///< of a call_function
  Ref args;
  Ref kwargs;  ///< null where there are none
};

struct FrameInput {
  NodeId node;
  SourcePtr source;
  Ref proxy;
  bool asTensor = false;           ///< a float, which enters the graph as a tensor
  std::string symbol;              ///< of a number: its name in the ShapeEnv
  std::vector<std::string> sizes;  ///< of a tensor: symbols of its sizes
};

class FrameTracer;

/// Nodes of a body: those after `mark`, and before `end`.
struct BodyRange {
  std::uint32_t mark = 0, end = UINT32_MAX;
};

class OutputGraph {
 public:
  explicit OutputGraph(FrameTracer& tracer) : m_tracer(tracer) {}
  const Graph& graph() const { return m_graph; }
  const std::vector<FrameInput>& inputs() const { return m_inputs; }
  const std::vector<TracedCall>& calls() const { return m_calls; }
  /// Calls that count as work: all but placeholders.
  std::size_t countCalls() const { return m_calls.size(); }
  bool hasFloatInput = false;  ///< a graph is compiled for it, even where nothing uses it in the end

  /// Records a call and derives what it gives: proxies for tensors, tuples of them, plain Python values.
  Ref callFunction(const std::string& target, PyObject* callable, PyObject* args, PyObject* kwargs);
  Ref callMethod(const std::string& method, PyObject* args, PyObject* kwargs);
  /// tensor.item(): a number of the graph. A drawn number stays the tensor that it is there.
  Ref callItem(PyObject* tensor);
  /// A call that gives no tensor: a proxy that stands for what it gives in arguments of later calls.
  Ref recordOpaque(const std::string& target, PyObject* callable, PyObject* args);
  /// getattr(tensor, name) as a node, whose value is known already.
  void recordGetattr(PyObject* tensor, const std::string& name);
  /// x.size() gave this torch.Size, which holds symbols: a node, where the graph uses the whole of it.
  void noteSize(PyObject* size, PyObject* tensor);
  /// A call whose result the caller knows (set_grad_enabled): a node, and nothing derived.
  NodeId record(Opcode op, const std::string& target, TracedCall call);
  /// The node of a proxy; makes a placeholder of an input at its first use.
  NodeId nodeOf(ProxyState& proxy);
  /// The node of a number; of an expression that no node gives yet, those that compute it.
  NodeId nodeOf(SymState& number);
  /// A size or number of the traced program: a plain one where it is no expression.
  Ref wrapNumber(SymNumber number);

  // Bodies of higher-order operators (cut_graphs.cpp)
  /// What is recorded from here on may be cut out as a graph of its own.
  std::uint32_t beginBody();
  /// An input of the body itself.
  Ref bodyInput(const Tensor& fake);
  /// The same of an int: a number that only running the graph gives.
  Ref bodyNumber();
  /// Takes out what was recorded in a range: a GraphBody that takes `ownInputs`, and what it uses from around it, and
  /// gives `outputs` (tuples and lists of tensors). `keepNodes`: the graph goes on showing them.
  Ref cutBody(BodyRange range, PyObject* ownInputs, PyObject* outputs, bool keepNodes);
  /// Names a body "base_0" and fixes the order of what it takes from around it.
  void installBody(PyObject* body, const std::string& base, PyObject* operands);
  /// A call whose result is a tuple as `results`, which holds examples.
  Ref callHigherOrder(const std::string& target, PyObject* callable, PyObject* args, PyObject* kwargs,
                      PyObject* results);
  /// A node that gives one tensor as `example`, or nothing. A callable None: it is shown, and does not run.
  Ref recordShown(const std::string& target, PyObject* callable, PyObject* args, PyObject* kwargs, PyObject* example);
  /// A shown node runs after all.
  void attachCall(PyObject* proxy, PyObject* callable, PyObject* args);
  /// Breaks where a node went away with a body.
  void checkOpen(NodeId node) const;
  bool isClosed(NodeId node) const { return m_closed.contains(node.index); }
  /// Tensors and numbers in tuples and lists get their nodes.
  void realizeNodes(PyObject* object);
  /// Whether it has nested graphs, or nodes that do not run as they stand.
  bool hasShownNodes() const { return m_hasShown || !m_nested.empty() || !m_closed.empty(); }
  /// All bodies, in order of their installation.
  const std::vector<Ref>& nested() const { return m_nested; }

  /// Ends the graph: what runs it gives these values. Removes placeholders that nothing uses.
  void finish(const std::vector<NodeId>& outputs);
  /// Line of the program that is being traced, for the nodes' provenance.
  std::string file;
  std::string function;
  int line = 0;
  /// The program's lines that are being traced, outermost first; null where nobody asks for the nodes' stacks.
  std::function<std::vector<std::string>()> userStack;
  /// By node, as LoggedGraph has them.
  std::unordered_map<std::uint32_t, std::vector<std::string>> stacks;
  bool gradEnabled = true;

 private:
  Argument argumentOf(PyObject* object);
  ArgumentList argumentsOf(PyObject* tuple);
  KeywordArguments keywordsOf(PyObject* dict);
  Ref derive(const TracedCall& call, const std::string& name);
  Ref deriveLast(const std::string& name, const Ref& args, const Ref& kwargs);
  void dropGradModePairs();
  void dropUnusedItems();
  bool isBound(const FrameInput& input, const std::unordered_set<std::string>& sizes,
               std::unordered_set<std::string>& bound) const;
  Ref wrap(const Value& value, NodeId node, const std::string& name);
  Ref wrapList(const ValueList& values, NodeId node, const std::string& name);
  Ref wrapTensorValue(const Tensor& tensor, NodeId node);
  NodeId placeholder(const std::string& name, NodeMeta meta, FrameInput input);
  void placeSymbols(const Tensor& fake);
  Ref computeExpression(const Symbolic& expression);
  Ref wrapComputed(const Value& value, NodeId node);
  void forget(NodeId node);
  void noteMeta(NodeId node, const Tensor& fake);
  bool isUnused(NodeId node, const std::unordered_set<std::uint32_t>& outputs) const;
  Ref withSizes(PyObject* value);
  Ref recordWhole(const std::string& target, PyObject* callable, PyObject* args, PyObject* kwargs);
  Ref placeSymbol(const Symbolic& expression);
  Ref placeUnbacked(const Symbolic& expression);
  Ref unbackedNumber(NodeId node);
  void noteUnbacked(const Tensor& fake, PyObject* proxy);
  Ref recordNumbers(const std::string& target, const char* python, const Ref& args);
  static bool isOnNumbers(const std::string& name, PyObject* args);
  bool isNumber(NodeId node) const { return m_numbers.contains(node.index); }

  FrameTracer& m_tracer;
  Graph m_graph;
  std::unordered_map<std::string, Ref> m_byExpression;  ///< numbers that nodes give, by their text
  std::unordered_set<std::uint32_t> m_numbers;          ///< nodes that compute numbers
  /// Sizes that only running the graph gives, by symbol: of which tensor and dim they are.
  std::unordered_map<std::string, std::pair<Ref, std::int64_t>> m_sizedBy;
  std::vector<FrameInput> m_inputs;
  std::vector<TracedCall> m_calls;
  /// torch.Size objects with symbols in them: the node that gives the whole.
  struct SizeNode {
    Ref size, node;
  };
  std::unordered_map<PyObject*, SizeNode> m_sizeNodes;
  bool m_hasShown = false;
  std::vector<Ref> m_nested;
  std::unordered_map<std::string, int> m_bodyNumbers;  ///< by base name
  std::unordered_set<std::uint32_t> m_closed;          ///< nodes that are in a body now
  Ref m_arguments;                                     ///< keeps callables alive
};

/// An argument with these values where proxies stand; null with a Python exception set.
Ref fillValue(PyObject* object, const std::unordered_map<std::uint32_t, Ref>& values);
/// The values of proxies while a recorded graph runs again.
using NodeValues = std::unordered_map<std::uint32_t, Ref>;
/// Runs all calls; false with a Python exception set.
bool replay(const std::vector<TracedCall>& calls, NodeValues& values);
/// A call's arguments with these values where proxies stand; null with a Python exception set.
struct FilledCall {
  Ref args, kwargs;
};
FilledCall fillCall(const TracedCall& call, const NodeValues& values);
/// One call; null with a Python exception set where it fails.
Ref replayCall(const TracedCall& call, const NodeValues& values);

}  // namespace kerf::inline dynamo
