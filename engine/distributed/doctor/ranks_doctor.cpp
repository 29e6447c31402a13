#include "engine/distributed/doctor/ranks_doctor.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "engine/capture/common/details.h"
#include "engine/distributed/doctor/flight_recorder.h"
#include "engine/distributed/doctor/rank_schedules.h"
#include "engine/ir/printer.h"

namespace kerf::inline distributed::inline doctor {

namespace {

using PlaceKey = std::tuple<std::string, std::string, int, std::string>;

PlaceKey keyOf(const ScheduledPlace& place) { return {place.compileId, place.stage, place.graph, place.node}; }

/// Where a group's places are, by what they are: of thousands of ranks each may have its own.
using PlaceIndex = std::map<PlaceKey, std::size_t>;

void addPlace(std::vector<RankPlace>& places, PlaceIndex& index, int rank, const ScheduledPlace& place) {
  const auto [found, fresh] = index.emplace(keyOf(place), places.size());
  if (fresh)
    places.push_back({{rank}, place});
  else
    places[found->second].ranks.push_back(rank);
}

}  // namespace

std::vector<RankGroup> groupedByText(const std::vector<RankItem>& items) {
  std::vector<RankGroup> groups;
  std::vector<PlaceIndex> places;
  std::unordered_map<std::string_view, std::size_t> byText;
  for (const RankItem& item : items) {
    const auto [found, fresh] = byText.emplace(item.what, groups.size());
    if (fresh) {
      groups.push_back({{}, item.what});
      places.emplace_back();
    }
    RankGroup& group = groups[found->second];
    group.ranks.push_back(item.rank);
    if (item.place) addPlace(group.places, places[found->second], item.rank, *item.place);
  }
  std::ranges::stable_sort(groups,
                           [](const RankGroup& a, const RankGroup& b) { return a.ranks.size() > b.ranks.size(); });
  return groups;
}

Culprit culpritOfRow(const TimelineRow& row) {
  Culprit culprit{.number = row.number};
  // What most ranks do is right, unless most have ended.
  const RankGroup* usual = &row.groups[0];
  if (usual->what == "nothing") usual = &row.groups[1];
  culprit.collective = usual->what;
  culprit.waiting = usual->ranks;
  for (const RankGroup& group : row.groups) {
    if (&group == usual) continue;
    culprit.ranks.insert(culprit.ranks.end(), group.ranks.begin(), group.ranks.end());
    culprit.mismatch += (culprit.mismatch.empty() ? "" : "; ") + group.what;
  }
  return culprit;
}

namespace {

/// Later stages first: a compilation's collectives are those of the last graph that is there.
constexpr std::string_view stagesByAge[] = {"inductor_post_grad_graph", "after_post_grad_graph", "aot_inference_graph",
                                            "aot_forward_graph",        "aot_backward_graph",    "aot_joint_graph",
                                            "dynamo_output_graph"};

std::size_t ageOf(const std::string& stage) {
  const auto* found = std::ranges::find(stagesByAge, stage);
  return std::size_t(found - std::begin(stagesByAge));
}

/// "all_reduce" of "torch.ops._c10d_functional.all_reduce.default".
std::string shortName(const std::string& target) {
  const std::size_t space = target.find("c10d");
  const std::size_t start = target.find('.', space) + 1;
  return target.substr(start, target.find('.', start) - start);
}

ScheduledPlace placeIn(const GraphKey& key, std::string node = {}) {
  const auto& [compileId, stage, number] = key;
  return {compileId, stage, number, std::move(node)};
}

/// Dtype and sizes of what a collective takes, and its other arguments.
std::string operandsOf(const Graph& graph, const Node& node) {
  std::string text;
  for (const Argument& argument : node.args()) {
    const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
    if (const auto* id = argument.as<NodeId>()) {
      const std::string meta = printAnnotation(graph.node(*id).meta(), false, false);
      add(meta.empty() ? "a tensor" : meta);
    } else {
      add(printArgument(graph, argument, ArgumentStyle::Python));
    }
  }
  return text;
}

/// Groups of parts of the world have other names on other ranks: the first that a graph names is the first everywhere.
class GroupNames {
 public:
  /// "'group 1'" for "'7'"; other arguments as they are.
  std::string text(const Graph& graph, const Node& node, const Argument& argument) {
    const auto* name = argument.as<std::string>();
    if (name == nullptr || !isCollective(node) || *name != groupOf(node) || *name == "0")
      return printArgument(graph, argument, ArgumentStyle::Python);
    return fmt::format("'group {}'", m_numbers.emplace(*name, int(m_numbers.size()) + 1).first->second);
  }

 private:
  std::map<std::string, int> m_numbers;
};

/// A node as it can be compared: nodes by their place, sizes included.
std::string nodeText(const Graph& graph, const Node& node, const std::map<std::uint32_t, int>& places,
                     GroupNames& groups) {
  std::string text =
      fmt::format("{} {}(", opcodeName(node.op()), node.op() == Opcode::Placeholder ? "" : node.target());
  for (const Argument& argument : node.args()) {
    const auto* id = argument.as<NodeId>();
    text += id != nullptr ? fmt::format("#{}, ", places.at(id->index)) : groups.text(graph, node, argument) + ", ";
  }
  for (const auto& [name, argument] : node.kwargs()) text += name + "=" + groups.text(graph, node, argument) + ", ";
  return text + ") " + printAnnotation(node.meta(), true, false);
}

std::vector<std::string> textsOf(const Graph& graph) {
  std::map<std::uint32_t, int> places;
  std::vector<std::string> texts;
  GroupNames groups;
  for (const NodeId id : graph.order()) {
    places.emplace(id.index, int(places.size()));
    texts.push_back(nodeText(graph, graph.node(id), places, groups));
  }
  return texts;
}

std::optional<DifferingGraph> differing(const GraphKey& key, const std::vector<RankLog>& logs) {
  DifferingGraph result{std::get<0>(key), std::get<1>(key), -1, {}};
  std::vector<RankItem> presence;
  std::vector<std::pair<int, std::vector<std::string>>> texts;
  std::vector<const GraphModule*> modules;
  for (const RankLog& log : logs) {
    const auto found = log.graphs.find(key);
    if (found == log.graphs.end() && log.isTorn) continue;
    if (found == log.graphs.end()) {
      presence.push_back({log.rank, "no such graph"});
      continue;
    }
    presence.push_back({log.rank, "this graph", placeIn(key)});
    texts.emplace_back(log.rank, textsOf(found->second->graph));
    modules.push_back(found->second);
  }
  result.groups = groupedByText(presence);
  if (result.groups.size() > 1) return result;
  std::size_t longest = 0;
  for (const auto& [rank, own] : texts) longest = std::max(longest, own.size());
  for (std::size_t i = 0; i < longest; ++i) {
    std::vector<RankItem> nodes;
    std::set<std::string> seen;
    for (std::size_t r = 0; r < texts.size(); ++r) {
      const auto& own = texts[r].second;
      seen.insert(i < own.size() ? own[i] : std::string());
      const Graph& graph = modules[r]->graph;
      if (i < own.size())
        nodes.push_back(
            {texts[r].first, printNode(graph, graph.order()[i]), placeIn(key, graph.node(graph.order()[i]).name())});
      else
        nodes.push_back({texts[r].first, "the graph has ended", placeIn(key)});
    }
    if (seen.size() == 1) continue;
    result.index = int(i);
    result.groups = groupedByText(nodes);
    return result;
  }
  return std::nullopt;
}

/// The graph that a compilation runs, and the forward and the backward part where it has both.
std::vector<GraphKey> executedGraphs(const RankLog& log, const std::string& compileId) {
  std::size_t best = std::size(stagesByAge);
  for (const auto& [key, module] : log.graphs)
    if (std::get<0>(key) == compileId) best = std::min(best, ageOf(std::get<1>(key)));
  const bool hasParts = best < std::size(stagesByAge) && (stagesByAge[best] == "aot_forward_graph");
  std::vector<GraphKey> graphs;
  for (const GraphKey& key : log.order) {
    if (std::get<0>(key) != compileId) continue;
    const std::size_t age = ageOf(std::get<1>(key));
    if (age == best || (hasParts && stagesByAge[std::min(age, std::size(stagesByAge) - 1)] == "aot_backward_graph"))
      graphs.push_back(key);
  }
  return graphs;
}

void readSchedule(RankLog& log) {
  std::vector<std::string> ids;
  for (const GraphKey& key : log.order)
    if (std::ranges::find(ids, std::get<0>(key)) == ids.end()) ids.push_back(std::get<0>(key));
  for (const std::string& compileId : ids)
    for (const GraphKey& key : executedGraphs(log, compileId)) {
      const Graph& graph = log.graphs.at(key)->graph;
      for (const NodeId id : graph.order())
        if (const Node& node = graph.node(id); isCollective(node))
          log.schedule.push_back(
              {placeIn(key, node.name()), shortName(node.target()), operandsOf(graph, node), groupOf(node)});
    }
}

/// One capture for each rank, or one with the graphs of all.
Result<std::vector<Capture>> openLogs(const std::filesystem::path& path) {
  std::error_code ignored;
  std::vector<Capture> captures;
  if (!std::filesystem::is_directory(path, ignored)) {
    KERF_TRY(Capture capture, importCapture(path));
    captures.push_back(std::move(capture));
    return captures;
  }
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(path, ignored))
    if (entry.is_regular_file(ignored) && entry.path().filename().string().find("rank") != std::string::npos)
      files.push_back(entry.path());
  std::ranges::sort(files);
  for (const auto& file : files) {
    if (isFlightRecord(file)) continue;
    KERF_TRY(Capture capture, importCapture(file));
    captures.push_back(std::move(capture));
  }
  return captures;
}

/// The number in "rank3.log.gz"; -1 without one.
int rankOfFile(const std::filesystem::path& path) {
  const std::string name = path.filename().string();
  const std::size_t at =
      name.find_first_of("0123456789", name.find("rank") == std::string::npos ? 0 : name.find("rank"));
  return at == std::string::npos ? -1 : std::atoi(name.c_str() + at);
}

/// Whether a capture says that the compilation of that id ended on this rank.
std::optional<CompileEntry::Status> statusOn(const std::vector<Capture>& captures, int rank, const std::string& id) {
  for (const Capture& capture : captures)
    for (const CompileEntry& entry : capture.details ? capture.details->compiles : std::vector<CompileEntry>())
      if (entry.id == id && (entry.rank >= 0 ? entry.rank : rankOfFile(capture.path)) == rank) return entry.status;
  return std::nullopt;
}

/// The compilation within which a whole log ends although others finish it; empty: none.
std::string unfinishedId(const Capture& capture, int rank, const std::vector<Capture>& captures,
                         const std::vector<int>& ranks) {
  if (!capture.details || capture.details->compiles.empty()) return {};
  const CompileEntry& last = capture.details->compiles.back();
  if (last.status != CompileEntry::Status::Incomplete) return {};
  const bool isFinishedElsewhere = std::ranges::any_of(ranks, [&](int other) {
    return other != rank && statusOn(captures, other, last.id) == CompileEntry::Status::Ok;
  });
  return isFinishedElsewhere ? last.id : std::string();
}

/// Logs that end in the middle, by rank. Of files with one rank each: another file's end says nothing of a rank.
std::map<int, TornLog> tornLogs(const std::vector<Capture>& captures) {
  std::vector<int> ranks;
  for (const Capture& capture : captures) ranks.push_back(rankOfFile(capture.path));
  std::map<int, TornLog> torn;
  for (std::size_t i = 0; i < captures.size(); ++i) {
    if (ranks[i] < 0 || !captures[i].details) continue;
    const std::string file = captures[i].path.filename().string();
    for (const auto& [path, line] : captures[i].details->cutLogs) torn[ranks[i]] = {ranks[i], file, line, {}};
    if (torn.contains(ranks[i])) continue;
    if (std::string id = unfinishedId(captures[i], ranks[i], captures, ranks); !id.empty())
      torn[ranks[i]] = {ranks[i], file, 0, std::move(id)};
  }
  return torn;
}

/// Of a log that is torn only what others run too: its last compilation may lack the graph that is run.
void keepKnownSchedule(RankLog& log, const std::map<int, RankLog>& logs) {
  std::size_t known = 0;
  for (const ScheduledCollective& own : log.schedule) {
    const bool isRun = std::ranges::any_of(logs, [&](const auto& other) {
      return !other.second.isTorn && std::ranges::any_of(other.second.schedule, [&](const ScheduledCollective& theirs) {
        return theirs.place.compileId == own.place.compileId && theirs.place.stage == own.place.stage;
      });
    });
    if (!isRun) break;
    ++known;
  }
  log.schedule.resize(known);
}

/// Logs by rank. Two files of one rank are two runs, and nothing says whose other ranks belong to which.
class LogsOfRanks {
 public:
  Result<RankLog*> of(int rank, const std::filesystem::path& file) {
    const auto [known, fresh] = m_files.emplace(rank, file);
    if (!fresh && known->second != file)
      return fail(ErrorCode::BadInput, "{} and {} {}: put the logs of each run in a folder of their own",
                  known->second.filename().string(), file.filename().string(),
                  rank < 0 ? "do not say of which rank they are" : fmt::format("are both of rank {}", rank));
    m_logs[rank].rank = rank;
    return &m_logs[rank];
  }
  std::map<int, RankLog>& all() { return m_logs; }

 private:
  std::map<int, RankLog> m_logs;
  std::map<int, std::filesystem::path> m_files;
};

Result<std::vector<RankLog>> readLogs(std::vector<Capture>& captures, const std::map<int, TornLog>& torn) {
  LogsOfRanks logs;
  for (Capture& capture : captures) {
    const int own = rankOfFile(capture.path);
    if (own >= 0) KERF_CHECK(logs.of(own, capture.path));  // also where it compiled nothing
    for (CapturedGraph& graph : capture.graphs) {
      KERF_CHECK(graph.ensureLoaded());
      KERF_TRY(RankLog* const found, logs.of(graph.origin.rank >= 0 ? graph.origin.rank : own, capture.path));
      RankLog& log = *found;
      GraphKey key{graph.origin.compileId, graph.origin.stage, 0};
      while (log.graphs.contains(key)) ++std::get<2>(key);
      log.graphs.emplace(key, &graph.module);
      log.order.push_back(std::move(key));
    }
  }
  std::vector<RankLog> result;
  for (auto& [rank, log] : logs.all()) {
    log.isTorn = torn.contains(rank);
    readSchedule(log);
  }
  for (auto& [rank, log] : logs.all())
    if (log.isTorn) keepKnownSchedule(log, logs.all());
  for (auto& [rank, log] : logs.all()) result.push_back(std::move(log));
  return result;
}

}  // namespace

std::vector<std::filesystem::path> flightRecordsIn(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored))
    if (entry.is_regular_file(ignored) && rankOfFile(entry.path()) >= 0 && isFlightRecord(entry.path()))
      files.push_back(entry.path());
  std::ranges::sort(files);
  return files;
}

namespace {

/// What the flight records beside the traces say.
Result<std::vector<FlightLog>> readFlights(const std::filesystem::path& path) {
  std::vector<FlightLog> logs;
  for (const auto& file : flightRecordsIn(path)) {
    KERF_TRY(FlightLog log, readFlightRecord(file, rankOfFile(file)));
    logs.push_back(std::move(log));
  }
  std::ranges::stable_sort(logs, {}, &FlightLog::rank);
  return logs;
}

}  // namespace

namespace {

/// Ranks below the highest, and members of known groups, of which there is nothing.
std::vector<int> absentRanks(const std::vector<int>& present, const std::vector<FlightLog>& flights) {
  constexpr int most = 4096;  // of what records claim
  std::set<int> expected;
  for (int rank = 0; !present.empty() && rank < std::min(present.back(), most); ++rank) expected.insert(rank);
  for (const FlightLog& log : flights)
    for (const auto& [name, members] : log.groups)
      for (const int member : members)
        if (member >= 0 && member < most) expected.insert(member);
  for (const int rank : present) expected.erase(rank);
  return {expected.begin(), expected.end()};
}

}  // namespace

Result<RanksDiagnosis> diagnoseRanks(const std::filesystem::path& path) {
  if (std::error_code ignored; std::filesystem::is_regular_file(path, ignored) && isFlightRecord(path))
    return fail(ErrorCode::BadInput,
                "{} is the flight record of one rank: give the folder that holds those of all ranks", path.string());
  KERF_TRY(const std::vector<FlightLog> flights, readFlights(path));
  KERF_TRY(std::vector<Capture> captures, openLogs(path));
  const std::map<int, TornLog> torn = tornLogs(captures);
  KERF_TRY(const std::vector<RankLog> logs, readLogs(captures, torn));
  if (logs.size() < 2 && flights.size() > 1) {
    KERF_TRY(RanksDiagnosis diagnosis, diagnoseFlights(flights));
    diagnosis.absent = absentRanks(diagnosis.ranks, flights);
    return diagnosis;
  }
  if (logs.size() < 2)
    return fail(ErrorCode::BadInput, "{} holds traces of {} rank{}: at least two are needed (rank0.log, rank1.log, …)",
                path.string(), logs.size(), logs.size() == 1 ? "" : "s");
  RanksDiagnosis diagnosis;
  std::vector<GraphKey> keys;
  for (const RankLog& log : logs) {
    diagnosis.ranks.push_back(log.rank);
    for (const GraphKey& key : log.order)
      if (std::ranges::find(keys, key) == keys.end()) keys.push_back(key);
  }
  diagnosis.absent = absentRanks(diagnosis.ranks, flights);
  for (const auto& [rank, log] : torn) diagnosis.torn.push_back(log);
  diagnosis.comparedGraphs = std::int64_t(keys.size());
  for (const GraphKey& key : keys)
    if (auto found = differing(key, logs)) diagnosis.graphs.push_back(std::move(*found));
  const std::vector<MeetingPoint> points = meetingPoints(logs);
  diagnosis.timeline = timelineOf(logs, points);
  diagnosis.culprit = culpritOf(logs, points, diagnosis.timeline);
  if (flights.size() < 2) return diagnosis;
  KERF_TRY(RanksDiagnosis issued, diagnoseFlights(flights));  // what ran, beside what was compiled
  const std::size_t compiledRows = diagnosis.timeline.size();
  std::ranges::move(issued.timeline, std::back_inserter(diagnosis.timeline));
  diagnosis.uncomparedMessages = issued.uncomparedMessages;
  if (issued.culprit) {
    issued.culprit->row += compiledRows;
    diagnosis.culprit = std::move(issued.culprit);
  }
  return diagnosis;
}

}  // namespace kerf::inline distributed::inline doctor
