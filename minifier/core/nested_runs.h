// NestedRuns: what the graphs nested in a candidate were first called with.
#pragma once

#include <stop_token>
#include <vector>

#include "minifier/core/call_units.h"
#include "minifier/core/minify.h"

namespace kerf::inline minifier::inline core {

/// The first run of one nested graph by one call.
struct NestedRun {
  std::string path;
  std::shared_ptr<const GraphModule> graph;
  ValueList operands;           ///< one per placeholder
  std::vector<NodeId> sources;  ///< the call's operand that each is, invalid where it is a value of its own
};

/// A call that ran nested graphs.
struct NestedCall {
  NodeId call;
  std::vector<NestedRun> runs;  ///< in the order in which they began; graphs that were not run are not among them
  Value result;
};

/// Of every call of the outermost graph that ran nested graphs, in order, from one run of the interpreter. Ends where
/// the run does.
std::vector<NestedCall> nestedRuns(const Candidate& candidate, std::stop_token stop);

}  // namespace kerf::inline minifier::inline core
