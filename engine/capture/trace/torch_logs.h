// What TORCH_LOGS prints of compilations (graph breaks, recompilations, guards, sizes, output code), as a trace.
#pragma once

#include "engine/capture/common/capture.h"

namespace kerf::inline capture {

/// Whether the text has lines of TORCH_LOGS that tell of compilations.
bool looksLikeTorchLogs(std::string_view text);

/// The text's graphs, and its messages as a TORCH_TRACE log would have them: the same tables and answers. The lines may
/// stand behind any prefix, or none. BadInput where there is neither a message nor a graph.
Result<Capture> importTorchLogs(std::string_view text, const std::filesystem::path& path,
                                const ImportLimits& limits = {});

}  // namespace kerf::inline capture
