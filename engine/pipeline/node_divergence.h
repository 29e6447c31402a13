// Per-node divergence: every intermediate of the compiled side against the interpreter and fp64, to see where it
// starts.
#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "engine/accuracy/same_two_models.h"
#include "engine/pipeline/compile_fx.h"

namespace kerf::inline pipeline {

struct NodeDivergenceOptions {
  CompileOptions compile;
  CompareOptions compare;
  std::int64_t chunkBytes =
      512LL << 20;  ///< intermediates that one run may keep alive (estimated from the interpreter)
};

struct NodeDivergenceReport {
  std::vector<NodeDivergence> nodes;  ///< every tensor-valued call node, in graph order
  std::string failure;   ///< the compiled side's error, if it could not be compiled or run; nodes so far stay
  std::string fp64Note;  ///< why there is no fp64 reference, empty if there is one

  KERF_FIELDS(nodes, failure, fp64Note)
};

/// Compiles copies of `module` whose outputs are, beside its own, all tensor-valued call nodes (in chunks that fit
/// options.chunkBytes), runs them and compares each node by same(). A node is firstBad when it differs and nothing it
/// depends on directly does (tuple-valued nodes are looked through).
/// Materializing every node limits fusion, so a fault that lives in a fused kernel may hide; compare whole outputs too.
Result<NodeDivergenceReport> nodeDivergence(const GraphModule& module, const ValueList& inputs,
                                            const NodeDivergenceOptions& options, std::stop_token stop = {});

/// Indices into `nodes`, worst first: firstBad before other bad nodes, then by ratio to the limit, then graph order.
std::vector<std::size_t> rankDivergence(const std::vector<NodeDivergence>& nodes);

}  // namespace kerf::inline pipeline
