// What running a graph needs of the machine's memory, before any of it is taken.
#pragma once

#include <string>

#include "engine/capture/common/capture.h"

namespace kerf::workbench {

/// Bytes that are needed at once whatever runs the graph, from its shapes as far as they are known.
struct MemoryNeed {
  std::int64_t inputs = 0;   ///< that are made up or read
  std::int64_t results = 0;  ///< what it returns, without views
  std::int64_t largest = 0;  ///< the largest other value, which a run op by op holds
  std::string node;          ///< that it is of
};
MemoryNeed memoryNeed(const CapturedGraph& graph);

/// TooLarge, with the figures and what to do, where the machine cannot have that much. `opByOp`: values that fused
/// kernels never write count too.
Result<void> checkMemory(const CapturedGraph& graph, bool opByOp);

}  // namespace kerf::workbench
