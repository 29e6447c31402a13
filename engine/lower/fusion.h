// Fusion: computed values that run over the same loops become one kernel; extern calls stay steps of their own.
//
//   before: sum = sum(x, [1], True); div = div(x, sum)      after: one kernel, x loaded per row, two inner loops
#pragma once

#include "engine/lower/element_builder.h"

namespace kerf::inline lower {

/// A call of copy_ that the kernel which computes `value` does: it stores it in the memory of what is written, too.
struct CopyStore {
  NodeId copy, value;
  BufferView into;
};

/// One step of the schedule.
struct FusionGroup {
  bool isExtern = false;
  bool writes = false;  ///< at computed places: nothing joins it
  int segment = 0;
  int cost = 0;
  std::vector<LoopVariable> variables;          ///< of the kernel
  std::vector<ElementBuilder::Member> members;  ///< in graph order; a single one for an extern step
  std::vector<int> dependencies;                ///< earlier groups whose results this one needs
  std::vector<NodeId> reads;                    ///< values with memory that it loads
  std::vector<CopyStore> copies;                ///< of its members (storeCopies)
};

struct FusionPlan {
  std::vector<FusionGroup> groups;  ///< in execution order, dependencies renumbered
  std::vector<std::unique_ptr<LoopSpace>> spaces;
};

/// Greedy, in graph order: a value joins the group of a producer, or a group over the same loops that reads the same
/// memory, whenever no path outside of the group leads from the group to the value; also the group of a reduction
/// whose loops views have cut otherwise (commonLoops).
Result<FusionPlan> planFusion(const ValueTable& values, const BufferTable& buffers, bool fuse);

}  // namespace kerf::inline lower
