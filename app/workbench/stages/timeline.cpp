// The timeline of a log: bars in lanes, and where the time went by event name.
#include <algorithm>
#include <map>
#include <tuple>

#include "app/workbench/captures/capture_index.h"

namespace kerf::workbench {

namespace {

std::string laneTitle(int rank, std::int64_t thread) {
  return (rank >= 0 ? fmt::format("rank {} · ", rank) : std::string()) + fmt::format("thread {}", thread);
}

/// Microseconds from the first event's begin to the last one's end.
std::int64_t spanOf(const std::vector<TimelineEvent>& events) {
  if (events.empty()) return 0;
  std::int64_t first = INT64_MAX, last = INT64_MIN;
  for (const auto& event : events) {
    first = std::min(first, event.beginUs);
    last = std::max(last, event.beginUs + event.durationUs);
  }
  return last - first;
}

/// Time of each event that no event inside it on the same thread takes.
std::vector<std::int64_t> selfTimes(const std::vector<TimelineEvent>& events) {
  std::vector<std::size_t> order(events.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  const auto key = [&](std::size_t i) {
    const auto& event = events[i];
    return std::tuple(event.rank, event.thread, event.beginUs, -event.durationUs, event.depth);
  };
  std::ranges::sort(order, {}, key);
  std::vector<std::int64_t> self(events.size());
  std::vector<std::size_t> open;
  for (const auto i : order) {
    const auto& event = events[i];
    const auto encloses = [&](const TimelineEvent& outer) {
      return outer.rank == event.rank && outer.thread == event.thread &&
             event.beginUs < outer.beginUs + outer.durationUs;
    };
    while (!open.empty() && !encloses(events[open.back()])) open.pop_back();
    if (!open.empty()) self[open.back()] -= event.durationUs;
    self[i] += event.durationUs;
    open.push_back(i);
  }
  return self;
}

}  // namespace

std::vector<TimelineTotal> timelineTotals(const std::vector<TimelineEvent>& events) {
  std::map<std::string, TimelineTotal> byName;
  const auto self = selfTimes(events);
  for (std::size_t i = 0; i < events.size(); ++i) {
    const auto& event = events[i];
    auto& total = byName[event.name];
    total.name = event.name;
    total.category = event.category;
    ++total.count;
    total.totalUs += event.durationUs;
    total.selfUs += std::max<std::int64_t>(self[i], 0);
    total.longestUs = std::max(total.longestUs, event.durationUs);
  }
  std::vector<TimelineTotal> totals;
  for (auto& [name, total] : byName) totals.push_back(std::move(total));
  std::ranges::stable_sort(totals, std::ranges::greater(), &TimelineTotal::selfUs);
  return totals;
}

std::shared_ptr<const TimelineDoc> timelineDoc(const std::vector<TimelineEvent>& events) {
  if (events.empty()) return nullptr;
  using Lane = std::pair<int, std::int64_t>;  // rank, thread
  std::map<Lane, int> depths, first;
  for (const auto& event : events) {
    auto& rows = depths[{event.rank, event.thread}];
    rows = std::max(rows, event.depth + 1);
  }
  auto doc = std::make_shared<TimelineDoc>();
  int row = 0;
  for (const auto& [lane, rows] : depths) {
    doc->lanes.push_back({laneTitle(lane.first, lane.second), row, rows});
    first[lane] = row;
    row += rows;
  }
  for (const auto& event : events) {
    doc->spans.push_back({event.name, event.category, event.compileId, event.beginUs, event.durationUs,
                          first[{event.rank, event.thread}] + event.depth});
    doc->length = std::max(doc->length, event.beginUs + event.durationUs);
  }
  std::ranges::stable_sort(doc->spans, {}, &TimelineSpan::begin);
  return doc;
}

Result<TimelineSummary> perform(Workbench& bench, const TimelineRequest& request, const Job& job) {
  KERF_TRY(const auto source, openCapture(bench, request.capture, job));
  if (!source->capture.details) return TimelineSummary();
  const auto& events = source->capture.details->timeline;
  return TimelineSummary{std::int64_t(events.size()), spanOf(events), timelineTotals(events)};
}

}  // namespace kerf::workbench
