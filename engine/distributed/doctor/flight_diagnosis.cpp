// Flight records of several ranks beside each other: which collectives and messages meet.
#include <algorithm>
#include <limits>
#include <set>

#include "engine/distributed/doctor/flight_recorder.h"

namespace kerf::inline distributed::inline doctor {
namespace {

constexpr std::string_view completed = "completed", coalesced = "coalesced", nothing = "nothing";

bool sizesMayDiffer(const std::string& op) {
  return op.find("all_to_all") != std::string::npos || op.find("alltoall") != std::string::npos || op == "gather" ||
         op == "scatter";
}

/// What a rank has of one collective or message: calls of one number, and how far they are.
struct FlightCalls {
  std::string text;   ///< what other ranks must have too
  std::string state;  ///< of the first call that has not ended; empty: all have
  std::int64_t order = std::numeric_limits<std::int64_t>::max();

  void add(const FlightEntry& entry, const std::string& what) {
    text += (text.empty() ? "" : "; ") + what;
    if (state.empty() && entry.state != completed) state = entry.state;
    order = std::min(order, entry.order);
  }
  std::string shown() const { return state.empty() ? text : fmt::format("{} ({})", text, state); }
};

/// By group or pair, then by number.
using FlightTable = std::map<std::string, std::map<std::int64_t, FlightCalls>>;

struct RankFlights {
  FlightTable collectives, messages;
  bool isRolled = false;  ///< the ring has forgotten its first records
};

std::string textOf(const FlightEntry& entry) {
  return sizesMayDiffer(entry.op) || entry.operands.empty() ? entry.op : entry.op + " of " + entry.operands;
}

/// A group's ranks in the world; as they are counted in the group where nobody says.
int worldRank(const std::map<std::string, std::vector<int>>& groups, const std::string& group, int rank) {
  const auto known = groups.find(group);
  if (known == groups.end() || rank < 0 || std::size_t(rank) >= known->second.size()) return rank;
  return known->second[std::size_t(rank)];
}

/// The end of a coalesced call is a record too: what it ends is known, or was a batch of messages.
std::vector<const FlightEntry*> withoutMarkers(const FlightLog& log) {
  std::map<std::string, const FlightEntry*> last;
  std::set<std::pair<std::string, std::int64_t>> calls;
  for (const FlightEntry& entry : log.entries)
    if (!entry.isMessage && entry.op != coalesced) calls.emplace(entry.group, entry.number);
  std::vector<const FlightEntry*> kept;
  for (const FlightEntry& entry : log.entries) {
    const FlightEntry*& before = last[entry.group];
    const bool endsMessages = before != nullptr && before->isMessage;
    const bool isMarker = entry.op == coalesced && (endsMessages || calls.contains({entry.group, entry.number}));
    if (!isMarker) kept.push_back(&entry);
    before = &entry;
  }
  return kept;
}

RankFlights flightsOf(const FlightLog& log, const std::map<std::string, std::vector<int>>& groups) {
  RankFlights flights;
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  std::map<std::string, std::int64_t> counts;
  for (const FlightEntry* const entry : withoutMarkers(log)) {
    first = std::min(first, entry->order);
    if (!entry->isMessage) {
      flights.collectives[entry->group][entry->number].add(*entry, textOf(*entry));
    } else if (entry->route) {
      const int from = worldRank(groups, entry->group, entry->route->first),
                to = worldRank(groups, entry->group, entry->route->second);
      const std::string pair = fmt::format("{} -> {} in group {}", from, to, entry->group);
      const std::string what = entry->operands.empty() ? "message" : "message of " + entry->operands;
      // A message to oneself is sent and received by one rank.
      const bool isOwn = from == to && entry->op.starts_with("recv");
      if (!isOwn) flights.messages[pair][counts[pair]++].add(*entry, what);
    }
  }
  flights.isRolled = !log.entries.empty() && first > 0;  // records are numbered from 0
  return flights;
}

struct DiagnosedRow {
  std::int64_t order = std::numeric_limits<std::int64_t>::max();
  TimelineRow row;
  std::string name;  ///< of the group or pair, as the ranks' tables have it
  std::int64_t number = 0;
  FlightTable RankFlights::* table = nullptr;
  bool meets = true, hasEnded = true;
};

/// Ranks by what they have; how far they are makes a difference only where nothing else does.
std::vector<RankGroup> flightGroups(const std::vector<std::pair<int, const FlightCalls*>>& items, bool differs) {
  std::map<std::string, std::set<std::string>> states;
  for (const auto& [rank, calls] : items)
    if (calls != nullptr) states[calls->text].insert(calls->state.empty() ? std::string(completed) : calls->state);
  std::vector<std::pair<int, std::string>> texts;
  for (const auto& [rank, calls] : items) {
    std::string text = calls == nullptr ? std::string(nothing) : differs ? calls->text : calls->shown();
    if (calls != nullptr && differs && states[calls->text] != std::set{std::string(completed)})
      text += fmt::format(" ({})", fmt::join(states[calls->text], ", "));
    texts.emplace_back(rank, std::move(text));
  }
  return groupedByText(texts);
}

/// Ranks beside each other: one whose ring has forgotten it, or that has no record at all, says nothing.
DiagnosedRow rowOf(std::string name, std::int64_t number, const std::vector<int>& members,
                   const std::map<int, RankFlights>& flights, FlightTable RankFlights::* table) {
  DiagnosedRow result;
  const auto shown = std::clamp<std::int64_t>(number, std::numeric_limits<int>::min(), std::numeric_limits<int>::max());
  result.row = {int(shown), name, {}};
  result.name = std::move(name);
  result.number = number;
  result.table = table;
  std::vector<std::pair<int, const FlightCalls*>> items;
  std::set<std::string> texts, states;
  for (const int rank : members) {
    const RankFlights& own = flights.at(rank);
    const auto rows = (own.*table).find(result.row.compileId);
    const bool isKnown = rows != (own.*table).end();
    if (own.isRolled && (!isKnown || number < rows->second.begin()->first)) continue;
    const auto calls = isKnown ? rows->second.find(number) : decltype(rows->second.find(number)){};
    const bool isThere = isKnown && calls != rows->second.end();
    items.emplace_back(rank, isThere ? &calls->second : nullptr);
    texts.insert(isThere ? calls->second.text : std::string(nothing));
    if (!isThere) continue;
    result.order = std::min(result.order, calls->second.order);
    states.insert(calls->second.state);
  }
  result.row.groups = flightGroups(items, texts.size() > 1);
  // What has ended on one rank has met, however far the others were when they wrote their records.
  result.hasEnded = states.empty() || states.contains("");
  result.meets = texts.size() <= 1 && (result.hasEnded || states.size() <= 1);
  return result;
}

std::vector<int> membersOf(const std::string& group, const std::vector<FlightLog>& logs,
                           const std::map<int, RankFlights>& flights,
                           const std::map<std::string, std::vector<int>>& groups) {
  std::set<int> members;
  if (const auto known = groups.find(group); known != groups.end())
    members.insert(known->second.begin(), known->second.end());
  for (const FlightLog& log : logs)
    if (flights.at(log.rank).collectives.contains(group)) members.insert(log.rank);
  std::vector<int> present;
  for (const FlightLog& log : logs)
    if (members.contains(log.rank)) present.push_back(log.rank);
  return present;
}

/// Sender and receiver, where there are records of both; a ring that has rolled cannot be counted along.
std::vector<int> endsOf(const std::string& pair, const std::map<int, RankFlights>& flights) {
  int from = -1, to = -1;
  if (std::sscanf(pair.c_str(), "%9d -> %9d", &from, &to) != 2 || from == to) return {};
  for (const int rank : {from, to}) {
    const auto found = flights.find(rank);
    if (found == flights.end() || found->second.isRolled) return {};
  }
  return {from, to};
}

using NumbersByName = std::map<std::string, std::set<std::int64_t>>;

NumbersByName numbersOf(const std::map<int, RankFlights>& flights, FlightTable RankFlights::* table) {
  NumbersByName numbers;
  for (const auto& [rank, own] : flights)
    for (const auto& [name, rows] : own.*table)
      for (const auto& [number, calls] : rows) numbers[name].insert(number);
  return numbers;
}

std::vector<DiagnosedRow> rowsOf(const std::vector<FlightLog>& logs, const std::map<int, RankFlights>& flights,
                                 const std::map<std::string, std::vector<int>>& groups) {
  std::vector<DiagnosedRow> rows;
  for (const auto& [group, numbers] : numbersOf(flights, &RankFlights::collectives)) {
    const std::vector<int> members = membersOf(group, logs, flights, groups);
    for (const std::int64_t number : numbers)
      rows.push_back(rowOf(group, number, members, flights, &RankFlights::collectives));
  }
  for (const auto& [pair, numbers] : numbersOf(flights, &RankFlights::messages))
    if (const std::vector<int> ends = endsOf(pair, flights); !ends.empty())
      for (const std::int64_t number : numbers)
        rows.push_back(rowOf(pair, number, ends, flights, &RankFlights::messages));
  std::erase_if(rows, [](const DiagnosedRow& row) { return row.row.groups.empty(); });
  std::ranges::stable_sort(rows, {}, &DiagnosedRow::order);
  return rows;
}

/// What a rank did last before its record of that order.
std::string lastBefore(const RankFlights& own, std::int64_t order) {
  std::string text = "no collective";
  std::int64_t latest = std::numeric_limits<std::int64_t>::min();
  for (const auto& [table, title] : {std::pair(&own.collectives, "group "), {&own.messages, ""}})
    for (const auto& [name, rows] : *table)
      for (const auto& [number, calls] : rows) {
        if (calls.order >= order || calls.order <= latest) continue;
        latest = calls.order;
        text = fmt::format("{} (number {} of {}{})", calls.shown(), number, title, name);
      }
  return text;
}

/// What each rank of the row did before it.
std::vector<RankGroup> doneBefore(const DiagnosedRow& end, const std::map<int, RankFlights>& flights) {
  std::vector<std::pair<int, std::string>> last;
  for (const RankGroup& group : end.row.groups)
    for (const int rank : group.ranks) {
      const RankFlights& own = flights.at(rank);
      const auto rows = (own.*end.table).find(end.name);
      std::int64_t order = std::numeric_limits<std::int64_t>::max();
      if (rows != (own.*end.table).end())
        if (const auto calls = rows->second.find(end.number); calls != rows->second.end()) order = calls->second.order;
      last.emplace_back(rank, lastBefore(own, order));
    }
  std::ranges::sort(last);
  return groupedByText(last);
}

}  // namespace

Result<RanksDiagnosis> diagnoseFlights(const std::vector<FlightLog>& logs) {
  RanksDiagnosis diagnosis;
  std::map<std::string, std::vector<int>> groups;
  for (const FlightLog& log : logs) groups.insert(log.groups.begin(), log.groups.end());
  std::map<int, RankFlights> flights;
  for (const FlightLog& log : logs) {
    diagnosis.ranks.push_back(log.rank);
    if (!flights.emplace(log.rank, flightsOf(log, groups)).second)
      return fail(ErrorCode::BadInput, "two flight records are of rank {}: {} is one of them", log.rank, log.file);
  }
  std::vector<DiagnosedRow> rows = rowsOf(logs, flights, groups);
  for (DiagnosedRow& one : rows) {
    const bool isMessage = one.row.compileId.find(" -> ") != std::string::npos;
    if (!isMessage) one.row.compileId = "group " + one.row.compileId;
    diagnosis.timeline.push_back(one.row);
  }
  const auto wrong = std::ranges::find(rows, false, &DiagnosedRow::meets);
  const auto going = std::ranges::find(rows, false, &DiagnosedRow::hasEnded);
  if (wrong != rows.end()) {
    diagnosis.culprit = culpritOfRow(wrong->row);
    diagnosis.culprit->lastDone = doneBefore(*wrong, flights);
  } else if (going != rows.end()) {
    const RankGroup& all = going->row.groups[0];
    diagnosis.culprit = Culprit{all.ranks, going->row.number, all.what, "a call that does not end", all.ranks, {}};
    diagnosis.culprit->lastDone = doneBefore(*going, flights);
  }
  return diagnosis;
}

}  // namespace kerf::inline distributed::inline doctor
