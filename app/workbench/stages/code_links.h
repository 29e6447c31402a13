// Lines of recorded output code by the nodes of the graph that was lowered: definitions of kernels, calls, and the
// lines of a kernel that touch a value.
//
//     tmp0 = tl.load(in_ptr0 + x0)          reads what the call's first argument holds: relu
//     triton_poi_fused_add_0.run(buf2, …)   computes add
#pragma once

#include <string_view>
#include <vector>

#include "app/workbench/protocol/recorded_code.h"
#include "engine/capture/common/recorded_fusion.h"

namespace kerf::workbench {

/// The spans of a program by their first line, outer ones first. `groups` are those of its calls
/// (CompiledPart::groups); the nodes are theirs, of the graph after the post-grad passes, and names of its inputs.
std::vector<CodeSpan> codeSpans(std::string_view program, const std::vector<RecordedFusionGroup>& groups);

/// Names of nodes before AOTAutograd that the comments of a kernel or call give, by the lines of the span's beginning:
/// what is known where no post-grad graph was recorded.
std::vector<CodeSpan> sourceSpans(std::string_view program);

}  // namespace kerf::workbench
