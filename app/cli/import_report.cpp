#include "app/cli/import_report.h"

#include <algorithm>

#include <fmt/ranges.h>

#include "app/cli/text_table.h"

namespace kerf::cli {

namespace {

constexpr std::size_t shownGraphs = 12, shownOps = 4;

void printUnknown(const std::vector<std::string>& ops, bool verbose) {
  if (ops.empty()) return;
  const auto shown = verbose ? ops.size() : std::min(ops.size(), shownOps);
  const auto more = shown < ops.size() ? fmt::format(" and {} more", ops.size() - shown) : "";
  fmt::print("    unknown {}: {}{}\n", ops.size() == 1 ? "op" : "ops",
             fmt::join(ops.begin(), ops.begin() + std::ptrdiff_t(shown), ", "), more);
}

void printGraph(const ImportedGraph& graph, bool verbose) {
  fmt::print("  {}  {}", graph.id, graph.name);
  if (graph.nodes >= 0) {
    fmt::print(": {}, {}, {}", counted(graph.nodes, "node"), counted(graph.inputs, "input"),
               counted(graph.storages, "storage"));
  }
  fmt::print("\n");
  printUnknown(graph.unknownOps, verbose);
  if (!graph.missingStorages.empty()) {
    fmt::print("    {} missing: random data is used when the graph runs\n",
               counted(std::ssize(graph.missingStorages), "storage"));
  }
  for (const auto& name : graph.missingStorages)
    if (verbose) fmt::print("      storages/{}\n", name);
}

}  // namespace

void printImported(const ImportedCapture& capture, bool verbose) {
  fmt::print("{}  {}  {}{}\n", capture.id, capture.path, capture.kind,
             capture.torchVersion.empty() ? "" : "  torch " + capture.torchVersion);
  if (capture.records > 0) {
    fmt::print("  {}, {}, {}\n", counted(capture.compiles, "compile id"), counted(std::ssize(capture.graphs), "graph"),
               counted(capture.records, "record"));
  }
  const auto shown = verbose ? capture.graphs.size() : std::min(capture.graphs.size(), shownGraphs);
  for (std::size_t i = 0; i < shown; ++i) printGraph(capture.graphs[i], verbose);
  if (shown < capture.graphs.size())
    fmt::print("  and {} more (`kerf ls graphs {}`)\n", capture.graphs.size() - shown, capture.id);
  for (const auto& note : capture.notes) fmt::print("  note: {}\n", note);
}

}  // namespace kerf::cli
