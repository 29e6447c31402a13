#include "app/cli/timeline.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "app/cli/text_table.h"

namespace kerf::cli {

namespace {

double milliseconds(std::int64_t microseconds) { return double(microseconds) / 1000; }

std::chrono::microseconds micros(std::int64_t count) { return std::chrono::microseconds(count); }

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

Json timelineJson(const std::vector<TimelineEvent>& events) {
  Json totals = Json::array();
  for (const auto& total : timelineTotals(events)) {
    totals.push_back({{"name", total.name},
                      {"category", total.category},
                      {"count", total.count},
                      {"total_ms", milliseconds(total.totalUs)},
                      {"self_ms", milliseconds(total.selfUs)},
                      {"longest_ms", milliseconds(total.longestUs)}});
  }
  return {{"events", events.size()}, {"span_ms", milliseconds(spanOf(events))}, {"totals", std::move(totals)}};
}

std::string timelineText(const std::vector<TimelineEvent>& events) {
  if (events.empty()) return "no timeline\n";
  TextTable table({"event", "count", "self", "total", "longest"});
  for (const auto& total : timelineTotals(events)) {
    table.add({total.name, std::to_string(total.count), durationText(micros(total.selfUs)),
               durationText(micros(total.totalUs)), durationText(micros(total.longestUs))});
  }
  return fmt::format("{} in {}\n{}", counted(std::ssize(events), "event"), durationText(micros(spanOf(events))),
                     table.text());
}

}  // namespace kerf::cli
