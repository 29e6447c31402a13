// Inductor's ir_pre_fusion.txt and ir_post_fusion.txt: the scheduler's nodes as debug_str() prints them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/support/result.h"

namespace kerf::inline capture {

struct InductorIrNode {
  std::string name;                  ///< "op3", "op3_op4"; "buf3" in older versions
  std::string kind;                  ///< "SchedulerNode", "FusedSchedulerNode", "ExternKernelSchedulerNode", …
  std::string contents;              ///< between the parentheses: "ComputedBuffer", "SchedulerNode,SchedulerNode"
  std::string kernel;                ///< of extern kernels: "extern_kernels.addmm"
  std::vector<std::string> members;  ///< names of the nodes fused into this one
  std::vector<std::string> outputs;  ///< buffers it writes
  std::vector<std::string> reads;    ///< buffers and inputs it depends on
  std::vector<std::string> origins;  ///< graph nodes, where the text names them
  int line = 0;                      ///< 1-based
};

/// Leaves each name once, where it stands first.
void keepFirst(std::vector<std::string>& names);

/// The nodes in the file's order; members of fused nodes are only named. BadInput with the line if the text is not of
/// this kind or ends in the middle; an empty text is a graph without nodes. TooLarge above `limit` nodes.
Result<std::vector<InductorIrNode>> readInductorIr(std::string_view text, std::int64_t limit);

}  // namespace kerf::inline capture
