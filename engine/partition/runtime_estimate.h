// What computing a node again costs: counted, measured, or one for everything.
#pragma once

#include "engine/partition/joint_graph.h"

namespace kerf::inline partition {

enum class RuntimeEstimator : std::uint8_t { Flops, Profile, Testing };

/// "flops", "profile", "testing".
std::string_view estimatorName(RuntimeEstimator estimator);
/// BadUsage naming the three.
Result<RuntimeEstimator> estimatorFromName(std::string_view name);

/// Floating point operations by the op's formula, at least 1 (torch.utils.flop_counter); milliseconds of the reference
/// kernel on zeros, the least of three runs; or 1. What cannot be measured costs 1.
double estimateRuntime(const JointGraph& joint, int place, RuntimeEstimator estimator);

/// Of the op's formula, or elements for ops without one; 0 where nothing is known.
double flopsOfNode(const Graph& graph, const Node& node);

}  // namespace kerf::inline partition
