// Graph breaks, restarts and failures out of a trace's records.
#pragma once

#include "engine/capture/trace/story_record.h"

namespace kerf::inline capture::trace {

/// The text of dynamo_graph_break_reason.
GraphBreak graphBreak(std::string_view text);

void takeBreakReason(const StoryRecord& record);
/// The artifact dynamo_error: a traceback.
void takeError(const StoryRecord& record);
/// restart_reasons, fail_type and fail_reason of a metrics record, and the break that a resume function's name tells
/// of.
void takeOutcome(const StoryRecord& record);

/// Says of restarts which were graph breaks, and drops implied breaks where the log tells breaks itself.
void settleBreaks(CompileLog& log);

}  // namespace kerf::inline capture::trace
