#include "app/cli/capture_report.h"

#include <algorithm>
#include <map>

#include <fmt/ranges.h>

#include "app/cli/compile_log_report.h"
#include "app/cli/json_forms.h"
#include "app/cli/text_table.h"
#include "engine/support/log.h"
#include "engine/support/read_json.h"

namespace kerf::cli {

namespace {

Json rankJson(int rank) { return rank < 0 ? Json() : Json(rank); }

std::map<std::string, int> recordKinds(const CaptureIndex& index) {
  std::map<std::string, int> kinds;
  for (const auto& record : index.records) ++kinds[record.kind];
  return kinds;
}

bool belongs(const GraphEntry& graph, const CompileEntryDoc& compile) {
  return graph.compileId == compile.id && graph.rank == compile.rank;
}

/// What a log says of compile ids and graphs, by their names.
struct LogRemarks {
  explicit LogRemarks(const CompileLogDoc& log) {
    for (const auto& remark : log.remarks) texts[{remark.id, remark.rank}].push_back(remark.text);
    for (const auto& graph : log.directions) directions[graph.name] = graph.direction;
  }
  std::string lines(const CompileEntryDoc& compile, std::string_view indent) const {
    std::string lines;
    const auto found = texts.find({compile.id, compile.rank});
    if (found == texts.end()) return lines;
    for (const auto& text : found->second) lines += fmt::format("{}* {}\n", indent, escapedText(text));
    return lines;
  }
  std::string direction(const GraphEntry& graph) const {
    const auto found = directions.find(graph.name);
    return found == directions.end() ? std::string() : found->second;
  }

  std::map<std::pair<std::string, int>, std::vector<std::string>> texts;
  std::map<std::string, std::string> directions;
};

std::string graphLine(const GraphEntry& graph, const LogRemarks& remarks) {
  const auto direction = remarks.direction(graph);
  const bool told = direction.empty() || graph.name.contains(direction);
  return fmt::format("{}  {}{}{}\n", graph.id, graph.name, told ? "" : "  " + direction,
                     graph.nodes < 0 ? "" : "  " + counted(graph.nodes, "node"));
}

std::string compileLine(const CompileEntryDoc& compile) {
  auto line = fmt::format("{}  {}", compile.id, compile.status);
  if (compile.seconds >= 0) line += fmt::format("  {:.0f} ms", compile.seconds * 1000);
  if (!compile.frame.empty()) line += "  " + compile.frame;
  if (!compile.failure.empty()) line += "  " + compile.failure;
  return line;
}

}  // namespace

Json recordRowJson(const CaptureIndex& index, const RecordEntry& record) {
  const bool isGraph = record.graph >= 0 && record.graph < std::ssize(index.graphs);
  Json json = jsonOf(record);
  json["graph"] = isGraph ? Json(index.graphs[std::size_t(record.graph)].id) : Json();
  return json;
}

Json compileRowJson(const CaptureIndex& index, const CompileEntryDoc& compile) {
  Json json = jsonOf(compile);
  json["graphs"] = Json::array();
  for (const auto& graph : index.graphs)
    if (belongs(graph, compile)) json["graphs"].push_back(graph.id);
  return json;
}

std::string headline(const CaptureIndex& index) {
  return fmt::format("{}  {}{}{}", index.name, index.kind, index.path == index.name ? "" : "  " + index.path,
                     index.torchVersion.empty() ? "" : "  torch " + index.torchVersion);
}

std::string compileTree(const CaptureIndex& index, const CompileLogDoc& log) {
  const LogRemarks remarks(log);
  std::string text;
  std::optional<int> rank;
  const bool ranked = std::ranges::any_of(index.compiles, [](const auto& compile) { return compile.rank >= 0; });
  for (const auto& compile : index.compiles) {
    if (ranked && rank != compile.rank) text += compile.rank < 0 ? "no rank\n" : fmt::format("rank {}\n", compile.rank);
    rank = compile.rank;
    text += (ranked ? "  " : "") + compileLine(compile) + "\n" + remarks.lines(compile, ranked ? "    " : "  ");
    for (const auto& graph : index.graphs)
      if (belongs(graph, compile)) text += (ranked ? "    " : "  ") + graphLine(graph, remarks);
  }
  for (const auto& graph : index.graphs) {
    const bool listed =
        std::ranges::any_of(index.compiles, [&](const auto& compile) { return belongs(graph, compile); });
    if (!listed) text += graphLine(graph, remarks);
  }
  return text;
}

std::string overviewText(const CaptureIndex& index, const CompileLogDoc& log) {
  const auto answer = answerText(log);
  auto text = headline(index) + "\n" + answer + (answer.empty() ? "" : "\n") + compileTree(index, log);
  if (!index.records.empty()) {
    text += fmt::format("\n{} (`kerf ls records {}`)\n", counted(std::ssize(index.records), "record"), index.name);
    TextTable table({"kind", "count"});
    for (const auto& [kind, count] : recordKinds(index)) table.add({kind, std::to_string(count)});
    text += table.text();
  }
  for (const auto& note : log.notes.empty() ? index.notes : log.notes) text += "note: " + note + "\n";
  return text;
}

Json overviewJson(const CaptureIndex& index, const CompileLogDoc& log) {
  const LogRemarks remarks(log);
  Json graphs = Json::array(), compiles = Json::array();
  for (const auto& graph : index.graphs) {
    graphs.push_back(jsonOf(graph));
    graphs.back()["direction"] = orNull(remarks.direction(graph));
  }
  for (const auto& compile : index.compiles) {
    compiles.push_back(compileRowJson(index, compile));
    const auto found = remarks.texts.find({compile.id, compile.rank});
    compiles.back()["remarks"] = found == remarks.texts.end() ? std::vector<std::string>() : found->second;
  }
  return {{"capture", index.name},
          {"kind", index.kind},
          {"path", index.path},
          {"torch_version", index.torchVersion},
          {"answer", jsonOf(log.answer)},
          {"graphs", std::move(graphs)},
          {"compiles", std::move(compiles)},
          {"records", recordKinds(index)},
          {"notes", index.notes}};
}

Json recordJson(const std::string& id, const RecordDoc& record) {
  const auto& entry = record.entry;
  const auto metadata = readJson<Json>(record.metadata);
  return {{"id", id},
          {"kind", entry.kind},
          {"name", entry.name},
          {"compile_id", orNull(entry.compileId)},
          {"rank", rankJson(entry.rank)},
          {"file", entry.file},
          {"line", entry.line},
          {"form", entry.form},
          {"metadata", metadata.is_discarded() ? Json() : metadata},
          {"text", record.text}};
}

std::string fusionText(const std::vector<FusionRow>& groups) {
  std::string text;
  const auto list = [&](std::string_view title, const std::vector<std::string>& names) {
    if (!names.empty()) text += fmt::format("  {:<11}{}\n", title, fmt::join(names, ", "));
  };
  for (const auto& group : groups) {
    text += fmt::format("{}{}{}\n", group.kernel.empty() ? "(not fused yet)" : group.kernel,
                        group.compileId.empty() ? "" : "  " + group.compileId,
                        group.stage.empty() ? "" : "  " + group.stage);
    list("buffers", group.buffers);
    list("post grad", group.postGradNodes);
    list("pre grad", group.preGradNodes);
    list("loads", group.loads);
    list("stores", group.stores);
  }
  return text.empty() ? "no fusion groups are recorded here\n" : text;
}

}  // namespace kerf::cli
