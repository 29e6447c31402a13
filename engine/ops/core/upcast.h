// Precision on demand: graphs run with wider arithmetic than their own, or with exact sums, so that the reference's own
// error is not what a comparison shows.
#pragma once

#include <memory>
#include <stop_token>

#include "engine/ir/graph_module.h"
#include "engine/ir/op_caller.h"

namespace kerf::inline ops {

struct UpcastOptions {
  /// Casts to a narrower float that the graph itself asks for still round (the rounded value stays a double); without,
  /// they do nothing.
  bool keepRounding = true;
  /// Outputs are rounded to the dtypes that the graph gives them; without, they stay fp64.
  bool roundOutputs = true;
};

/// Inputs and attributes as recorded, all arithmetic in fp64 (complex128): values stay wide from node to node. Random
/// ops draw what they draw in the graph's own dtypes. Ops that accept no fp64 run in float32. Errors as
/// Interpreter::run.
Result<Value> runUpcast(const GraphModule& module, const ValueList& inputs, const UpcastOptions& options = {},
                        std::stop_token stop = {});

/// The ops behind it, for interpreters of one's own. Their inputs must be widened() before.
std::unique_ptr<OpCaller> upcastOps(bool keepRounding);
/// Floats as fp64, complex numbers as complex128, with the strides that they had; what is wide already is not copied.
Result<Value> widened(const Value& value);

/// What a call gave in such an interpreter, as the graph has it: a conversion between two recorded float types is a copy,
/// though both are wide now, and one to the recorded type of the operand is the operand.
Result<Value> copiedAsRecorded(const Graph& graph, const Node& node, const ValueList& args, Value result);

/// The graph's own dtypes; sums, means and products of matrices (and the forward convolutions made of them) are formed
/// without rounding and rounded once, to the result's dtype.
Result<Value> runWithExactSums(const GraphModule& module, const ValueList& inputs, std::stop_token stop = {});

}  // namespace kerf::inline ops
