// One graph as Graphviz text that torch.fx.passes.graph_drawer.FxGraphDrawer wrote.
#pragma once

#include "engine/capture/common/capture.h"

namespace kerf::inline capture {

bool looksLikeGraphDot(std::string_view head);
Result<Capture> importGraphDot(std::string_view text, const std::filesystem::path& path,
                               const ImportLimits& limits = {});

}  // namespace kerf::inline capture
