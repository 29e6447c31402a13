// linearize: forward-mode differentiation of a graph, and its tangent part as a graph of its own that is applied as often
// as one likes.
//
//     f(x) = sin(x)·y      →      primal(x, y) = sin(x)·y, [cos(x), y, sin(x)]      tangent(…, dx, dy) = …
#pragma once

#include "engine/autograd/aot_graph.h"

namespace kerf::inline autograd {

struct LinearizedGraph {
  GraphModule jvp;      ///< primals and tangents in, outputs and their tangents out
  GraphModule primal;   ///< primals in, outputs and residuals out
  GraphModule tangent;  ///< residuals and tangents in, tangents of outputs out: linear in the tangents
  std::vector<AotInput> inputs;
  std::vector<std::size_t> tangentInputs;   ///< by tangent: the index of its input
  std::vector<std::size_t> tangentOutputs;  ///< by tangent of an output: the index of that output
  std::size_t outputs = 0;                  ///< of the function, mutated inputs first; residuals follow in `primal`
};

/// Inputs that take part (AotOptions::requiresGrad) get tangents. Ops are decomposed by the core table first.
/// UnsupportedOp naming the node whose op has no forward-mode formula.
Result<LinearizedGraph> linearize(const GraphModule& module, std::vector<AotInput> inputs,
                                  const AotOptions& options = {});

}  // namespace kerf::inline autograd
