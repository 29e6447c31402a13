// Which primals of a joint graph live on anyway (parameters and buffers), so that saving them costs no memory.
#pragma once

#include "app/workbench/captures/graph_source.h"

namespace kerf::workbench {

struct StaticInputs {
  /// Names of placeholders. Unset: nothing says so, and the partitioner goes by gradients and first sizes.
  std::optional<std::vector<std::string>> names;
  std::string source = "gradients";  ///< "traced", "recorded", "given", "gradients"
};

/// What `given` says (the first so many primals; negative: nothing), else what AOTAutograd knows of the graph: Kerf's
/// own trace, or the static_input_indices that a log recorded with the compilation. BadUsage for more than there are.
Result<StaticInputs> staticInputs(const GraphSource& source, int given);

/// The indices of "static_input_indices=[1,\n 2]" in the text of a ViewAndMutationMeta; nothing where it has none.
std::optional<std::vector<std::size_t>> recordedStaticIndices(std::string_view metadata);

}  // namespace kerf::workbench
