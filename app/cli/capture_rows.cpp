#include "app/cli/capture_rows.h"

#include <cmath>

#include "app/cli/capture_source.h"
#include "app/cli/import_report.h"
#include "app/cli/json_values.h"
#include "app/cli/store_id.h"
#include "app/cli/text_table.h"

namespace kerf::cli {

namespace {

/// Name of the metric that holds the whole time of a compile, in seconds.
constexpr std::string_view wholeTime = "entire_frame_compile_time_s";

Json rankJson(int rank) { return rank < 0 ? Json() : Json(rank); }

Result<CaptureIndex> storedIndex(Store& store, std::int64_t captureId) {
  KERF_TRY(const auto row, store.capture(captureId));
  CaptureIndex index{fmt::format("c{}", captureId), row.kind, row.path, row.torchVersion, {}, {}, {}, {}};
  KERF_TRY(index.graphs, store.graphs(captureId));
  KERF_TRY(index.records, store.records(captureId));
  KERF_TRY(index.compiles, store.compiles(captureId));
  return index;
}

CaptureIndex openedIndex(const std::string& text, const Capture& capture) {
  CaptureIndex index{text, capture.kind, capture.path.string(), capture.torchVersion, {}, {}, {}, capture.notes};
  for (const auto& graph : capture.graphs) {
    GraphRow row{0, 0, int(index.graphs.size()) + 1, graph.name, {}, -1, sourceRow(graph.origin)};
    if (!graph.pending) {
      row.hash = graph.contentHash().hex();
      row.nodes = int(graph.module.graph.size());
    }
    index.graphs.push_back(std::move(row));
  }
  if (capture.details) {
    index.records = recordRows(*capture.details);
    index.compiles = compileRows(*capture.details);
  }
  return index;
}

void appendGraphs(std::string& text, const CaptureIndex& index, const std::string& compileId, int rank,
                  std::string_view indent) {
  for (const auto& graph : index.graphs) {
    if (graph.source.compileId != compileId || graph.source.rank != rank) continue;
    text += fmt::format("{}{}  {}{}\n", indent, index.graphId(graph), graph.name,
                        graph.nodes < 0 ? "" : "  " + counted(graph.nodes, "node"));
  }
}

std::string compileLine(const CompileRow& compile) {
  auto line = fmt::format("{}  {}", compile.id, compile.status);
  if (!std::isnan(compile.milliseconds)) line += fmt::format("  {:.0f} ms", compile.milliseconds);
  if (!compile.frame.empty()) line += "  " + compile.frame;
  if (!compile.failure.empty()) line += "  " + compile.failure;
  return line;
}

}  // namespace

SourceRow sourceRow(const GraphOrigin& origin) {
  return {origin.compileId, origin.rank, origin.stage, origin.file.string(), origin.line};
}

std::vector<RecordRow> recordRows(const CaptureDetails& details) {
  std::vector<RecordRow> rows;
  for (const auto& record : details.records) {
    RecordRow row;
    row.ordinal = int(rows.size()) + 1;
    row.kind = record.kind;
    row.name = record.name;
    row.source = sourceRow(record.origin);
    row.form = formName(record.form);
    row.bytes = record.payload.length;
    if (record.graph >= 0) row.graph = record.graph + 1;
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<CompileRow> compileRows(const CaptureDetails& details) {
  std::vector<CompileRow> rows;
  for (const auto& compile : details.compiles) {
    CompileRow row;
    row.ordinal = int(rows.size()) + 1;
    row.id = compile.id;
    row.rank = compile.rank;
    row.status = compileStatusName(compile.status);
    row.failure = compile.failure;
    row.frame = compile.frame;
    row.graphs = int(compile.graphs.size());
    row.records = int(compile.records.size());
    for (const auto& [name, value] : compile.metrics) {
      if (name == wholeTime) row.milliseconds = value * 1000;
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

std::string CaptureIndex::graphId(const GraphRow& graph) const {
  return graph.captureId > 0 ? fmt::format("{}/g{}", id, graph.ordinal) : fmt::format("{}#{}", id, graph.name);
}

std::string CaptureIndex::recordId(const RecordRow& record) const {
  return fmt::format("{}{}{}", id, parseStoreId(id) ? "/r" : "#r", record.ordinal);
}

Result<CaptureIndex> captureIndex(Context& context, const std::string& text) {
  const auto id = parseStoreId(text);
  if (id && id->kind == 'c' && id->graph == 0 && id->record == 0 && id->selector.empty()) {
    KERF_TRY(auto* store, context.store());
    return storedIndex(*store, id->number);
  }
  KERF_TRY(const auto source, openCapture(context, text));
  return openedIndex(text, source.capture);
}

Json graphRowJson(const CaptureIndex& index, const GraphRow& graph) {
  return {{"id", index.graphId(graph)},
          {"name", graph.name},
          {"nodes", graph.nodes < 0 ? Json() : Json(graph.nodes)},
          {"hash", orNull(graph.hash)},
          {"compile_id", orNull(graph.source.compileId)},
          {"rank", rankJson(graph.source.rank)},
          {"stage", orNull(graph.source.stage)},
          {"file", orNull(graph.source.file)},
          {"line", graph.source.line > 0 ? Json(graph.source.line) : Json()}};
}

Json recordRowJson(const CaptureIndex& index, const RecordRow& record) {
  Json graph;
  if (record.graph && *record.graph <= std::ssize(index.graphs))
    graph = index.graphId(index.graphs[std::size_t(*record.graph) - 1]);
  return {{"id", index.recordId(record)},
          {"kind", record.kind},
          {"name", record.name},
          {"compile_id", orNull(record.source.compileId)},
          {"rank", rankJson(record.source.rank)},
          {"file", orNull(record.source.file)},
          {"line", record.source.line > 0 ? Json(record.source.line) : Json()},
          {"form", record.form},
          {"bytes", record.bytes},
          {"graph", std::move(graph)}};
}

Json compileRowJson(const CaptureIndex& index, const CompileRow& compile) {
  Json graphs = Json::array();
  for (const auto& graph : index.graphs) {
    if (graph.source.compileId == compile.id && graph.source.rank == compile.rank)
      graphs.push_back(index.graphId(graph));
  }
  return {{"id", compile.id},
          {"rank", rankJson(compile.rank)},
          {"status", compile.status},
          {"failure", orNull(compile.failure)},
          {"frame", orNull(compile.frame)},
          {"elapsed_ms", std::isnan(compile.milliseconds) ? Json() : Json(compile.milliseconds)},
          {"records", compile.records},
          {"graphs", std::move(graphs)}};
}

std::string compileTree(const CaptureIndex& index) {
  std::string text;
  std::optional<int> rank;
  const bool ranked = std::ranges::any_of(index.compiles, [](const CompileRow& row) { return row.rank >= 0; });
  for (const auto& compile : index.compiles) {
    if (ranked && rank != compile.rank) text += compile.rank < 0 ? "no rank\n" : fmt::format("rank {}\n", compile.rank);
    rank = compile.rank;
    text += (ranked ? "  " : "") + compileLine(compile) + "\n";
    appendGraphs(text, index, compile.id, compile.rank, ranked ? "    " : "  ");
  }
  for (const auto& graph : index.graphs) {
    const bool listed = std::ranges::any_of(index.compiles, [&](const CompileRow& row) {
      return row.id == graph.source.compileId && row.rank == graph.source.rank;
    });
    if (listed) continue;
    text += fmt::format("{}  {}{}\n", index.graphId(graph), graph.name,
                        graph.nodes < 0 ? "" : "  " + counted(graph.nodes, "node"));
  }
  return text;
}

std::string headline(const CaptureIndex& index) {
  return fmt::format("{}  {}{}{}", index.id, index.kind, index.path == index.id ? "" : "  " + index.path,
                     index.torchVersion.empty() ? "" : "  torch " + index.torchVersion);
}

}  // namespace kerf::cli
