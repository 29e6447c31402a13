// Tape: the differentiable calls of a trace in order, and the walk back over them that writes the backward part.
#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "engine/ops/core/gradient.h"

namespace kerf::inline autograd {

/// Second names of values, by Tensor::traced.
using ValueNames = std::unordered_map<int, int>;

/// Gradients by Tensor::traced.
class Gradients {
 public:
  explicit Gradients(const ValueNames& names) : m_names(names) {}
  /// None where nothing flows.
  Value of(const Tensor& tensor) const;
  /// The gradient of a result: of a list of tensors a list, or None where nothing flows to any of them.
  Value ofResult(const Value& result) const;
  /// Adds to what flows to a tensor already.
  Result<void> add(const Tensor& tensor, const Value& gradient, const OpRunner& run);

 private:
  int nameOf(const Tensor& tensor) const;
  const ValueNames& m_names;
  std::unordered_map<int, Tensor> m_gradients;
};

class Tape {
 public:
  /// Gradients of the inputs of a step, one per input, from those of its results.
  using Backward = std::function<Result<ValueList>(const ValueList& grads, const OpRunner& run)>;
  /// Told which node's gradient is written next; an invalid id at the end.
  using OnStep = std::function<void(NodeId forward)>;

  void addLeaf(const Tensor& tensor) { m_tracked.insert(tensor.traced); }
  bool tracks(const Tensor& tensor) const { return m_tracked.contains(tensor.traced); }
  /// `name` is another name of the value `of`: what flows to one flows to both.
  void sameValue(const Tensor& name, const Tensor& of);
  const ValueNames& names() const { return m_sameAs; }
  /// Whether a gradient may flow to one of the tensors in a value.
  bool tracksAny(const Value& value) const;
  bool tracksAny(const ValueList& values, const KeywordValues& kwargs) const;

  /// A call whose arguments include tracked tensors. Its differentiable results are tracked from now on, unless no
  /// gradient flows through the op.
  Result<void> record(const OpInfo& op, const ValueList& args, const KeywordValues& kwargs, const Value& result,
                      NodeId node);
  /// A step with a backward of its own (torch.autograd.Function, cond).
  void recordCustom(ValueList inputs, const ValueList& results, NodeId node, Backward backward);

  /// Walks back from the gradients of outputs. UnsupportedOp, naming the node, where an op has no gradient.
  Result<void> walkBack(Gradients& gradients, const OpRunner& run, const OnStep& onStep) const;
  /// Forward mode: writes the tangents of all results from those of the inputs. UnsupportedOp, naming the op, where one
  /// has no forward-mode formula.
  Result<void> pushForward(Gradients& tangents, const OpRunner& run) const;
  std::size_t size() const { return m_steps.size(); }

 private:
  struct Step {
    const OpInfo* op = nullptr;  ///< null: custom
    BoundArguments args;         ///< custom: the inputs as values
    ValueList results;           ///< one per schema return
    std::vector<bool> wanted;    ///< by argument
    NodeId node;
    Backward backward;
  };
  static Result<void> pushForward(const Step& step, Gradients& tangents, const OpRunner& run);
  Result<void> walkBack(const Step& step, Gradients& gradients, const OpRunner& run) const;
  void track(const Value& result);

  std::deque<Step> m_steps;  ///< a walk may record calls of its own
  std::unordered_set<int> m_tracked;
  ValueNames m_sameAs;
};

/// The gradient column of an op: its own, or that of the op it is another form of; null where there is none.
Gradient gradientOf(const OpInfo& op);
/// The same of the jvp column.
Jvp jvpOf(const OpInfo& op);
/// Floating point and complex tensors have gradients.
bool mayHaveGradient(const Value& value);

}  // namespace kerf::inline autograd
