#include "engine/distributed/doctor/rank_schedules.h"

#include <algorithm>

namespace kerf::inline distributed::inline doctor {
namespace {

/// Where in the schedule the rank has the group's collective of that number; its end where it has none.
std::size_t placeOf(const RankLog& log, const MeetingPoint& point) {
  std::size_t seen = 0;
  for (std::size_t i = 0; i < log.schedule.size(); ++i)
    if (log.schedule[i].group == point.group && seen++ == point.number) return i;
  return log.schedule.size();
}

/// "0" is everyone; other groups have the ranks that name them.
bool isMember(const RankLog& log, const std::string& group) {
  return group == "0" || std::ranges::find(log.schedule, group, &ScheduledCollective::group) != log.schedule.end();
}

}  // namespace

bool isCollective(const Node& node) {
  const std::string& target = node.target();
  return node.op() == Opcode::CallFunction && target.find("c10d") != std::string::npos &&
         target.find("wait_tensor") == std::string::npos && target.find("_wrap_tensor") == std::string::npos;
}

std::string groupOf(const Node& node) {
  std::string name;
  for (const Argument& argument : node.args())
    if (const auto* text = argument.as<std::string>()) name = *text;
  for (const auto& [keyword, argument] : node.kwargs())
    if (const auto* text = argument.as<std::string>(); text != nullptr && keyword == "group_name") name = *text;
  return name.empty() ? "0" : name;
}

std::vector<MeetingPoint> meetingPoints(const std::vector<RankLog>& logs) {
  std::map<std::pair<std::string, std::size_t>, std::size_t> earliest;
  for (const RankLog& log : logs) {
    std::map<std::string, std::size_t> numbers;
    for (std::size_t i = 0; i < log.schedule.size(); ++i) {
      const std::string& group = log.schedule[i].group;
      const auto found = earliest.try_emplace({group, numbers[group]++}, i).first;
      found->second = std::min(found->second, i);
    }
  }
  std::vector<MeetingPoint> points;
  for (const auto& [key, place] : earliest) points.push_back({key.first, key.second, place});
  std::ranges::stable_sort(points, {}, &MeetingPoint::earliest);
  return points;
}

std::vector<TimelineRow> timelineOf(const std::vector<RankLog>& logs, const std::vector<MeetingPoint>& points) {
  std::vector<TimelineRow> rows;
  for (const MeetingPoint& point : points) {
    std::vector<RankItem> items;
    TimelineRow row{int(rows.size()), {}, {}};
    for (const RankLog& log : logs) {
      if (!isMember(log, point.group)) continue;
      const std::size_t i = placeOf(log, point);
      if (i >= log.schedule.size() && log.isTorn) continue;
      if (i >= log.schedule.size()) {
        items.push_back({log.rank, "nothing"});
        continue;
      }
      const ScheduledCollective& own = log.schedule[i];
      if (row.compileId.empty()) row.compileId = own.place.compileId;
      items.push_back({log.rank, own.text(), own.place});
    }
    row.groups = groupedByText(items);  // never empty: the point is in a rank's schedule
    rows.push_back(std::move(row));
  }
  return rows;
}

std::optional<Culprit> culpritOf(const std::vector<RankLog>& logs, const std::vector<MeetingPoint>& points,
                                 const std::vector<TimelineRow>& timeline) {
  const auto row = std::ranges::find_if(timeline, &TimelineRow::differs);
  if (row == timeline.end()) return std::nullopt;
  Culprit culprit = culpritOfRow(*row);
  culprit.row = std::size_t(row - timeline.begin());
  const MeetingPoint& point = points[culprit.row];
  culprit.group = fmt::format("group '{}'", point.group);
  std::vector<RankItem> before;
  for (const RankLog& log : logs) {
    if (!isMember(log, point.group)) continue;
    const std::size_t done = placeOf(log, point);
    before.push_back({log.rank, done == 0 ? "no collective" : log.schedule[done - 1].text()});
  }
  culprit.lastDone = groupedByText(before);
  return culprit;
}

}  // namespace kerf::inline distributed::inline doctor
