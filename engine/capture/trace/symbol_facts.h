// Symbolic sizes and export: symbols made, fixed and guessed, guards on them, and what torch.export could not do.
#pragma once

#include "engine/capture/trace/story_record.h"

namespace kerf::inline capture::trace {

void takeCreatedSymbol(const StoryRecord& record);
void takeUnbackedSymbol(const StoryRecord& record);
void takeSpecialised(const StoryRecord& record);
void takeAddedGuard(const StoryRecord& record);
void takeGuess(const StoryRecord& record);
void takeExpression(const StoryRecord& record);
void takeMissingKernel(const StoryRecord& record);
void takeMismatchedKernel(const StoryRecord& record);

}  // namespace kerf::inline capture::trace
