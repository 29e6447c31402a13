// A training step of a graph: its joint graph on the gradients of a loss.
#pragma once

#include "app/workbench/captures/graph_source.h"
#include "engine/accuracy/own_attributes.h"

namespace kerf::workbench {

/// "mean": the mean over the floating point outputs of sum / numel, PyTorch's reduce_to_scalar_loss; "sum": the sum of
/// all their elements; "out2", or the name of an output's node: that output, which must have one element, or its sum.
struct LossChoice {
  enum class Kind { Mean, Sum, Output };
  Kind kind = Kind::Mean;
  std::size_t output = 0;
};
/// BadUsage, naming the outputs, for what is none of these. `source` is a joint graph.
Result<LossChoice> parseLoss(const GraphSource& source, const std::string& text);

/// Puts the derivative of the loss by each output into the inputs of the joint graph.
Result<void> setTangents(const GraphSource& source, const LossChoice& loss, ValueList& inputs);
/// "loss" and "grad.<parameter>" for every input that takes part, from what the joint graph gave.
Result<NamedValues> trainedValues(const GraphSource& source, const LossChoice& loss, const ValueList& outputs);

}  // namespace kerf::workbench
