// The fusion groups of a capture: provenance maps and scheduler nodes, joined with what Inductor's output code says.
#pragma once

#include "engine/capture/common/capture.h"

namespace kerf::inline capture {

/// One graph that Inductor compiled, as a capture shows it: the program it became, and the graphs whose nodes have the
/// names that its fusion groups give.
struct CompiledPart {
  std::size_t code = 0;                ///< index in CaptureDetails::records
  std::string part;                    ///< "forward", "backward", "inference"; "" where the code does not say
  std::optional<std::size_t> lowered;  ///< index in Capture::graphs: after the post-grad passes
  std::vector<std::size_t> graphs;     ///< that one, and those before it: AOT's, fx_graph_runnable, …
  std::vector<RecordedFusionGroup> groups;
};

/// Every part of the capture that has output code, with its groups, in the order of the records. Parses the graphs
/// after the post-grad passes; a graph or record that cannot be read leaves its part with what is known without it.
std::vector<CompiledPart> compiledParts(const Capture& capture);

/// All groups: those of the parts, and what else the capture recorded (nodes before fusion). In the order of the
/// records; `compilation`, if given, is where a graph came from whose compilation (of a folder: whose folder) is
/// wanted.
std::vector<RecordedFusionGroup> recordedFusionGroups(const Capture& capture, const GraphOrigin* compilation = nullptr);

/// The part to which a graph belongs. NotFound, saying what would hold them, where no groups are recorded for it.
Result<CompiledPart> compiledPartOf(const Capture& capture, std::size_t graph);

}  // namespace kerf::inline capture
