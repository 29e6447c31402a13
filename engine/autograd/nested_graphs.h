// Higher-order ops that stay calls of nested graphs in a traced graph: cond, loops, maps, flex attention.
#pragma once

#include <string_view>

#include "engine/autograd/aot_tracer.h"

namespace kerf::inline autograd {

/// Whether a trace keeps the call: which graph runs, or how often, only the data tells.
bool callsGraphs(std::string_view target);
/// Whether the nested graphs of such a call are traced as the graph around them, at each call anew: the branches of cond.
bool tracesBranches(std::string_view target);

/// One call of such an op.
struct GraphCall {
  const Node& node;
  const GraphModule& module;  ///< whose nested graphs it names
  AotTracer& tracer;
  const ValueList& args;  ///< nested graphs by path
  const KeywordValues& kwargs;
};

/// The call as a node of the traced graph, with its nested graphs. Branches of cond are traced as the graph around them
/// and have gradients. Graphs of loops, maps and scans are traced on their own placeholders, under AOTAutograd's names;
/// those that cannot be, and other ops' graphs, are taken over as they are. UnsupportedOp is what asks for gradients.
Result<Value> traceWithGraphs(const GraphCall& call);

}  // namespace kerf::inline autograd
