// What compiled graphs do at run time, as Inductor estimates it: collectives, times of ops, tensors; and the order in
// which graphs ran.
#pragma once

#include "engine/capture/trace/story_record.h"

namespace kerf::inline capture::trace {

void takeCollectives(const StoryRecord& record);
/// Counts the collectives that the output codes call.
void countCollectives(CompileLog& log, const CaptureDetails& details);
void takeEstimates(const StoryRecord& record);
/// graph_execution: {"graph_execution_order": [{"compile_id": "0/1"}, …]}.
void takeExecutionOrder(const StoryRecord& record);

}  // namespace kerf::inline capture::trace
