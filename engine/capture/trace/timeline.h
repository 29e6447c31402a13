// Chromium events of a log to complete timeline events: begin and end are paired per thread and name.
#pragma once

#include <map>
#include <optional>
#include <utility>

#include "engine/capture/common/details.h"

namespace kerf::inline capture::trace {

/// Takes the events of one log in file order.
class TimelineReader {
 public:
  /// Reads one chromium_event payload (an object or a list of them). False if it is malformed, or beyond a million
  /// events.
  bool add(std::string_view json, const std::string& compileId, int rank, std::vector<TimelineEvent>& timeline);
  /// Ends what is still open at the last time seen; how many there were.
  std::size_t closeOpen(std::vector<TimelineEvent>& timeline);

 private:
  using Thread = std::pair<std::int64_t, std::int64_t>;  ///< process and thread number
  struct Open {
    TimelineEvent event;
    std::optional<std::int64_t> limit;  ///< when what it was begun in ended: it ends there if nothing ends it later
  };
  struct Fields {
    std::string phase;
    double time = 0, duration = 0;  ///< microseconds
    Thread thread;
    TimelineEvent event;
  };
  bool addObject(std::string_view object, const TimelineEvent& origin, std::vector<TimelineEvent>& timeline);
  std::optional<Fields> read(std::string_view object, const TimelineEvent& origin);
  void end(const Fields& fields, std::vector<TimelineEvent>& timeline);
  static void flushLimited(std::vector<Open>& open, std::vector<TimelineEvent>& timeline);

  std::optional<double> m_origin;
  double m_last = 0;
  std::map<Thread, std::vector<Open>> m_open;
};

/// Order for reading: by rank and thread, then begin, outer before inner.
void sortTimeline(std::vector<TimelineEvent>& timeline);

}  // namespace kerf::inline capture::trace
