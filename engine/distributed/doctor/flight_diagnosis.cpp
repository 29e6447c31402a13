// Flight records of several ranks beside each other: which collectives and messages meet.
#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "engine/distributed/doctor/flight_recorder.h"

namespace kerf::inline distributed::inline doctor {
namespace {

constexpr std::string_view completed = "completed", scheduled = "scheduled", coalesced = "coalesced",
                           nothing = "nothing";

bool sizesMayDiffer(const std::string& op) {
  return op.find("all_to_all") != std::string::npos || op.find("alltoall") != std::string::npos || op == "gather" ||
         op == "scatter";
}

/// What a rank has of one collective or message: calls of one number, and how far they are.
struct FlightCalls {
  std::string text;   ///< what other ranks must have too
  std::string state;  ///< of the first call that has not ended; empty: all have
  std::int64_t order = std::numeric_limits<std::int64_t>::max();
  bool isCoalesced = false;  ///< may be several calls, of which a ring may have forgotten the first

  void add(const FlightEntry& entry, std::string_view entryState, const std::string& what) {
    isCoalesced = isCoalesced || !text.empty();
    text += (text.empty() ? "" : "; ") + what;
    if (state.empty() && entryState != completed) state = entryState;
    order = std::min(order, entry.order);
  }
  std::string shown() const { return state.empty() ? text : fmt::format("{} ({})", text, state); }
};

/// By group or pair, then by number.
using FlightTable = std::map<std::string, std::map<std::int64_t, FlightCalls>>;

struct RankFlights {
  FlightTable collectives, messages;
  bool isRolled = false;  ///< the ring has forgotten its first records

  /// Whether the ring may have forgotten (a part of) this number of a group of which it knows these.
  bool hasForgotten(const std::map<std::int64_t, FlightCalls>* rows, std::int64_t number) const {
    if (!isRolled) return false;
    if (rows == nullptr || number < rows->begin()->first) return true;
    return number == rows->begin()->first && rows->begin()->second.isCoalesced;
  }
};

/// Members of groups in the world, as the records have them.
using FlightMembers = std::map<std::string_view, const std::vector<int>*>;

/// A call, and how far it is.
struct IssuedCall {
  const FlightEntry* entry;
  std::string_view state;
  bool isCoalesced = false;
};

std::string textOf(const FlightEntry& entry) {
  return sizesMayDiffer(entry.op) || entry.operands.empty() ? entry.op : entry.op + " of " + entry.operands;
}

/// A group's ranks in the world; as they are counted in the group where nobody says.
int worldRank(const FlightMembers& groups, const std::string& group, int rank) {
  const auto known = groups.find(group);
  if (known == groups.end() || rank < 0 || std::size_t(rank) >= known->second->size()) return rank;
  return (*known->second)[std::size_t(rank)];
}

bool isRolledRing(const FlightLog& log) {
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  for (const FlightEntry& entry : log.entries) first = std::min(first, entry.order);
  return !log.entries.empty() && first > 0;  // records are numbered from 0
}

/// The calls of a rank. PyTorch records those of a coalesced call or batch of messages without events, so that they stay
/// "scheduled"; the record of its end, "coalesced", alone says how far it is, and goes on to what it ends.
class IssuedCalls {
 public:
  explicit IssuedCalls(const FlightLog& log) : m_isRolled(isRolledRing(log)) {
    for (const FlightEntry& entry : log.entries) add(entry);
  }
  const std::vector<IssuedCall>& calls() const { return m_calls; }

 private:
  struct OfGroup {
    std::vector<std::size_t> messages;  ///< since the last record that is none
    std::map<std::int64_t, std::vector<std::size_t>> collectives;
    bool isSeen = false;
  };

  void add(const FlightEntry& entry) {
    OfGroup& group = m_groups[entry.group];
    const bool isFirst = !std::exchange(group.isSeen, true);
    const bool isEnd = entry.op == coalesced;
    if (isEnd && endsCalls(entry, group, isFirst)) return group.messages.clear();
    if (!isEnd && entry.isMessage)
      group.messages.push_back(m_calls.size());
    else
      group.messages.clear();
    if (!isEnd && !entry.isMessage) group.collectives[entry.number].push_back(m_calls.size());
    m_calls.push_back({&entry, entry.state});
  }

  /// Whether this record is the end of calls before it, or of calls that the ring has forgotten.
  bool endsCalls(const FlightEntry& end, OfGroup& group, bool isFirst) {
    if (!group.messages.empty()) return give(end, group.messages), true;
    const auto found = group.collectives.find(end.number);
    if (found == group.collectives.end() || end.isMessage) return end.isMessage || (isFirst && m_isRolled);
    return give(end, found->second), true;
  }

  void give(const FlightEntry& end, const std::vector<std::size_t>& calls) {
    for (const std::size_t at : calls) {
      m_calls[at].isCoalesced = true;
      if (m_calls[at].state == scheduled) m_calls[at].state = end.state;
    }
  }

  const bool m_isRolled;
  std::vector<IssuedCall> m_calls;
  std::map<std::string_view, OfGroup> m_groups;
};

RankFlights flightsOf(const FlightLog& log, const FlightMembers& groups) {
  RankFlights flights;
  std::map<std::string, std::int64_t> counts;
  const IssuedCalls issued(log);
  for (const auto& [entry, state, isCoalesced] : issued.calls()) {
    if (!entry->isMessage) {
      FlightCalls& calls = flights.collectives[entry->group][entry->number];
      calls.add(*entry, state, textOf(*entry));
      calls.isCoalesced = calls.isCoalesced || isCoalesced;
    } else if (entry->route) {
      const int from = worldRank(groups, entry->group, entry->route->first),
                to = worldRank(groups, entry->group, entry->route->second);
      const std::string pair = fmt::format("{} -> {} in group {}", from, to, entry->group);
      const std::string what = entry->operands.empty() ? "message" : "message of " + entry->operands;
      // A message to oneself is sent and received by one rank.
      const bool isOwn = from == to && entry->op.starts_with("recv");
      if (!isOwn) flights.messages[pair][counts[pair]++].add(*entry, state, what);
    }
  }
  flights.isRolled = isRolledRing(log);
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

/// Ranks by what they have, and by how far they are where `byText` is false.
std::vector<RankGroup> flightGroups(const std::vector<std::pair<int, const FlightCalls*>>& items, bool byText) {
  std::map<std::string, std::set<std::string>> states;
  for (const auto& [rank, calls] : items)
    if (calls != nullptr) states[calls->text].insert(calls->state.empty() ? std::string(completed) : calls->state);
  std::vector<RankItem> texts;
  for (const auto& [rank, calls] : items) {
    std::string text = calls == nullptr ? std::string(nothing) : byText ? calls->text : calls->shown();
    if (calls != nullptr && byText && states[calls->text] != std::set{std::string(completed)})
      text += fmt::format(" ({})", fmt::join(states[calls->text], ", "));
    texts.push_back({rank, std::move(text)});
  }
  return groupedByText(texts);
}

/// Ranks beside each other: one whose ring has forgotten it, or that has no record at all, says nothing.
DiagnosedRow rowOf(std::string name, std::int64_t number, const std::vector<int>& members,
                   const std::map<int, RankFlights>& flights, FlightTable RankFlights::* table) {
  DiagnosedRow result;
  result.row = {number, name, {}};
  result.name = std::move(name);
  result.number = number;
  result.table = table;
  std::vector<std::pair<int, const FlightCalls*>> items;
  std::set<std::string> texts, states;
  for (const int rank : members) {
    const RankFlights& own = flights.at(rank);
    const auto rows = (own.*table).find(result.row.compileId);
    const bool isKnown = rows != (own.*table).end();
    if (own.hasForgotten(isKnown ? &rows->second : nullptr, number)) continue;
    const auto calls = isKnown ? rows->second.find(number) : decltype(rows->second.find(number)){};
    const bool isThere = isKnown && calls != rows->second.end();
    items.emplace_back(rank, isThere ? &calls->second : nullptr);
    texts.insert(isThere ? calls->second.text : std::string(nothing));
    if (!isThere) continue;
    result.order = std::min(result.order, calls->second.order);
    states.insert(calls->second.state);
  }
  // What has ended on one rank has met, however far the others were when they wrote their records.
  result.hasEnded = states.empty() || states.contains("");
  result.meets = texts.size() <= 1 && (result.hasEnded || states.size() <= 1);
  result.row.groups = flightGroups(items, result.meets || texts.size() > 1);
  return result;
}

std::vector<int> membersOf(const std::string& group, const std::vector<FlightLog>& logs,
                           const std::map<int, RankFlights>& flights, const FlightMembers& groups) {
  std::set<int> members;
  if (const auto known = groups.find(group); known != groups.end())
    members.insert(known->second->begin(), known->second->end());
  for (const FlightLog& log : logs)
    if (flights.at(log.rank).collectives.contains(group)) members.insert(log.rank);
  std::vector<int> present;
  for (const FlightLog& log : logs)
    if (members.contains(log.rank)) present.push_back(log.rank);
  return present;
}

/// "0 -> 1 in group 0": from 0 to 1. A message to oneself, and what is no such name, has none.
std::optional<std::pair<int, int>> twoRanksOf(const std::string& pair) {
  int from = -1, to = -1;
  if (std::sscanf(pair.c_str(), "%9d -> %9d", &from, &to) != 2 || from == to) return std::nullopt;
  return std::pair(from, to);
}

/// Sender and receiver, where there are records of both; a ring that has rolled cannot be counted along.
std::vector<int> endsOf(const std::string& pair, const std::map<int, RankFlights>& flights) {
  const auto ranks = twoRanksOf(pair);
  if (!ranks) return {};
  for (const int rank : {ranks->first, ranks->second}) {
    const auto found = flights.find(rank);
    if (found == flights.end() || found->second.isRolled) return {};
  }
  return {ranks->first, ranks->second};
}

/// Messages of a pair have no number that both of its ranks know: they are counted, which a rolled ring forbids.
std::int64_t uncomparedMessages(const std::map<int, RankFlights>& flights) {
  std::int64_t count = 0;
  for (const auto& [rank, own] : flights)
    for (const auto& [pair, rows] : own.messages)
      if (twoRanksOf(pair) && endsOf(pair, flights).empty()) count += std::int64_t(rows.size());
  return count;
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
                                 const FlightMembers& groups) {
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
  std::vector<RankItem> last;
  for (const RankGroup& group : end.row.groups)
    for (const int rank : group.ranks) {
      const RankFlights& own = flights.at(rank);
      const auto rows = (own.*end.table).find(end.name);
      std::int64_t order = std::numeric_limits<std::int64_t>::max();
      if (rows != (own.*end.table).end())
        if (const auto calls = rows->second.find(end.number); calls != rows->second.end()) order = calls->second.order;
      last.push_back({rank, lastBefore(own, order)});
    }
  std::ranges::sort(last, {}, &RankItem::rank);
  return groupedByText(last);
}

}  // namespace

Result<RanksDiagnosis> diagnoseFlights(const std::vector<FlightLog>& logs) {
  RanksDiagnosis diagnosis;
  FlightMembers groups;
  for (const FlightLog& log : logs)
    for (const auto& [name, members] : log.groups) groups.emplace(name, &members);
  std::map<int, RankFlights> flights;
  for (const FlightLog& log : logs) {
    diagnosis.ranks.push_back(log.rank);
    if (!flights.emplace(log.rank, flightsOf(log, groups)).second)
      return fail(ErrorCode::BadInput, "two flight records are of rank {}: {} is one of them", log.rank, log.file);
  }
  std::vector<DiagnosedRow> rows = rowsOf(logs, flights, groups);
  diagnosis.uncomparedMessages = uncomparedMessages(flights);
  for (DiagnosedRow& one : rows) {
    const bool isMessage = one.row.compileId.find(" -> ") != std::string::npos;
    if (!isMessage) one.row.compileId = "group " + one.row.compileId;
    diagnosis.timeline.push_back(one.row);
  }
  const auto wrong = std::ranges::find(rows, false, &DiagnosedRow::meets);
  const auto going = std::ranges::find(rows, false, &DiagnosedRow::hasEnded);
  if (wrong != rows.end()) {
    diagnosis.culprit = culpritOfRow(wrong->row);
    diagnosis.culprit->row = std::size_t(wrong - rows.begin());
    diagnosis.culprit->group = wrong->row.compileId;
    diagnosis.culprit->lastDone = doneBefore(*wrong, flights);
  } else if (going != rows.end()) {
    const RankGroup& all = going->row.groups[0];
    diagnosis.culprit =
        Culprit{all.ranks, going->row.number, all.what, "a call that does not end", all.ranks, {}, true};
    diagnosis.culprit->row = std::size_t(going - rows.begin());
    diagnosis.culprit->group = going->row.compileId;
    diagnosis.culprit->lastDone = doneBefore(*going, flights);
  }
  return diagnosis;
}

}  // namespace kerf::inline distributed::inline doctor
