// What a verdict depends on beside graph and oracle: this program, and the variables that compilers read.
#pragma once

#include <string>

#include "engine/capture/common/capture.h"

namespace kerf::inline minifier::inline oracle {

/// The running program as its linker named it (build id), as hexadecimal digits: another build of Kerf does not trust
/// this one's verdicts on its own engine. Where it has none, a hash of its file.
std::string programIdentity();

/// Hash of the variables of this process that change what a program, Python or PyTorch does: PATH, LD_*, PYTHON*,
/// TORCH*, PYTORCH*, CUDA*, INDUCTOR*, TRITON*, compilers and thread counts; not of folders for caches, which change
/// nothing.
std::string environmentIdentity();

// What a verdict depends on beside the graph itself: the text that is written around every candidate of a search.

/// Hash of the environment, the configuration and the runner around a graph of `like`, as hexadecimal digits: one graph
/// under another `torch._inductor.config` line may fail in another way, or not at all. Comments and the folders in
/// which things are cached or dumped do not count.
std::string launcherIdentity(const Capture& like, std::size_t graphIndex);

}  // namespace kerf::inline minifier::inline oracle
