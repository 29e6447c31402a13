// shardGraph: one graph of whole tensors as one graph per rank, of parts and collectives.
//
//     mm = aten.mm(x, w), x: S(1), w: S(0)      →      mm = aten.mm(x, w); all_reduce = _c10d_functional.all_reduce(mm, 'sum', '0'); …
#pragma once

#include <map>

#include "engine/distributed/sharding/spec.h"
#include "engine/ir/graph_module.h"
#include "engine/tensor/value.h"

namespace kerf::inline distributed::inline graphs {

/// Another placement that a node needed.
struct MovedOperand {
  std::string from, to;      ///< "[S(0)]"
  double cost = 0;           ///< PyTorch's estimate in microseconds
  std::string operand = {};  ///< the op's name for it: "mat2", "tensors[1]"; empty: of a step
  std::string source = {};   ///< the node that it is; empty: a value within the node
};

/// A strategy that was not taken.
struct OtherStrategy {
  std::string call;             ///< the overload
  std::string inputs, outputs;  ///< "[S(0)], [R]"
  double cost = 0;              ///< of redistributing the operands, in microseconds
};

/// What became of one node of the graph.
struct ShardedNode {
  std::string name, target;
  std::vector<std::string> calls;  ///< overloads that it was broken down to
  std::vector<MovedOperand> moved;
  std::string placements;  ///< of its (first) result
  double cost = 0;
  std::vector<std::string> inputs = {};    ///< the nodes that it takes
  std::vector<OtherStrategy> others = {};  ///< the cheapest of each call
};

struct ShardedGraph {
  std::vector<GraphModule> ranks;
  std::vector<ShardedNode> nodes;  ///< placeholders too
  std::vector<Placements> inputs;  ///< of tensors in placeholder order; empty for others
  std::vector<Placements> outputs;
  std::map<std::string, int> collectives;  ///< of one rank, by op
};

struct ShardOptions {
  std::map<std::string, Placements> inputs;  ///< by placeholder; the others are replicated
  bool wholeOutputs = false;                 ///< results are gathered at the end
};

/// The graph's placeholders must have sizes that are numbers. BadUsage for an input that is not there; UnsupportedOp,
/// with its node, for calls that cannot be run on parts placed like that.
Result<ShardedGraph> shardGraph(const GraphModule& module, const DeviceMesh& mesh, const ShardOptions& options);

/// The process groups that rank graphs name, of one rank.
std::vector<Group> groupsOfMesh(const DeviceMesh& mesh, int rank);

/// Runs all ranks' graphs on parts of `inputs` and gives the whole results.
Result<ValueList> runShardedGraph(const ShardedGraph& graph, const DeviceMesh& mesh, const ValueList& inputs);

}  // namespace kerf::inline distributed::inline graphs
