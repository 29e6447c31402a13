// kerf ranks FOLDER: traces of several ranks beside each other.
#include <fmt/ranges.h>

#include "app/cli/commands.h"
#include "app/cli/json_forms.h"
#include "app/cli/text_table.h"

namespace kerf::cli {

namespace {

std::string ranksName(const std::vector<int>& ranks) {
  return fmt::format("rank{} {}", ranks.size() == 1 ? "" : "s", fmt::join(ranks, ", "));
}

void printGroups(const std::vector<RankGroupDoc>& groups) {
  for (const auto& group : groups) fmt::print("    {}: {}\n", ranksName(group.ranks), group.what);
}

void printRanks(const RanksDoc& doc) {
  fmt::print("{}: {} {}, {}\n", ranksName(doc.ranks), doc.timeline.size(),
             doc.timeline.size() == 1 ? "collective" : "collectives",
             doc.graphs.empty() ? std::string("every graph the same")
                                : counted(std::int64_t(doc.graphs.size()), "graph") + " not the same on all ranks");
  for (const auto& graph : doc.graphs) {
    if (graph.index < 0)
      fmt::print("{} {}: not on all ranks\n", graph.compileId, graph.stage);
    else
      fmt::print("{} {}: node {} differs first\n", graph.compileId, graph.stage, graph.index);
    printGroups(graph.groups);
  }
  if (!doc.timeline.empty()) fmt::print("collectives:\n");
  for (const auto& row : doc.timeline) {
    if (row.groups.size() == 1) {
      fmt::print("  {} {} {}\n", row.number, row.compileId, row.groups[0].what);
      continue;
    }
    fmt::print("  {} {} differs\n", row.number, row.compileId);
    printGroups(row.groups);
  }
  for (const auto& culprit : doc.culprits) {
    fmt::print("{} {} {} where {} wait{} in collective {}, {}\n", ranksName(culprit.ranks),
               culprit.ranks.size() == 1 ? "issues" : "issue", culprit.mismatch, ranksName(culprit.waiting),
               culprit.waiting.size() == 1 ? "s" : "", culprit.number, culprit.collective);
    fmt::print("  done last:\n");
    printGroups(culprit.lastDone);
  }
}

Result<int> runRanksCommand(Context& context, const RanksRequest& request) {
  KERF_TRY(const RanksDoc doc, context.perform(request));
  if (context.json)
    printJson(jsonOf(doc));
  else
    printRanks(doc);
  return doc.graphs.empty() && doc.culprits.empty() ? 0 : 1;
}

}  // namespace

void addRanks(CommandLine& line) {
  auto& command = line.add(
      "ranks", "Compare the traces of several ranks: graphs, collectives, who waits for whom (exit 1 if they differ)",
      "  kerf ranks traces\n"
      "  kerf ranks traces --json");
  auto request = std::make_shared<RanksRequest>();
  command
      .add_option("FOLDER", request->path, "Folder with a TORCH_TRACE log of each rank (rank0.log, rank1.log.gz, …)")
      ->required();
  line.onRun(command, [request](Context& context) { return runRanksCommand(context, *request); });
}

}  // namespace kerf::cli
