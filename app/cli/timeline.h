// Timeline: where a compile's time went, by event name, from a log's chromium events.
#pragma once

#include "app/cli/context.h"
#include "engine/capture/common/details.h"

namespace kerf::cli {

struct TimelineTotal {
  std::string name, category;
  std::int64_t count = 0;
  std::int64_t totalUs = 0, selfUs = 0, longestUs = 0;  ///< self: without the events inside
};

/// Largest self time first.
std::vector<TimelineTotal> timelineTotals(const std::vector<TimelineEvent>& events);
/// events (count), span_ms, totals (list).
Json timelineJson(const std::vector<TimelineEvent>& events);
std::string timelineText(const std::vector<TimelineEvent>& events);

}  // namespace kerf::cli
