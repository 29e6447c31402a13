// OutputGraph: the graph that is being recorded, and how its nodes are run again.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "engine/dynamo/tensor_proxy.h"
#include "engine/ir/graph.h"
#include "engine/ir/op_caller.h"
#include "engine/python/reference.h"

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
};

class OutputGraph {
 public:
  const Graph& graph() const { return m_graph; }
  const std::vector<FrameInput>& inputs() const { return m_inputs; }
  const std::vector<TracedCall>& calls() const { return m_calls; }
  /// Calls that count as work: all but placeholders.
  std::size_t countCalls() const { return m_calls.size(); }

  /// Records a call and derives what it gives: proxies for tensors, tuples of them, plain Python values.
  Ref callFunction(const std::string& target, PyObject* callable, PyObject* args, PyObject* kwargs);
  Ref callMethod(const std::string& method, PyObject* args, PyObject* kwargs);
  /// A call whose result the caller knows (set_grad_enabled): a node, and nothing derived.
  NodeId record(Opcode op, const std::string& target, TracedCall call);
  /// The node of a proxy; makes a placeholder of an input at its first use.
  NodeId nodeOf(ProxyState& proxy);

  /// Ends the graph: what runs it gives these values. Removes placeholders that nothing uses.
  void finish(const std::vector<NodeId>& outputs);
  /// Line of the program that is being traced, for the nodes' provenance.
  std::string file;
  std::string function;
  int line = 0;
  bool gradEnabled = true;

 private:
  Argument argumentOf(PyObject* object);
  ArgumentList argumentsOf(PyObject* tuple);
  KeywordArguments keywordsOf(PyObject* dict);
  Ref derive(const TracedCall& call, const std::string& name);
  Ref deriveLast(const std::string& name);
  void dropGradModePairs();
  void dropUnusedItems();
  Ref wrap(const Value& value, NodeId node, const std::string& name);
  Ref wrapList(const ValueList& values, NodeId node, const std::string& name);
  Ref wrapTensorValue(const Tensor& tensor, NodeId node);

  Graph m_graph;
  std::vector<FrameInput> m_inputs;
  std::vector<TracedCall> m_calls;
  Ref m_arguments;  ///< keeps callables alive
};

/// The values of proxies while a recorded graph runs again.
using NodeValues = std::unordered_map<std::uint32_t, Ref>;
/// Runs all calls; false with a Python exception set.
bool replay(const std::vector<TracedCall>& calls, NodeValues& values);
/// One call; null with a Python exception set where it fails.
Ref replayCall(const TracedCall& call, const NodeValues& values);

}  // namespace kerf::inline dynamo
