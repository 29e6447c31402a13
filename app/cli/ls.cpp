// kerf ls [KIND] [CAPTURE]: what the store, or one capture, holds.
#include <algorithm>

#include "app/cli/capture_report.h"
#include "app/cli/commands.h"
#include "app/cli/json_forms.h"
#include "app/cli/text_table.h"

namespace kerf::cli {

namespace {

/// One list of a holder (the store, a capture): as JSON, and its columns (JSON keys) for people.
template <class Holder>
struct Part {
  std::string_view name;
  Json (*list)(const Holder&);
  std::vector<std::string> columns;
};

template <class Rows, class RowJson>
Json listOf(const Rows& rows, RowJson rowJson) {
  Json list = Json::array();
  for (const auto& row : rows) list.push_back(rowJson(row));
  return list;
}

const std::vector<Part<StoreListing>>& storeParts() {
  static const std::vector<Part<StoreListing>> table = {
      {"captures",
       [](const StoreListing& store) { return jsonOf(store.captures); },
       {"id", "kind", "graphs", "compiles", "records", "torch_version", "imported_at", "path"}},
      {"graphs",
       [](const StoreListing& store) { return jsonOf(store.graphs); },
       {"id", "name", "nodes", "compile_id", "hash"}},
      {"runs",
       [](const StoreListing& store) { return jsonOf(store.runs); },
       {"id", "graph", "kind", "backend", "status", "elapsed_ms", "started_at"}},
      {"reductions",
       [](const StoreListing& store) { return jsonOf(store.reductions); },
       {"id", "graph", "status", "start_nodes", "best_nodes", "steps", "tests", "started_at", "fingerprint"}},
      {"repros",
       [](const StoreListing& store) { return jsonOf(store.repros); },
       {"id", "graph", "reduction", "nodes", "created_at", "path"}},
  };
  return table;
}

const std::vector<Part<CaptureIndex>>& captureParts() {
  static const std::vector<Part<CaptureIndex>> table = {
      {"compiles",
       [](const CaptureIndex& index) {
         return listOf(index.compiles, [&](const auto& row) { return compileRowJson(index, row); });
       },
       {}},
      {"graphs",
       [](const CaptureIndex& index) { return jsonOf(index.graphs); },
       {"id", "name", "nodes", "compile_id", "rank", "stage", "line"}},
      {"records",
       [](const CaptureIndex& index) {
         return listOf(index.records, [&](const auto& row) { return recordRowJson(index, row); });
       },
       {"id", "kind", "name", "compile_id", "rank", "line", "bytes", "form"}},
  };
  return table;
}

std::string cell(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_float()) return fmt::format("{:.2f}", value.get<double>());
  return value.is_null() ? "" : value.dump();
}

template <class Holder>
void printPart(const Part<Holder>& part, const Json& rows, bool heading) {
  if (heading) fmt::print("{}: {}\n", part.name, rows.size());
  if (rows.empty()) {
    if (!heading) fmt::print("no {}\n", part.name);
    return;
  }
  TextTable table(part.columns);
  for (const auto& row : rows) {
    std::vector<std::string> cells;
    for (const auto& column : part.columns) cells.push_back(cell(row[column]));
    table.add(std::move(cells));
  }
  fmt::print("{}", table.text());
}

Result<int> listStore(Context& context, const std::string& wanted) {
  KERF_TRY(const auto listing, context.perform(StoreRequest{wanted}));
  Json object{{"store", listing.store}};
  for (const auto& part : storeParts()) {
    if (!wanted.empty() && wanted != part.name) continue;
    auto rows = part.list(listing);
    if (!context.json) printPart(part, rows, wanted.empty());
    object[std::string(part.name)] = std::move(rows);
  }
  if (context.json) printJson(object);
  return 0;
}

std::string timelineText(const TimelineSummary& summary) {
  if (summary.events == 0) return "no timeline\n";
  const auto micros = [](std::int64_t count) { return durationText(std::chrono::microseconds(count)); };
  TextTable table({"event", "count", "self", "total", "longest"});
  for (const auto& total : summary.totals)
    table.add({total.name, std::to_string(total.count), micros(total.selfUs), micros(total.totalUs),
               micros(total.longestUs)});
  return fmt::format("{} in {}\n{}", counted(summary.events, "event"), micros(summary.spanUs), table.text());
}

Result<int> listTimeline(Context& context, const std::string& capture) {
  KERF_TRY(const auto summary, context.perform(TimelineRequest{capture}));
  if (context.json)
    printJson({{"capture", capture}, {"timeline", jsonOf(summary)}});
  else
    fmt::print("{}", timelineText(summary));
  return 0;
}

Result<int> listCapture(Context& context, const std::string& wanted, const std::string& capture) {
  if (wanted == "timeline") return listTimeline(context, capture);
  KERF_TRY(const auto index, context.perform(IndexRequest{capture}));
  Json object{{"capture", capture}};
  for (const auto& part : captureParts()) {
    if (!wanted.empty() && wanted != part.name) continue;
    auto rows = part.list(index);
    if (!context.json && part.name == "compiles")
      fmt::print("{}\n{}", headline(index), compileTree(index));
    else if (!context.json && (!wanted.empty() || part.name != "graphs"))
      printPart(part, rows, wanted.empty());
    object[std::string(part.name)] = std::move(rows);
  }
  if (context.json) printJson(object);
  return 0;
}

bool isPart(const std::string& kind) {
  return kind == "timeline" || std::ranges::any_of(captureParts(), [&](const auto& part) { return part.name == kind; });
}

Result<int> runLs(Context& context, const std::string& wanted, const std::string& capture) {
  const bool isKind = std::ranges::any_of(storeParts(), [&](const auto& part) { return part.name == wanted; });
  if (capture.empty() && (wanted.empty() || isKind)) return listStore(context, wanted);
  if (capture.empty() && !isPart(wanted)) return listCapture(context, {}, wanted);
  if (capture.empty())
    return fail(ErrorCode::BadUsage, "`kerf ls {}` needs a capture, as in `kerf ls {} c3`", wanted, wanted);
  if (isPart(wanted)) return listCapture(context, wanted, capture);
  return fail(ErrorCode::BadUsage, "a capture has compiles, graphs, records and a timeline, not {}", wanted);
}

}  // namespace

void addLs(CommandLine& line) {
  auto& command = line.add("ls", "List the contents of the store, or of one capture",
                           "  kerf ls\n"
                           "  kerf ls runs --json\n"
                           "  kerf ls c3\n"
                           "  kerf ls compiles c3\n"
                           "  kerf ls records trace.log\n"
                           "  kerf ls timeline c3");
  auto wanted = std::make_shared<std::string>(), capture = std::make_shared<std::string>();
  command.add_option(
      "KIND", *wanted,
      "captures, graphs, runs, reductions or repros; for one capture compiles, graphs, records or timeline (default: "
      "all)");
  command.add_option("CAPTURE", *capture, "Store id (c3) or path");
  line.onRun(command, [wanted, capture](Context& context) { return runLs(context, *wanted, *capture); });
}

}  // namespace kerf::cli
