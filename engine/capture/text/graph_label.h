// GraphLabel: what the lines above a graph call it.
#pragma once

#include <string>
#include <vector>

#include "engine/capture/text/lines.h"

namespace kerf::inline capture {

struct GraphLabel {
  std::string name;       ///< "forward_0", "__compiled_fn_1"; empty: none
  std::string stage;      ///< as trace logs call it: "aot_forward_graph"; empty: unknown
  std::string compileId;  ///< "[0/1]"
  int rank = -1;
};

/// The label of the graph that begins at lines[at] behind `prefix`: from the few lines above it ("===== Forward graph 0
/// =====", "TRACED GRAPH", "Joint graph:") and from what stands in front of it ("[rank0]:", "[0/1]").
GraphLabel labelAbove(const std::vector<TextLine>& lines, std::size_t at, std::string_view prefix);

}  // namespace kerf::inline capture
