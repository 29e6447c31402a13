// Recompile reasons: what changed between two calls, out of the text that Dynamo logs of the guard that failed.
#pragma once

#include "engine/capture/trace/story_record.h"

namespace kerf::inline capture::trace {

/// "0/0: tensor 'x' size mismatch at index 0. expected 2, actual 3" is from [0/0], x.size(0), 2, 3.
RecompileCause recompileCause(std::string_view reason);

/// The artifact recompile_reasons: a JSON list of reasons.
void takeRecompileReasons(const StoryRecord& record);
/// The one reason of compilation_metrics, for compilations that have no such artifact.
void takeRecompileReason(const StoryRecord& record);

/// Marks the guards that failed for later compilations; ids as in CaptureDetails::compiles.
void markFailedGuards(CompileLog& log, const CaptureDetails& details);

}  // namespace kerf::inline capture::trace
