// Per-node divergence: every intermediate of the compiled side against the interpreter and fp64, to see where it
// starts.
#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "engine/accuracy/same_two_models.h"
#include "engine/pipeline/compile_fx.h"

namespace kerf::inline pipeline {

/// How far a comparison of nodes is; nodes of nested graphs are not counted.
struct NodeProgress {
  std::int64_t done = 0, total = 0;

  KERF_FIELDS(done, total)
};

struct NodeDivergenceOptions {
  CompileOptions compile;
  CompareOptions compare;
  std::int64_t chunkBytes = 512LL << 20;  ///< intermediates of the compiled side that are in memory at once
  int nestedCalls = 4;                    ///< so many calls of each nested graph are compared, and then every 2^n-th
  /// Gets each row when it is compared; `firstBad` is not known yet. A node of a nested graph may come again, worse.
  std::function<void(const NodeDivergence&, const NodeProgress&)> onNode;
  /// Gets the values of each node that is compared, before its row: the compiled side's, the interpreter's, and the fp64
  /// reference's, which is none where there is no such reference.
  std::function<void(const Value& compiled, const Value& interpreted, const Value& fp64)> onValues;
};

struct NodeDivergenceReport {
  /// Tensor-valued call nodes in graph order, nested graphs before their caller; then "mutates NAME" for each input and
  /// attribute that the graph writes into, as it is after the run.
  std::vector<NodeDivergence> nodes;
  std::string failure;     ///< the compiled side's error, if it could not be compiled or run; nodes so far stay
  std::string fp64Note;    ///< why there is no fp64 reference, empty if there is one
  std::string nestedNote;  ///< nested graphs that could not be compared inside, and why

  KERF_FIELDS(nodes, failure, fp64Note, nestedNote)
};

/// Runs interpreter and fp64 side by side, node by node, each value freed after its last use; the compiled side comes
/// in copies of `module` whose outputs are the tensor-valued call nodes of one piece (options.chunkBytes). Each node is
/// compared by same() as it was when it had run, and handed on. Nested graphs of higher-order ops are compared inside,
/// as graphs of their own, with the operands that the interpreter calls them with.
///
/// A node is firstBad when it differs and nothing it depends on directly does (tuple-valued nodes are looked through),
/// nor anything inside the nested graphs it calls. A mutation is where no node is.
/// Materializing every node limits fusion, so a fault that lives in a fused kernel may hide; compare whole outputs too.
Result<NodeDivergenceReport> nodeDivergence(const GraphModule& module, const ValueList& inputs,
                                            const NodeDivergenceOptions& options, std::stop_token stop = {});

/// Sets firstBad in all rows, which are those of `module`, or of a part of it that a run came to.
void markFirstBad(const GraphModule& module, std::vector<NodeDivergence>& nodes);

/// Indices into `nodes`, worst first: firstBad before other bad nodes, then by ratio to the limit, then graph order.
std::vector<std::size_t> rankDivergence(const std::vector<NodeDivergence>& nodes);

}  // namespace kerf::inline pipeline
