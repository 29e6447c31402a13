// The importers behind importCapture, one per format. A recogniser looks at the first 64 KiB only; content decides.
#pragma once

#include "engine/capture/common/capture.h"

namespace kerf::inline capture {

/// Bytes of the head that recognisers get.
inline constexpr std::size_t recognitionBytes = 64 << 10;

// TORCH_TRACE (formats B.1): one log, gzip-compressed or not, or a folder of logs (one per rank).
bool looksLikeTorchTrace(std::string_view head);
bool isTorchTraceDirectory(const std::filesystem::path& directory);
Result<Capture> importTorchTrace(const std::filesystem::path& path, const ImportLimits& limits,
                                 const ImportProgress& progress);

// torch.export archives (formats B.4)
bool looksLikePt2(std::string_view head);
Result<Capture> importPt2(const std::filesystem::path& path, const ImportLimits& limits,
                          const ImportProgress& progress);

// TORCH_COMPILE_DEBUG folders (formats B.2): the root, one run_*, its torchinductor, or one graph's folder
bool isDebugDirectory(const std::filesystem::path& directory);
Result<Capture> importDebugDirectory(const std::filesystem::path& directory, const ImportLimits& limits,
                                     const ImportProgress& progress);

// INDUCTOR_LOG_URL_FOR_GRAPH_XFORM folders: input and output graph of every pass
bool isGraphTransformDirectory(const std::filesystem::path& directory);
Result<Capture> importGraphTransforms(const std::filesystem::path& directory, const ImportLimits& limits,
                                      const ImportProgress& progress);

// One graph of such a folder: Graphviz text that torch.fx.passes.graph_drawer.FxGraphDrawer wrote
bool looksLikeGraphDot(std::string_view head);
Result<Capture> importGraphDot(std::string_view text, const std::filesystem::path& path,
                               const ImportLimits& limits = {});

// Graph text: print_readable in all forms, "graph():" text, print_tabular (formats B.3)
bool looksLikeGraphText(std::string_view head);
Result<Capture> importGraphText(std::string_view text, const std::filesystem::path& path,
                                const ImportLimits& limits = {});

// Everything below a folder, of several kinds: each log folder, debug folder, archive and repro once, in the order of
// their names. What cannot be opened is named in the notes of the first capture; an error if nothing can. A file gives
// one capture.
Result<std::vector<Capture>> importAll(const std::filesystem::path& path, const ImportLimits& limits = {},
                                       const ImportProgress& progress = {});

}  // namespace kerf::inline capture
