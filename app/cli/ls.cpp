// kerf ls [KIND] [CAPTURE]: what the store, or one capture, holds.
#include <algorithm>

#include "app/cli/capture_rows.h"
#include "app/cli/capture_source.h"
#include "app/cli/commands.h"
#include "app/cli/text_table.h"
#include "app/cli/timeline.h"

namespace kerf::cli {

namespace {

/// One kind of row: how to list it as JSON, and its columns (JSON keys) for people.
struct Kind {
  std::string_view name;
  Result<Json> (*list)(Store&);
  std::vector<std::string> columns;
};

/// "c3/g1" of a graph row.
Result<std::string> graphId(Store& store, std::int64_t rowId) {
  KERF_TRY(const auto row, store.graphById(rowId));
  return fmt::format("c{}/g{}", row.captureId, row.ordinal);
}

double milliseconds(std::int64_t nanoseconds) { return double(nanoseconds) / 1e6; }

Result<Json> listCaptures(Store& store) {
  KERF_TRY(const auto rows, store.captures());
  Json list = Json::array();
  for (const auto& row : rows) {
    list.push_back({{"id", fmt::format("c{}", row.id)},
                    {"kind", row.kind},
                    {"graphs", row.graphCount},
                    {"compiles", row.compileCount},
                    {"records", row.recordCount},
                    {"torch_version", row.torchVersion},
                    {"imported_at", row.importedAt},
                    {"path", row.path}});
  }
  return list;
}

Result<Json> listGraphs(Store& store) {
  KERF_TRY(const auto rows, store.graphs());
  Json list = Json::array();
  CaptureIndex index;
  for (const auto& row : rows) {
    index.id = fmt::format("c{}", row.captureId);
    list.push_back(graphRowJson(index, row));
  }
  return list;
}

Result<Json> listRuns(Store& store) {
  KERF_TRY(const auto rows, store.runs());
  Json list = Json::array();
  for (const auto& row : rows) {
    KERF_TRY(auto graph, graphId(store, row.graphId));
    list.push_back({{"id", fmt::format("r{}", row.id)},
                    {"graph", graph},
                    {"kind", row.kind},
                    {"backend", row.backend},
                    {"status", row.status},
                    {"elapsed_ms", milliseconds(row.nanoseconds)},
                    {"started_at", row.startedAt},
                    {"options", row.options}});
  }
  return list;
}

Result<Json> listReductions(Store& store) {
  KERF_TRY(const auto rows, store.reductions());
  Json list = Json::array();
  for (const auto& row : rows) {
    KERF_TRY(auto graph, graphId(store, row.graphId));
    KERF_TRY(const auto steps, store.steps(row.id));
    list.push_back({{"id", fmt::format("m{}", row.id)},
                    {"graph", graph},
                    {"status", row.status},
                    {"start_nodes", row.startNodes},
                    {"best_nodes", row.bestNodes},
                    {"steps", steps.size()},
                    {"tests", row.tests},
                    {"started_at", row.startedAt},
                    {"fingerprint", row.fingerprint},
                    {"oracle", row.oracle}});
  }
  return list;
}

Result<Json> listRepros(Store& store) {
  KERF_TRY(const auto rows, store.repros());
  Json list = Json::array();
  for (const auto& row : rows) {
    KERF_TRY(auto graph, graphId(store, row.graphId));
    list.push_back({{"id", fmt::format("p{}", row.id)},
                    {"graph", graph},
                    {"reduction", row.reductionId ? Json(fmt::format("m{}", *row.reductionId)) : Json()},
                    {"nodes", row.nodes},
                    {"created_at", row.createdAt},
                    {"path", row.path}});
  }
  return list;
}

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> table = {
      {"captures",
       listCaptures,
       {"id", "kind", "graphs", "compiles", "records", "torch_version", "imported_at", "path"}},
      {"graphs", listGraphs, {"id", "name", "nodes", "compile_id", "hash"}},
      {"runs", listRuns, {"id", "graph", "kind", "backend", "status", "elapsed_ms", "started_at"}},
      {"reductions",
       listReductions,
       {"id", "graph", "status", "start_nodes", "best_nodes", "steps", "tests", "started_at", "fingerprint"}},
      {"repros", listRepros, {"id", "graph", "reduction", "nodes", "created_at", "path"}},
  };
  return table;
}

std::string cell(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_float()) return fmt::format("{:.2f}", value.get<double>());
  return value.is_null() ? "" : value.dump();
}

void printKind(const Kind& kind, const Json& rows, bool heading) {
  if (heading) fmt::print("{}: {}\n", kind.name, rows.size());
  if (rows.empty()) {
    if (!heading) fmt::print("no {}\n", kind.name);
    return;
  }
  TextTable table(kind.columns);
  for (const auto& row : rows) {
    std::vector<std::string> cells;
    for (const auto& column : kind.columns) cells.push_back(cell(row[column]));
    table.add(std::move(cells));
  }
  fmt::print("{}", table.text());
}

Result<int> listStore(Context& context, const std::string& wanted) {
  KERF_TRY(auto* store, context.store());
  Json object{{"store", store->path().string()}};
  for (const auto& kind : kinds()) {
    if (!wanted.empty() && wanted != kind.name) continue;
    KERF_TRY(auto rows, kind.list(*store));
    if (!context.json) printKind(kind, rows, wanted.empty());
    object[std::string(kind.name)] = std::move(rows);
  }
  if (context.json) printJson(object);
  return 0;
}

/// One list of a capture: as JSON, and for people as a table of `columns` (or as a text of its own).
struct PartKind {
  std::string_view name;
  Json (*list)(const CaptureIndex&);
  std::vector<std::string> columns;
};

template <class Rows>
Json listOf(const CaptureIndex& index, const Rows& rows,
            Json (*row)(const CaptureIndex&, const typename Rows::value_type&)) {
  Json list = Json::array();
  for (const auto& entry : rows) list.push_back(row(index, entry));
  return list;
}
Json partCompiles(const CaptureIndex& index) { return listOf(index, index.compiles, compileRowJson); }
Json partGraphs(const CaptureIndex& index) { return listOf(index, index.graphs, graphRowJson); }
Json partRecords(const CaptureIndex& index) { return listOf(index, index.records, recordRowJson); }

const std::vector<PartKind>& parts() {
  static const std::vector<PartKind> table = {
      {"compiles", partCompiles, {}},
      {"graphs", partGraphs, {"id", "name", "nodes", "compile_id", "rank", "stage", "line"}},
      {"records", partRecords, {"id", "kind", "name", "compile_id", "rank", "line", "bytes", "form"}},
  };
  return table;
}

Result<int> listTimeline(Context& context, const std::string& capture) {
  KERF_TRY(const auto source, openCapture(context, capture));
  const std::vector<TimelineEvent> none;
  const auto& events = source.capture.details ? source.capture.details->timeline : none;
  if (context.json)
    printJson({{"capture", capture}, {"timeline", timelineJson(events)}});
  else
    fmt::print("{}", timelineText(events));
  return 0;
}

Result<int> listCapture(Context& context, const std::string& wanted, const std::string& capture) {
  if (wanted == "timeline") return listTimeline(context, capture);
  KERF_TRY(const auto index, captureIndex(context, capture));
  Json object{{"capture", capture}};
  for (const auto& part : parts()) {
    if (!wanted.empty() && wanted != part.name) continue;
    auto rows = part.list(index);
    if (!context.json && part.name == "compiles")
      fmt::print("{}\n{}", headline(index), compileTree(index));
    else if (!context.json && (!wanted.empty() || part.name != "graphs"))
      printKind({part.name, nullptr, part.columns}, rows, wanted.empty());
    object[std::string(part.name)] = std::move(rows);
  }
  if (context.json) printJson(object);
  return 0;
}

bool isPart(const std::string& kind) {
  return kind == "timeline" || std::ranges::any_of(parts(), [&](const PartKind& part) { return part.name == kind; });
}

Result<int> runLs(Context& context, const std::string& wanted, const std::string& capture) {
  const bool isKind = std::ranges::any_of(kinds(), [&](const Kind& kind) { return kind.name == wanted; });
  if (capture.empty() && (wanted.empty() || isKind)) return listStore(context, wanted);
  if (capture.empty() && !isPart(wanted)) return listCapture(context, {}, wanted);
  if (capture.empty())
    return fail(ErrorCode::BadUsage, "`kerf ls {}` needs a capture, as in `kerf ls {} c3`", wanted, wanted);
  if (isPart(wanted)) return listCapture(context, wanted, capture);
  return fail(ErrorCode::BadUsage, "a capture has compiles, graphs, records and a timeline, not {}", wanted);
}

}  // namespace

void addLs(CommandLine& line) {
  auto& command = line.add("ls", "List what the store, or one capture, holds",
                           "  kerf ls\n"
                           "  kerf ls runs --json\n"
                           "  kerf ls c3\n"
                           "  kerf ls compiles c3\n"
                           "  kerf ls records trace.log\n"
                           "  kerf ls timeline c3");
  auto wanted = std::make_shared<std::string>(), capture = std::make_shared<std::string>();
  command.add_option(
      "KIND", *wanted,
      "captures, graphs, runs, reductions or repros; of a capture compiles, graphs, records or timeline; "
      "all if left out");
  command.add_option("CAPTURE", *capture, "Store id (c3) or path");
  line.onRun(command, [wanted, capture](Context& context) { return runLs(context, *wanted, *capture); });
}

}  // namespace kerf::cli
