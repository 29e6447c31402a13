// Fusion groups out of Inductor's scheduler nodes, joined with the kernels that provenance names.
#pragma once

#include "engine/capture/common/details.h"
#include "engine/capture/debug/inductor_ir.h"

namespace kerf::inline capture {

/// Adds the scheduler nodes of one graph. `origin.stage` is "ir_pre_fusion" or "ir_post_fusion". After fusion the
/// groups that provenance made for this graph (details.fusionGroups from index `first` on) get their buffers: kernels
/// come in the order of the nodes, extern kernels agree by name, and nodes between two of them that became one C++
/// kernel are one group. Nodes whose kernel cannot be told get a group of their own without kernel name.
void addIrGroups(const std::vector<InductorIrNode>& nodes, const GraphOrigin& origin, std::size_t first,
                 CaptureDetails& details);

}  // namespace kerf::inline capture
