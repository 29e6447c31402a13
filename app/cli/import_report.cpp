#include "app/cli/import_report.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "app/cli/progress.h"
#include "app/cli/text_table.h"
#include "engine/ops/core/op_registry.h"

namespace kerf::cli {

namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t smallBytes = 4u << 20;
constexpr std::size_t shownGraphs = 12, shownOps = 4;

struct GraphFindings {
  std::set<std::string> unknownOps;
  std::vector<std::string> missingStorages;
};

class NoSubgraphs : public SubgraphCaller {
  Result<Value> callSubgraph(std::string_view path, const ValueList&) const override {
    return fail(ErrorCode::NotFound, "{} is not here", path);
  }
};

/// Rows of the op table, and what graphs call beside those: Python's own functions, higher-order ops. A call without
/// arguments fails either way, but only an unknown one as UnsupportedOp.
bool isKnown(const std::string& target) {
  if (findOp(target) != nullptr) return true;
  const bool nested = target.starts_with("torch.ops.higher_order.");
  const auto outcome =
      nested ? referenceOps().callHigherOrder(target, {}, {}, NoSubgraphs()) : referenceOps().call(target, {}, {});
  return outcome || outcome.error().code != ErrorCode::UnsupportedOp;
}

GraphFindings findingsOf(const CapturedGraph& captured) {
  GraphFindings found;
  const auto& graph = captured.module.graph;
  for (const auto id : graph.order()) {
    const auto& node = graph.node(id);
    if (node.op() == Opcode::CallFunction) found.unknownOps.insert(node.target());
  }
  std::erase_if(found.unknownOps, isKnown);
  std::error_code ignored;
  for (const auto& storage : captured.storages) {
    const bool there =
        storage.data || storage.file || fs::is_regular_file(captured.storageDirectory / storage.hash, ignored);
    if (!storage.hash.empty() && !there) found.missingStorages.push_back(storage.hash);
  }
  return found;
}

Json graphJson(const CapturedGraph& graph, const std::string& id) {
  Json object{{"id", id}, {"name", graph.name}};
  const bool parsed = !graph.pending;
  object["nodes"] = parsed ? Json(graph.module.graph.size()) : Json();
  object["inputs"] = parsed ? Json(graph.module.graph.placeholders().size()) : Json();
  object["storages"] = parsed ? Json(graph.storages.size()) : Json();
  const auto found = parsed ? findingsOf(graph) : GraphFindings();
  object["unknown_ops"] = parsed ? Json(found.unknownOps) : Json();
  object["missing_storages"] = parsed ? Json(found.missingStorages) : Json();
  object["compile_id"] = graph.origin.compileId.empty() ? Json() : Json(graph.origin.compileId);
  object["rank"] = graph.origin.rank < 0 ? Json() : Json(graph.origin.rank);
  object["stage"] = graph.origin.stage.empty() ? Json() : Json(graph.origin.stage);
  object["line"] = graph.origin.line > 0 ? Json(graph.origin.line) : Json();
  return object;
}

std::string textOf(const Json& value) { return value.is_string() ? value.get<std::string>() : std::string(); }

void printUnknown(const Json& ops, bool verbose) {
  std::string names;
  std::size_t shown = 0;
  for (const auto& op : ops) {
    if (++shown > shownOps && !verbose) break;
    names += (names.empty() ? "" : ", ") + textOf(op);
  }
  if (ops.empty()) return;
  const auto more = ops.size() > shownOps && !verbose ? fmt::format(" and {} more", ops.size() - shownOps) : "";
  fmt::print("    unknown {}: {}{}\n", ops.size() == 1 ? "op" : "ops", names, more);
}

void printGraph(const Json& graph, bool verbose) {
  fmt::print("  {}  {}", textOf(graph["id"]), textOf(graph["name"]));
  if (graph["nodes"].is_number()) {
    fmt::print(": {}, {}, {}", counted(graph["nodes"], "node"), counted(graph["inputs"], "input"),
               counted(graph["storages"], "storage"));
  }
  fmt::print("\n");
  printUnknown(graph["unknown_ops"], verbose);
  const auto missing = graph["missing_storages"].size();
  if (missing > 0) {
    fmt::print("    {} missing: random data stands in when the graph runs\n",
               counted(std::int64_t(missing), "storage"));
  }
  for (const auto& name : graph["missing_storages"]) {
    if (verbose) fmt::print("      storages/{}\n", textOf(name));
  }
}

std::uintmax_t bytesOf(const Capture& capture) {
  std::error_code ignored;
  std::uintmax_t total = 0;
  for (const auto& file : capture.files) {
    const auto size = fs::file_size(file, ignored);
    if (!ignored) total += size;
  }
  return total;
}

}  // namespace

std::string_view formName(CaptureRecord::Form form) {
  constexpr std::array<std::string_view, 4> names{"none", "text", "json", "python"};
  return names.at(std::size_t(form));
}

Result<void> parseGraphs(Capture& capture, bool all, std::stop_token stop) {
  if (!all && bytesOf(capture) > smallBytes) return {};
  Progress progress;
  std::size_t done = 0;
  for (auto& graph : capture.graphs) {
    if (stop.stop_requested())
      return fail(ErrorCode::Cancelled, "stopped while reading the graphs of {}", capture.path.string());
    if (const auto loaded = graph.ensureLoaded(); !loaded)
      capture.notes.push_back(fmt::format("graph {} cannot be read: {}", graph.name, loaded.error().text()));
    progress.fraction("reading graphs", double(++done) / double(capture.graphs.size()));
  }
  return {};
}

Json importedJson(const Capture& capture, std::int64_t id) {
  Json graphs = Json::array();
  for (std::size_t i = 0; i < capture.graphs.size(); ++i)
    graphs.push_back(graphJson(capture.graphs[i], fmt::format("c{}/g{}", id, i + 1)));
  return {{"id", fmt::format("c{}", id)},
          {"path", capture.path.string()},
          {"kind", capture.kind},
          {"torch_version", capture.torchVersion},
          {"compiles", capture.details ? capture.details->compiles.size() : 0},
          {"records", capture.details ? capture.details->records.size() : 0},
          {"graphs", std::move(graphs)},
          {"notes", capture.notes}};
}

void printImported(const Json& capture, bool verbose) {
  fmt::print("{}  {}  {}{}\n", textOf(capture["id"]), textOf(capture["path"]), textOf(capture["kind"]),
             textOf(capture["torch_version"]).empty() ? "" : "  torch " + textOf(capture["torch_version"]));
  if (capture["records"] > 0) {
    fmt::print("  {}, {}, {}\n", counted(capture["compiles"], "compile id"),
               counted(std::int64_t(capture["graphs"].size()), "graph"), counted(capture["records"], "record"));
  }
  std::size_t shown = 0;
  for (const auto& graph : capture["graphs"]) {
    if (++shown > shownGraphs && !verbose) break;
    printGraph(graph, verbose);
  }
  if (shown > shownGraphs && !verbose)
    fmt::print("  and {} more (`kerf ls graphs {}`)\n", capture["graphs"].size() - shownGraphs, textOf(capture["id"]));
  for (const auto& note : capture["notes"]) fmt::print("  note: {}\n", textOf(note));
}

}  // namespace kerf::cli
