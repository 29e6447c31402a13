// What a graph writes into, by its ops' schemas: placeholders and attributes whose values a run changes.
#pragma once

#include <string>
#include <vector>

#include "engine/ir/graph_module.h"
#include "engine/ops/core/memory_use.h"

namespace kerf::inline ops {

/// What a run of a graph writes into.
///
///     slice = k_cache[:, 3:4];  copy_ = copy_(slice, key)      →      placeholders[index of k_cache] is Yes
struct MemoryWrites {
  /// Yes: a schema says so. Maybe: an op without a row, a module or a nested graph that cannot be looked into sees it.
  enum class Answer : unsigned char { No, Maybe, Yes };
  std::vector<Answer> placeholders;                        ///< in their order
  std::vector<std::pair<std::string, Answer>> attributes;  ///< by path, those with Maybe or Yes, in order of first use
};

/// Follows every written argument back through views, in-place results and getitem to where its memory comes from, and
/// into the nested graphs of higher-order ops. Names of methods decide by PyTorch's convention ("add_" writes).
MemoryWrites memoryWrites(const GraphModule& module);

}  // namespace kerf::inline ops
