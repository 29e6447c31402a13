// GradNode: one differentiable call as backward() comes to it; eager mode's tape is the graph of these.
#pragma once

#include <functional>

#include "engine/ops/core/gradient.h"
#include "engine/torch_api/variable.h"

namespace kerf::inline torch_api {

struct GradNode : std::enable_shared_from_this<GradNode> {
  /// Gradients by edge from those by result; `run` tapes them where a graph of the gradient is wanted.
  using Backward = std::function<Result<ValueList>(GradNode& node, const ValueList& grads, const OpRunner& run)>;

  std::string name;                 ///< "AddBackward0", as PyTorch names it
  std::vector<Edge> edges;          ///< by input
  std::size_t results = 1;          ///< how many gradients it takes
  std::vector<Tensor> resultMetas;  ///< sizes and dtypes of results, without storage
  Backward backward;                ///< empty after its graph was freed
  bool isReleased = false;
  bool isCompiled = false;                        ///< of a graph that AOTAutograd compiled (compiled_backward.h)
  std::uint64_t sequence = 0;                     ///< later calls run first
  VariablePtr leaf;                               ///< an accumulator's
  std::vector<std::vector<Ref>> tensorHooks;      ///< by result: called with its gradient
  std::vector<std::weak_ptr<Variable>> retained;  ///< by result: whose .grad keeps it
  std::vector<Ref> preHooks, hooks;
  Ref context;                 ///< the ctx of an autograd.Function
  PyObject* object = nullptr;  ///< borrowed: its Python object

  ~GradNode();
};

/// A node with the next sequence number.
std::shared_ptr<GradNode> makeNode(std::string name, std::size_t results);
/// "AddBackward0" of "aten.add.Tensor".
std::string nodeName(const OpInfo& op);

/// Tapes a call that was made: results become variables whose gradient the op's formula passes on to `args`. `saved` are
/// the arguments as they were before the call wrote into any.
Result<Value> recordCall(const OpInfo& op, const BoundArguments& args, const Value& result);
/// As recordCall, for a call that wrote into `target`: its history goes on behind it, through the base of a view too.
Result<void> recordWrite(const OpInfo& op, const BoundArguments& saved, const Value& result, Variable& target);

/// The Python object of a node: attributes name(), next_functions, hooks.
Ref objectOfNode(const std::shared_ptr<GradNode>& node);

}  // namespace kerf::inline torch_api
