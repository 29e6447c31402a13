// GraphPlan: one side of a partition before it is built: which nodes of the joint graph, in which order.
#pragma once

#include "engine/partition/joint_graph.h"

namespace kerf::inline partition {

enum class GraphSide : std::uint8_t { Forward, Backward };

struct GraphPlan {
  GraphSide side = GraphSide::Forward;
  std::vector<int> inputs;  ///< places that become placeholders, in order
  std::vector<int> calls;   ///< everything between inputs and output, in order
  std::vector<Argument> outputs;
  /// Inputs that the forward graph writes although the backward graph reads what they held before: it works on a copy,
  /// and saves that.
  std::vector<int> copied = {};
};

/// Name of that copy: "primals_2_saved".
std::string nameOfCopy(const JointGraph& joint, int input);

/// The part of the joint graph that makes `outputs` from `inputs`, in the joint graph's order, without dead nodes.
/// Nodes with effects that the inputs reach stay, but those that are tagged for the other side. Internal naming an
/// output that the inputs do not reach.
Result<GraphPlan> planGraph(const JointGraph& joint, std::vector<int> inputs, std::vector<Argument> outputs,
                            GraphSide side);

/// By place: whether the plan's nodes use it, or its output.
std::vector<bool> usedPlaces(const JointGraph& joint, const GraphPlan& plan);

/// As autograd runs (reordering_to_mimic_autograd_engine): from the first user of a tangent on, each node right after
/// what it needs and nobody needed before, so that what is computed again lives briefly.
void orderLikeAutograd(const JointGraph& joint, GraphPlan& plan);

/// Every element of a tuple right after the tuple.
void raiseGetitems(const JointGraph& joint, GraphPlan& plan);

/// The planned graph; nodes keep names and metas, attributes come along.
Result<GraphModule> buildGraph(const JointGraph& joint, const GraphPlan& plan);

}  // namespace kerf::inline partition
