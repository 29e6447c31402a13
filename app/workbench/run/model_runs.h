// What happens in the child that runs a graph: whole runs, training steps, the times of kernels.
#pragma once

#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "app/workbench/captures/graph_source.h"
#include "app/workbench/protocol/runs.h"
#include "engine/accuracy/own_attributes.h"
#include "engine/pipeline/compile_fx.h"
#include "engine/pipeline/dtype_module.h"
#include "engine/support/result.h"
#include "engine/tensor/value.h"

namespace kerf::workbench {

// Running a graph once, and taking its outputs apart.

/// What one run returned and what it wrote into: placeholders and attributes by name, with the values they were left
/// with.
struct ModelRun {
  Value outputs;
  NamedValues mutated;
};

/// As runOn, with what was written.
Result<ModelRun> runWhole(const CompileOptions& options, const std::string& precision, const CastGraph& runnable,
                          std::stop_token stop);

/// Compiles and runs once, on clones of the inputs; a precision other than "native" ("upcast", "exact") is the
/// interpreter's and takes the graph as it is.
Result<Value> runOn(const CompileOptions& options, const std::string& precision, const CastGraph& runnable,
                    std::stop_token stop);

/// Outputs in order, nested tuples flattened; None stays an element.
ValueList flatOutputs(const Value& result);

// A training step of a graph: its joint graph on the gradients of a loss.

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

// Timing the kernels of a compiled graph beside what the machine can do.

/// Runs the graph several times (up to about three seconds); where it writes into inputs, it does so each time.
Result<KernelProfile> profileKernels(CompiledGraph& graph, const ValueList& inputs, std::string_view backend,
                                     std::stop_token stop);

}  // namespace kerf::workbench
