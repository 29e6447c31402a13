// NVRTC's version as the object cache remembers it: opening the library takes longer than reading the code of a graph.
#pragma once

#include <optional>
#include <string>

#include "engine/codegen_llvm/object_cache.h"
#include "engine/support/result.h"

namespace kerf::inline backend {

/// The version ("13.0") that this cache was told last, where that library still lies there unchanged and is what would
/// be opened: the loader's paths and its list are the same. Opens nothing.
std::optional<std::string> rememberedCompiler(const ObjectCache& cache);

/// Opens NVRTC and lets the cache remember its version. Environment where there is no NVRTC.
Result<std::string> openedCompiler(const ObjectCache& cache);

}  // namespace kerf::inline backend
