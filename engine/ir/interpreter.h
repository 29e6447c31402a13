// Interpreter: runs a GraphModule node by node, as torch.fx.Interpreter does; override one method per opcode.
#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <unordered_map>
#include <vector>

#include "engine/ir/graph_module.h"
#include "engine/ir/op_caller.h"

namespace kerf::inline ir {

/// Bounds against graphs made to run or nest without end; counted over a graph and everything nested in it.
struct InterpreterLimits {
  std::int64_t nodes = 200'000'000;  ///< nodes run
  int depth = 100;                   ///< graphs running inside each other
};

/// Values of nodes that are known.
using Environment = std::unordered_map<NodeId, Value>;

class Interpreter {
 public:
  Interpreter(const GraphModule& module, const OpCaller& ops) : m_module(module), m_ops(ops) {}
  virtual ~Interpreter() = default;

  /// Runs all nodes. `inputs` match the placeholders in order. The result is the output node's value, a tuple as a list.
  /// Errors carry the node's name.
  Result<Value> run(const ValueList& inputs, std::stop_token stop = {});

  /// The same in steps, for runs side by side: start(), step() while it says true, finish(). `inputs` must outlive them.
  /// Nodes that `known` has are not run and take no input: their values are there (torch.fx's initial_env).
  void start(const ValueList& inputs, std::stop_token stop = {}, const Environment& known = {});
  /// Runs the next node; false when there was none.
  Result<bool> step();
  /// The node that step() runs next; null when there is none.
  const Node* nextNode() const;
  Result<Value> finish();

  /// What one node gives, with operands from `environment`; nothing of a run that goes on changes. BadInput where an
  /// operand is missing there.
  Result<Value> runNode(const Node& node, const Environment& environment);
  /// The value of a node that has run; null where it has not, or when its value was freed.
  const Value* valueOf(NodeId node) const;
  /// Whether a value goes after its last use. Where not, all are there until finish() (garbage_collect_values).
  bool freesValues = true;

  InterpreterLimits limits;
  /// Nodes of the last run, nested graphs included.
  std::int64_t nodesRun() const { return m_progress->nodes; }
  /// Called after each node with its value (per-node divergence, saving intermediates).
  std::function<void(const Node&, const Value&)> onNode;
  /// Called before a nested graph runs, with its path and operands. Not called for graphs that are nested in that one.
  std::function<void(std::string_view path, const GraphModule& graph, const ValueList& operands)> onSubgraph;

 protected:
  virtual Result<Value> placeholder(const Node& node, const Value& input);
  /// Asks ops(); higher-order ops get a way to run the nested graphs.
  virtual Result<Value> callFunction(const Node& node, const ValueList& args, const KeywordValues& kwargs);
  /// Tensor methods run the ATen overload of that name that accepts the arguments.
  virtual Result<Value> callMethod(const Node& node, const ValueList& args, const KeywordValues& kwargs);
  /// Runs nested graphs; opaque modules are UnsupportedOp.
  virtual Result<Value> callModule(const Node& node, const ValueList& args, const KeywordValues& kwargs);
  /// Tensor of an attribute; a nested graph gives its path as a string.
  virtual Result<Value> getAttr(const Node& node);
  virtual Result<Value> output(const Node& node, const Value& value);

  const GraphModule& module() const { return m_module; }
  const OpCaller& ops() const { return m_ops; }

 private:
  struct Frame;
  Result<void> stepOver(Frame& frame, const Node& node);
  Result<Value> runIn(Frame& frame, const Node& node);
  Result<Value> runOn(const Node& node, const std::function<const Value&(NodeId)>& lookup);
  Result<Value> runPlaceholder(Frame& frame, const Node& node);
  Result<Value> runDefault(const Node& node);
  Result<Value> runSubgraph(std::string_view path, const ValueList& args) const;

  /// Shared by nested interpreters.
  struct Progress {
    std::int64_t nodes = 0;
    int depth = 0;
  };
  class Subgraphs;
  const GraphModule& m_module;
  const OpCaller& m_ops;
  std::stop_token m_stop;
  std::shared_ptr<Frame> m_frame;  ///< of the run that goes on
  Progress m_ownProgress;
  Progress* m_progress = &m_ownProgress;
};

/// Value of an argument whose nodes are looked up with `lookup`. Symbolic integers give their hint (in the scope of a
/// ShapeEnv themselves); a slice becomes the list {"slice", start, stop, step} and `...` the string "...", as OpCaller
/// takes them.
Result<Value> argumentToValue(const Argument& argument, const std::function<const Value&(NodeId)>& lookup);

}  // namespace kerf::inline ir
