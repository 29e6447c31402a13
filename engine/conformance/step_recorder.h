// StepRecorder: the reading of calls that remembers each differentiable step, so that gradients can be pulled back and
// tangents pushed forward over them, by the ops' gradient and jvp columns.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "engine/ops/core/composite.h"
#include "engine/ops/core/gradient.h"

namespace kerf::inline conformance {

/// Tensors by Tensor::traced.
using TracedTensors = std::map<int, Tensor>;

/// Programs run step by step; ops with a gradient, their own or that of the op they are a form of, are one step.
/// Kernels run on `ops`: referenceOps() or shapeOps(). One thread.
class StepRecorder : public OpCaller {
 public:
  explicit StepRecorder(const OpCaller& ops) : m_ops(ops) {}

  /// Another handle of a tensor, which is followed from now on.
  Tensor leaf(const Tensor& tensor) const;
  Result<Value> call(const OpTarget& target, const ValueList& args, const KeywordValues& kwargs) const override;

  /// Gradients of what is followed, from those of results. An error names the step: one without a gradient, one that
  /// fails, or one that gives other sizes or another dtype than its argument has.
  Result<TracedTensors> pullBack(const TracedTensors& cotangents) const;
  /// Tangents of what is followed, from those of leaves.
  Result<TracedTensors> pushForward(const TracedTensors& tangents) const;
  /// The first op without a rule that followed tensors went into; empty: none. A result of such an op is not followed.
  const std::string& missing() const { return m_missing; }
  /// Whether any step may let something flow.
  bool hasSteps() const { return !m_steps.empty(); }

 private:
  struct Step {
    BoundArguments args;
    ValueList results;  ///< one per schema return
  };
  bool follows(const Value& value) const;
  Value named(const Value& value) const;
  Result<void> record(const OpInfo& op, const ValueList& args, const KeywordValues& kwargs, const Value& result) const;

  const OpCaller& m_ops;
  mutable int m_names = 0;
  mutable std::vector<Step> m_steps;
  mutable std::map<int, bool> m_followed;
  mutable std::string m_missing;
};

/// The row whose gradient column an op uses: its own, or that of the op it is a form of; null where neither has one.
const OpInfo* differentiatedRow(const OpInfo& op);

}  // namespace kerf::inline conformance
