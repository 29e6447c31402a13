// Traces of several ranks beside each other, without running anything: whose graphs differ and at which node first, the
// collectives of all ranks in one timeline, and who would wait for whom.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "engine/capture/common/capture.h"

namespace kerf::inline distributed::inline doctor {

/// A node of a rank's graphs.
struct ScheduledPlace {
  std::string compileId, stage;
  int graph = 0;          ///< number among the rank's graphs of that id and stage
  std::string node = {};  ///< empty: the graph as a whole

  bool operator==(const ScheduledPlace&) const = default;
};

/// Ranks that have something at the same place of their graphs.
struct RankPlace {
  std::vector<int> ranks;
  ScheduledPlace place;
};

/// Ranks that have the same, and what that is.
struct RankGroup {
  std::vector<int> ranks;
  std::string what;
  std::vector<RankPlace> places = {};  ///< each rank once; none of a rank that has it in no graph
};

/// What one rank has.
struct RankItem {
  int rank = 0;
  std::string what;
  std::optional<ScheduledPlace> place = {};  ///< none: in no graph
};

/// A graph that is not the same on all ranks.
struct DifferingGraph {
  std::string compileId, stage;
  int index = -1;                 ///< of the first node that differs; -1: some ranks have no such graph
  std::vector<RankGroup> groups;  ///< the most common first
};

/// One collective of the timeline.
struct TimelineRow {
  std::int64_t number = 0;        ///< sequence number within its compilation's order
  std::string compileId;          ///< of the first rank that issues it; each rank's own is in its place
  std::vector<RankGroup> groups;  ///< one where all ranks issue the same; "nothing" where a schedule has ended
  bool differs() const { return groups.size() > 1; }
};

/// The first collective that does not meet.
struct Culprit {
  std::vector<int> ranks;  ///< those that do not do as most
  std::int64_t number = 0;
  std::string collective;           ///< what the others issue
  std::string mismatch;             ///< "float32 [5, 4]" beside "float32 [6, 4]"; what is issued instead; or nothing
  std::vector<int> waiting;         ///< ranks that wait for them
  std::vector<RankGroup> lastDone;  ///< what each rank did before
  bool isUnfinished = false;        ///< all issue it and nobody deviates, but it ends nowhere: `ranks` are all of them
  std::size_t row = 0;              ///< of the timeline
  std::string group = {};           ///< "group '0'", as the first rank names it; of messages "0 -> 1 in group 0"
};

/// A rank whose log ends in the middle: what it did then is not known, and nothing is said of it.
struct TornLog {
  int rank = 0;
  std::string file;
  int line = 0;           ///< where its last record begins; 0: the log is whole, and ends within a compilation
  std::string compileId;  ///< of that compilation
};

struct RanksDiagnosis {
  std::vector<int> ranks;
  std::vector<TornLog> torn;
  std::vector<int> absent;  ///< ranks that others name or that are missing between them: nothing is known of those
  std::int64_t comparedGraphs = 0;  ///< how many graphs the ranks have together; 0: records alone
  std::vector<DifferingGraph> graphs;
  std::vector<TimelineRow> timeline;
  /// Records of messages whose other end is in no record, or in a ring that has rolled.
  std::int64_t uncomparedMessages = 0;
  std::optional<Culprit> culprit;  ///< where all meet: the first that all have issued and that has ended nowhere
};

/// The same things together, the most common first, then by rank.
std::vector<RankGroup> groupedByText(const std::vector<RankItem>& items);
/// Who does not do as most in a row that differs, and who waits; without what was done before.
Culprit culpritOfRow(const TimelineRow& row);

/// Of a folder (or log) with traces, or with flight records, of at least two ranks. BadInput where there are fewer, and
/// where two files are of one rank.
Result<RanksDiagnosis> diagnoseRanks(const std::filesystem::path& path);

}  // namespace kerf::inline distributed::inline doctor
