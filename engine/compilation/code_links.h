// Lines of recorded output code by the nodes of the graph that was lowered: definitions of kernels, calls, and the
// lines of a kernel that touch a value.
//
//     tmp0 = tl.load(in_ptr0 + x0)          reads what the call's first argument holds: relu
//     triton_poi_fused_add_0.run(buf2, …)   computes add
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/capture/common/recorded_fusion.h"

namespace kerf::inline compilation {

/// Lines of a program, 0-based and both included, that belong to nodes.
struct CodeLink {
  enum class Kind {
    Definition,  ///< of a generated kernel, with the comments above it
    Access,      ///< a line inside of one that reads or writes the value of a node
    Call,        ///< of a kernel or an existing function, with the comments above it
  };
  Kind kind = Kind::Call;
  int first = 0, last = 0;
  std::string kernel;              ///< "triton_poi_fused_add_0", "extern_kernels.addmm"
  std::vector<std::string> nodes;  ///< of an access those whose value it touches
};

/// The links of a program by their first line, outer ones first. `groups` are those of its calls
/// (CompiledPart::groups); the nodes are theirs, of the graph after the post-grad passes, and names of its inputs.
std::vector<CodeLink> codeLinks(std::string_view program, const std::vector<RecordedFusionGroup>& groups);

/// Names of nodes before AOTAutograd that the comments of a kernel or call give, by the lines of the link's beginning:
/// what is known where no post-grad graph was recorded.
std::vector<CodeLink> sourceLinks(std::string_view program);

}  // namespace kerf::inline compilation
