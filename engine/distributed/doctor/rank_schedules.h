// The collectives that each rank's graphs issue, and which of them meet.
#pragma once

#include <map>
#include <tuple>

#include "engine/distributed/doctor/ranks_doctor.h"

namespace kerf::inline distributed::inline doctor {

/// The graphs of one rank by compile id, stage and number among those of the same.
using GraphKey = std::tuple<std::string, std::string, int>;

struct ScheduledCollective {
  ScheduledPlace place;
  std::string op, what;
  std::string group = {};  ///< the name that the graph has for it
  std::string text() const { return what.empty() ? op : op + " of " + what; }
};

struct RankLog {
  int rank = 0;
  std::vector<GraphKey> order;
  std::map<GraphKey, const GraphModule*> graphs;
  std::vector<ScheduledCollective> schedule;
  bool isTorn = false;  ///< what would follow is not known
};

/// Calls that other ranks must join in; waiting is none.
bool isCollective(const Node& node);
/// The name of a collective's process group: its last text. "0" is everyone.
std::string groupOf(const Node& node);

/// A collective by its group and its number among those of the group.
struct MeetingPoint {
  std::string group;
  std::size_t number = 0;
  std::size_t earliest = 0;  ///< place in a rank's schedule
};

/// All of them, in the order in which ranks come to them.
std::vector<MeetingPoint> meetingPoints(const std::vector<RankLog>& logs);
/// What the members of each point's group issue there. "0" is everyone; other groups have the ranks that name them.
std::vector<TimelineRow> timelineOf(const std::vector<RankLog>& logs, const std::vector<MeetingPoint>& points);
/// Of the first row that differs.
std::optional<Culprit> culpritOf(const std::vector<RankLog>& logs, const std::vector<MeetingPoint>& points,
                                 const std::vector<TimelineRow>& timeline);

}  // namespace kerf::inline distributed::inline doctor
