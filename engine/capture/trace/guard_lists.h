// The guards of compiled frames: the tree that newer versions print, the list of older ones.
#pragma once

#include "engine/capture/trace/story_record.h"

namespace kerf::inline capture::trace {

/// dynamo_cpp_guards_str: "| | +- LENGTH_CHECK: len(L['x']) == 3  # x.py:1 in f" below its GuardManager's source.
void takeGuardLines(const StoryRecord& record);
/// dynamo_guards: [{"code": "…", "user_stack": …}, …].
void takeGuardObjects(const StoryRecord& record);

}  // namespace kerf::inline capture::trace
