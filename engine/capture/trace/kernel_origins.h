// Kernels back to the user's lines: provenance maps, stack traces of kernels, and where the output code has them.
#pragma once

#include "engine/capture/trace/story_record.h"

namespace kerf::inline capture::trace {

/// inductor_provenance_tracking_kernel_stack_traces: {"kernel:1": ["  File \"x.py\", line 3, in f\n    code\n", …]}.
void takeKernelStacks(const StoryRecord& record);

/// Adds the nodes that details.fusionGroups has of each kernel, and its lines in the output code of its direction.
void joinKernels(CompileLog& log, const CaptureDetails& details);

}  // namespace kerf::inline capture::trace
