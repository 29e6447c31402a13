// What a verdict depends on beside the graph itself: the text that is written around every candidate of a search.
#pragma once

#include "engine/capture/common/capture.h"

namespace kerf::inline minifier::inline oracle {

/// Hash of the environment, the configuration and the runner around a graph of `like`, as hexadecimal digits: one graph
/// under another `torch._inductor.config` line may fail in another way, or not at all. Comments and the folders in
/// which things are cached or dumped do not count.
std::string launcherIdentity(const Capture& like, std::size_t graphIndex);

}  // namespace kerf::inline minifier::inline oracle
