#include "engine/distributed/doctor/ranks_doctor.h"

#include <algorithm>
#include <map>
#include <set>

#include "engine/distributed/doctor/flight_recorder.h"
#include "engine/ir/printer.h"

namespace kerf::inline distributed::inline doctor {

std::vector<RankGroup> groupedByText(const std::vector<std::pair<int, std::string>>& items) {
  std::vector<RankGroup> groups;
  for (const auto& [rank, what] : items) {
    const auto found = std::ranges::find(groups, what, &RankGroup::what);
    if (found != groups.end())
      found->ranks.push_back(rank);
    else
      groups.push_back({{rank}, what});
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

/// The graphs of one rank by compile id, stage and number among those of the same.
using GraphKey = std::tuple<std::string, std::string, int>;

struct Collective {
  std::string compileId, node, op, what;
  std::string text() const { return what.empty() ? op : op + " of " + what; }
};

struct RankLog {
  int rank = 0;
  std::vector<GraphKey> order;
  std::map<GraphKey, const GraphModule*> graphs;
  std::vector<Collective> schedule;
};

/// Later stages first: a compilation's collectives are those of the last graph that is there.
constexpr std::string_view stagesByAge[] = {"inductor_post_grad_graph", "after_post_grad_graph", "aot_inference_graph",
                                            "aot_forward_graph",        "aot_backward_graph",    "aot_joint_graph",
                                            "dynamo_output_graph"};

std::size_t ageOf(const std::string& stage) {
  const auto* found = std::ranges::find(stagesByAge, stage);
  return std::size_t(found - std::begin(stagesByAge));
}

bool isCollective(const Node& node) {
  const std::string& target = node.target();
  return node.op() == Opcode::CallFunction && target.find("c10d") != std::string::npos &&
         target.find("wait_tensor") == std::string::npos && target.find("_wrap_tensor") == std::string::npos;
}

/// "all_reduce" of "torch.ops._c10d_functional.all_reduce.default".
std::string shortName(const std::string& target) {
  const std::size_t space = target.find("c10d");
  const std::size_t start = target.find('.', space) + 1;
  return target.substr(start, target.find('.', start) - start);
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

/// A node as it can be compared: nodes by their place, sizes included.
std::string nodeText(const Graph& graph, const Node& node, const std::map<std::uint32_t, int>& places) {
  std::string text =
      fmt::format("{} {}(", opcodeName(node.op()), node.op() == Opcode::Placeholder ? "" : node.target());
  for (const Argument& argument : node.args()) {
    const auto* id = argument.as<NodeId>();
    text += id != nullptr ? fmt::format("#{}, ", places.at(id->index))
                          : printArgument(graph, argument, ArgumentStyle::Python) + ", ";
  }
  for (const auto& [name, argument] : node.kwargs())
    text += name + "=" + printArgument(graph, argument, ArgumentStyle::Python) + ", ";
  return text + ") " + printAnnotation(node.meta(), true, false);
}

std::vector<std::string> textsOf(const Graph& graph) {
  std::map<std::uint32_t, int> places;
  std::vector<std::string> texts;
  for (const NodeId id : graph.order()) {
    places.emplace(id.index, int(places.size()));
    texts.push_back(nodeText(graph, graph.node(id), places));
  }
  return texts;
}

std::optional<DifferingGraph> differing(const GraphKey& key, const std::vector<RankLog>& logs) {
  DifferingGraph result{std::get<0>(key), std::get<1>(key), -1, {}};
  std::vector<std::pair<int, std::string>> presence;
  std::vector<std::pair<int, std::vector<std::string>>> texts;
  std::vector<const GraphModule*> modules;
  for (const RankLog& log : logs) {
    const auto found = log.graphs.find(key);
    presence.emplace_back(log.rank, found == log.graphs.end() ? "no such graph" : "this graph");
    if (found == log.graphs.end()) continue;
    texts.emplace_back(log.rank, textsOf(found->second->graph));
    modules.push_back(found->second);
  }
  result.groups = groupedByText(presence);
  if (result.groups.size() > 1) return result;
  std::size_t longest = 0;
  for (const auto& [rank, own] : texts) longest = std::max(longest, own.size());
  for (std::size_t i = 0; i < longest; ++i) {
    std::vector<std::pair<int, std::string>> nodes;
    std::set<std::string> seen;
    for (std::size_t r = 0; r < texts.size(); ++r) {
      const auto& own = texts[r].second;
      seen.insert(i < own.size() ? own[i] : std::string());
      const Graph& graph = modules[r]->graph;
      nodes.emplace_back(texts[r].first, i < own.size() ? printNode(graph, graph.order()[i]) : "the graph has ended");
    }
    if (seen.size() == 1) continue;
    result.index = int(i);
    result.groups = groupedByText(nodes);
    return result;
  }
  return std::nullopt;
}

/// The graph that a compilation runs, and the forward and the backward part where it has both.
std::vector<const GraphModule*> executedGraphs(const RankLog& log, const std::string& compileId) {
  std::size_t best = std::size(stagesByAge);
  for (const auto& [key, module] : log.graphs)
    if (std::get<0>(key) == compileId) best = std::min(best, ageOf(std::get<1>(key)));
  const bool hasParts = best < std::size(stagesByAge) && (stagesByAge[best] == "aot_forward_graph");
  std::vector<const GraphModule*> graphs;
  for (const GraphKey& key : log.order) {
    if (std::get<0>(key) != compileId) continue;
    const std::size_t age = ageOf(std::get<1>(key));
    if (age == best || (hasParts && stagesByAge[std::min(age, std::size(stagesByAge) - 1)] == "aot_backward_graph"))
      graphs.push_back(log.graphs.at(key));
  }
  return graphs;
}

void readSchedule(RankLog& log) {
  std::vector<std::string> ids;
  for (const GraphKey& key : log.order)
    if (std::ranges::find(ids, std::get<0>(key)) == ids.end()) ids.push_back(std::get<0>(key));
  for (const std::string& id : ids)
    for (const GraphModule* module : executedGraphs(log, id))
      for (const NodeId node : module->graph.order())
        if (isCollective(module->graph.node(node)))
          log.schedule.push_back({id, module->graph.node(node).name(), shortName(module->graph.node(node).target()),
                                  operandsOf(module->graph, module->graph.node(node))});
}

std::vector<TimelineRow> timelineOf(const std::vector<RankLog>& logs) {
  std::size_t longest = 0;
  for (const RankLog& log : logs) longest = std::max(longest, log.schedule.size());
  std::vector<TimelineRow> rows;
  for (std::size_t i = 0; i < longest; ++i) {
    std::vector<std::pair<int, std::string>> items;
    TimelineRow row{int(i), {}, {}};
    for (const RankLog& log : logs) {
      if (i < log.schedule.size() && row.compileId.empty()) row.compileId = log.schedule[i].compileId;
      items.emplace_back(log.rank, i < log.schedule.size() ? log.schedule[i].text() : "nothing");
    }
    row.groups = groupedByText(items);
    rows.push_back(std::move(row));
  }
  return rows;
}

std::optional<Culprit> culpritOf(const std::vector<RankLog>& logs, const std::vector<TimelineRow>& timeline) {
  const auto row = std::ranges::find_if(timeline, &TimelineRow::differs);
  if (row == timeline.end()) return std::nullopt;
  Culprit culprit = culpritOfRow(*row);
  std::vector<std::pair<int, std::string>> before;
  for (const RankLog& log : logs) {
    const std::size_t done = std::min(std::size_t(row->number), log.schedule.size());
    before.emplace_back(log.rank, done == 0 ? "no collective" : log.schedule[done - 1].text());
  }
  culprit.lastDone = groupedByText(before);
  return culprit;
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

Result<std::vector<RankLog>> readLogs(std::vector<Capture>& captures) {
  std::map<int, RankLog> logs;
  for (Capture& capture : captures) {
    if (const int own = rankOfFile(capture.path); own >= 0) logs[own].rank = own;  // also where it compiled nothing
    for (CapturedGraph& graph : capture.graphs) {
      KERF_CHECK(graph.ensureLoaded());
      const int rank = graph.origin.rank >= 0 ? graph.origin.rank : rankOfFile(capture.path);
      RankLog& log = logs[rank];
      log.rank = rank;
      GraphKey key{graph.origin.compileId, graph.origin.stage, 0};
      while (log.graphs.contains(key)) ++std::get<2>(key);
      log.graphs.emplace(key, &graph.module);
      log.order.push_back(std::move(key));
    }
  }
  std::vector<RankLog> result;
  for (auto& [rank, log] : logs) {
    readSchedule(log);
    result.push_back(std::move(log));
  }
  return result;
}

}  // namespace

namespace {

/// What the flight records beside the traces say.
Result<std::vector<FlightLog>> readFlights(const std::filesystem::path& path) {
  std::vector<FlightLog> logs;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(path, ignored)) {
    const int rank = rankOfFile(entry.path());
    if (!entry.is_regular_file(ignored) || rank < 0 || !isFlightRecord(entry.path())) continue;
    KERF_TRY(FlightLog log, readFlightRecord(entry.path(), rank));
    logs.push_back(std::move(log));
  }
  std::ranges::sort(logs, {}, &FlightLog::rank);
  return logs;
}

}  // namespace

Result<RanksDiagnosis> diagnoseRanks(const std::filesystem::path& path) {
  KERF_TRY(const std::vector<FlightLog> flights, readFlights(path));
  KERF_TRY(std::vector<Capture> captures, openLogs(path));
  KERF_TRY(const std::vector<RankLog> logs, readLogs(captures));
  if (logs.size() < 2 && flights.size() > 1) return diagnoseFlights(flights);
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
  for (const GraphKey& key : keys)
    if (auto found = differing(key, logs)) diagnosis.graphs.push_back(std::move(*found));
  diagnosis.timeline = timelineOf(logs);
  diagnosis.culprit = culpritOf(logs, diagnosis.timeline);
  if (flights.size() < 2) return diagnosis;
  RanksDiagnosis issued = diagnoseFlights(flights);  // what ran, beside what was compiled
  std::ranges::move(issued.timeline, std::back_inserter(diagnosis.timeline));
  if (issued.culprit) diagnosis.culprit = std::move(issued.culprit);
  return diagnosis;
}

}  // namespace kerf::inline distributed::inline doctor
