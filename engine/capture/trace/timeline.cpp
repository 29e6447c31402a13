#include "engine/capture/trace/timeline.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "engine/capture/common/json.h"

namespace kerf::inline capture::trace {
namespace {

constexpr double maxMicroseconds = 4e18;  ///< what fits an int64
constexpr std::size_t maxEvents = 1'000'000;
constexpr std::size_t maxOpen = 1000;  ///< nesting of one thread

std::int64_t rounded(double microseconds) {
  return std::llround(std::clamp(microseconds, -maxMicroseconds, maxMicroseconds));
}

}  // namespace

bool TimelineReader::add(std::string_view json, const std::string& compileId, int rank,
                         std::vector<TimelineEvent>& timeline) {
  if (timeline.size() >= maxEvents) return false;
  TimelineEvent origin;
  origin.compileId = compileId;
  origin.rank = rank;
  const std::size_t first = json.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return false;
  if (json[first] != '[') return addObject(json, origin, timeline);
  JsonWalker events(json);
  bool good = true;
  while (timeline.size() < maxEvents && events.nextElement())
    good = addObject(events.value(), origin, timeline) && good;
  return good && events.complete();
}

std::optional<TimelineReader::Fields> TimelineReader::read(std::string_view object, const TimelineEvent& origin) {
  Fields fields;
  fields.event = origin;
  std::optional<double> time;
  JsonWalker members(object);
  while (members.nextMember()) {
    const std::string_view key = members.key(), value = members.value();
    if (jsonKeyIs(key, "name")) fields.event.name = jsonString(value).value_or("");
    if (jsonKeyIs(key, "cat")) fields.event.category = jsonString(value).value_or("");
    if (jsonKeyIs(key, "ph")) fields.phase = jsonString(value).value_or("");
    if (jsonKeyIs(key, "ts")) time = jsonNumber(value);
    if (jsonKeyIs(key, "dur")) fields.duration = jsonNumber(value).value_or(0);
    if (jsonKeyIs(key, "pid")) fields.thread.first = jsonInteger(value).value_or(0);
    if (jsonKeyIs(key, "tid")) fields.thread.second = jsonInteger(value).value_or(0);
  }
  if (!members.complete() || !time) return std::nullopt;
  if (!m_origin) m_origin = *time;
  fields.time = *time - *m_origin;
  fields.event.thread = fields.thread.second;
  fields.event.beginUs = rounded(fields.time);
  m_last = std::max(m_last, fields.time + std::max(0.0, fields.duration));
  return fields;
}

bool TimelineReader::addObject(std::string_view object, const TimelineEvent& origin,
                               std::vector<TimelineEvent>& timeline) {
  auto fields = read(object, origin);
  if (!fields) return false;
  std::vector<Open>& open = m_open[fields->thread];
  fields->event.depth = int(std::count_if(open.begin(), open.end(), [](const Open& one) { return !one.limit; }));
  if (fields->phase == "B") {
    if (open.size() >= maxOpen) flushLimited(open, timeline);
    if (open.size() < maxOpen) open.push_back({std::move(fields->event), std::nullopt});
  } else if (fields->phase == "E") {
    end(*fields, timeline);
  } else if (fields->phase == "X") {
    fields->event.durationUs = rounded(fields->time + std::max(0.0, fields->duration)) - fields->event.beginUs;
    timeline.push_back(std::move(fields->event));
  } else if (fields->phase == "i" || fields->phase == "I") {
    timeline.push_back(std::move(fields->event));
  }
  return true;
}

/// Ends the innermost open event of that name. What was begun inside may end later (events of worker threads carry the
/// main thread's number), or never: then it ends here.
void TimelineReader::end(const Fields& fields, std::vector<TimelineEvent>& timeline) {
  std::vector<Open>& open = m_open[fields.thread];
  const auto match =
      std::find_if(open.rbegin(), open.rend(), [&](const Open& one) { return one.event.name == fields.event.name; });
  if (match == open.rend()) return;
  for (auto inner = open.rbegin(); inner != match; ++inner)
    if (!inner->limit) inner->limit = fields.event.beginUs;
  match->event.durationUs = std::max<std::int64_t>(0, fields.event.beginUs - match->event.beginUs);
  timeline.push_back(std::move(match->event));
  open.erase(std::next(match).base());
}

/// Gives up waiting for the end of events whose surroundings have ended.
void TimelineReader::flushLimited(std::vector<Open>& open, std::vector<TimelineEvent>& timeline) {
  for (Open& one : open) {
    if (!one.limit) continue;
    one.event.durationUs = std::max<std::int64_t>(0, *one.limit - one.event.beginUs);
    timeline.push_back(std::move(one.event));
  }
  std::erase_if(open, [](const Open& one) { return one.limit.has_value(); });
}

std::size_t TimelineReader::closeOpen(std::vector<TimelineEvent>& timeline) {
  std::size_t count = 0;
  for (auto& [thread, open] : m_open) {
    flushLimited(open, timeline);
    count += open.size();
    for (Open& one : open) {
      one.event.durationUs = std::max<std::int64_t>(0, rounded(m_last) - one.event.beginUs);
      timeline.push_back(std::move(one.event));
    }
    open.clear();
  }
  return count;
}

void sortTimeline(std::vector<TimelineEvent>& timeline) {
  std::sort(timeline.begin(), timeline.end(), [](const TimelineEvent& a, const TimelineEvent& b) {
    return std::tuple(a.rank, a.thread, a.beginUs, a.depth, b.durationUs, std::tie(a.name, a.compileId)) <
           std::tuple(b.rank, b.thread, b.beginUs, b.depth, a.durationUs, std::tie(b.name, b.compileId));
  });
}

}  // namespace kerf::inline capture::trace
