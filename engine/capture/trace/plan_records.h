// What later versions of PyTorch log of plans: whether ranks compiled the same graph (spmd_check), process groups and
// device meshes (distributed_topology), what the partitioner saves (min_cut_information), AutoParallel's placements.
#pragma once

#include "engine/capture/trace/story_record.h"

namespace kerf::inline capture::trace {

/// "model.py:53 in forward" of the last frame of a Python traceback; empty without one.
std::string innermostFrame(std::string_view traceback);

// Each becomes a record of metrics: a field for each fact, in the order of the log.

/// inductor_spmd_graph_mismatch: the report that Inductor's spmd_check prints, as text.
void takeSpmdReport(const StoryRecord& record);
/// distributed_topology: {"process_groups": {"0": {"size": 8, "rank": 2}}, "device_meshes": [{"device_type", "mesh",
/// "mesh_dim_names"}]}.
void takeTopology(const StoryRecord& record);
/// min_cut_information: nodes of the joint graph that the partitioner may compute again, what each costs, and the
/// knapsack's answer.
void takeMinCut(const StoryRecord& record);
/// autoparallel_solution: {"mesh": {"shape", "dim_names"}, "nodes": [{"name", "op", "placement", "inputs", …}]}.
void takeShardingSolution(const StoryRecord& record);

}  // namespace kerf::inline capture::trace
