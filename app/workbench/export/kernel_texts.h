// The code of a graph's kernels, one after the other.
#pragma once

#include "app/workbench/captures/graph_source.h"

namespace kerf::workbench {

/// Whether `format` is "loop", "llvm", "asm", "cuda", "ptx" or "sass", or one of them followed by ".json".
bool isKernelFormat(std::string_view format);

/// Compiles the graph with the backend that makes code of this form, in a process of its own. Every kernel begins with
/// a comment that names its nodes. BadUsage for another format; Environment for what this machine has no program for.
Result<std::string> kernelTexts(const GraphSource& source, std::string_view format, const std::filesystem::path& cache,
                                const Job& job);

}  // namespace kerf::workbench
