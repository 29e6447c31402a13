// Looks into PyTorch's caches: hits, misses and bypasses with their keys, and what made a key another one.
#pragma once

#include "engine/capture/trace/story_record.h"

namespace kerf::inline capture::trace {

/// True for artifacts like fx_graph_cache_hit and aotautograd_cache_miss.
bool isCacheArtifact(std::string_view name);
void takeCacheLookup(const StoryRecord& record);

/// Says of each miss which components of its key are others than in the lookup before it: of the same id, else of an
/// earlier compilation of the frame, else of another rank.
void explainMisses(CompileLog& log, const CaptureDetails& details);

}  // namespace kerf::inline capture::trace
