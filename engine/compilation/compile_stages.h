// CompileStages: the graphs that one compilation left behind, in the order in which they became each other.
//
//     dynamo_output_graph → before_pre_grad_graph → aot_joint_graph → aot_forward_graph  → … → inductor_post_grad_graph
//                                                                   → aot_backward_graph → … → inductor_post_grad_graph
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/capture/common/recorded_fusion.h"

namespace kerf::inline compilation {

struct CompileStage {
  std::size_t graph = 0;              ///< index in Capture::graphs
  std::string label;                  ///< "Dynamo", "joint", "forward, before post-grad passes", …
  std::string part;                   ///< "forward", "backward", "inference"; empty before the partition
  int rank = 0;                       ///< how late it stands in a compilation
  std::optional<std::size_t> parent;  ///< index of the stage that it came from
};

/// The stages of the compilation that made graph `of`: its compile id in a log, its folder of a debug folder. Graphs of
/// other kinds are a stage of their own. `parts` are those of the whole capture (compiledParts). A repro of a graph
/// that stands there already is left out unless it is `of`.
std::vector<CompileStage> compileStages(const Capture& capture, const std::vector<CompiledPart>& parts, std::size_t of);

/// Whether two graphs or records stem from one compilation.
bool sameCompilation(const Capture& capture, const GraphOrigin& a, const GraphOrigin& b);

}  // namespace kerf::inline compilation
