// kerf shard GRAPH --mesh N: one graph per rank, with collectives.
#include <algorithm>
#include <filesystem>

#include <fmt/ranges.h>

#include "app/cli/commands.h"
#include "app/cli/json_forms.h"
#include "app/cli/options.h"
#include "app/cli/output_file.h"
#include "app/cli/rank_runs.h"
#include "app/cli/text_table.h"
#include "app/workbench/protocol/rank_files.h"

namespace kerf::cli {

namespace {

struct ShardCommand {
  ShardRequest request;
  std::string mesh, why, output;
};

void printMoves(const ShardedNodeDoc& node) {
  for (const auto& moved : node.moved)
    fmt::print("  an operand goes from {} to {}: {:.1f} us\n", moved.from, moved.to, moved.cost);
}

/// Where a node's placement comes from.
Result<int> printWhy(const ShardedGraphDoc& doc, const std::string& name) {
  const auto found = std::ranges::find(doc.nodes, name, &ShardedNodeDoc::name);
  if (found == doc.nodes.end()) return fail(ErrorCode::NotFound, "the graph has no node '{}' with a placement", name);
  if (found->calls.empty()) {
    fmt::print("{} is an input, placed as {}\n", name, found->placements);
    return 0;
  }
  fmt::print("{} = {} is placed as {}\n", name, found->target, found->placements);
  fmt::print("  it runs {} on parts\n", fmt::join(found->calls, ", "));
  printMoves(*found);
  if (found->moved.empty())
    fmt::print("  its operands stay where they are: of all strategies this one moves nothing\n");
  else
    fmt::print("  of all strategies this one moves least: {:.1f} us in all\n", found->cost);
  return 0;
}

void printShard(const ShardedGraphDoc& doc) {
  TextTable table({"node", "placements", "moved", "cost"});
  for (const auto& node : doc.nodes) {
    std::vector<std::string> moves;
    for (const auto& moved : node.moved) moves.push_back(moved.from + " -> " + moved.to);
    table.add({node.name, node.placements, fmt::format("{}", fmt::join(moves, ", ")),
               node.cost > 0 ? fmt::format("{:.1f} us", node.cost) : std::string()});
  }
  fmt::print("{}", table.text());
  std::vector<std::string> collectives;
  for (const auto& row : doc.collectives) collectives.push_back(fmt::format("{} x{}", row.op, row.calls));
  fmt::print("collectives of a rank: {}\n",
             collectives.empty() ? "none" : fmt::format("{}", fmt::join(collectives, ", ")));
  fmt::print("outputs: {}\n", fmt::join(doc.outputs, ", "));
  if (doc.isRun)
    fmt::print("values: largest difference between {} simulated ranks and the whole graph {:.3g}\n", doc.ranks.size(),
               doc.difference);
  else
    fmt::print("not run: {}\n", doc.notRun);
}

Result<void> writeGraphs(const ShardedGraphDoc& doc, const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  for (std::size_t rank = 0; rank < doc.ranks.size(); ++rank)
    KERF_CHECK(
        emit(doc.ranks[rank] + "\n", (std::filesystem::path(folder) / fmt::format("rank{}.txt", rank)).string()));
  Json sharding = jsonOf(doc);
  for (const char* key : {"ranks", "is_run", "difference", "not_run"}) sharding.erase(key);
  return emit(sharding.dump(2) + "\n", (std::filesystem::path(folder) / shardingFile).string());
}

Result<int> runShard(Context& context, ShardCommand command) {
  KERF_TRY(command.request.mesh, meshSizes(command.mesh));
  KERF_TRY(const ShardedGraphDoc doc, context.perform(command.request));
  if (!command.output.empty()) KERF_CHECK(writeGraphs(doc, command.output));
  if (context.json)
    printJson(jsonOf(doc));
  else if (!command.why.empty())
    return printWhy(doc, command.why);
  else
    printShard(doc);
  return 0;
}

}  // namespace

void addShard(CommandLine& line) {
  auto& command = line.add("shard", "Shard a graph over a mesh of ranks: one graph per rank, with collectives",
                           "  kerf shard model.pt2 --mesh 4 --placement x=S0\n"
                           "  kerf shard layer.txt --mesh 2,2 --placement w=R,S1 --why mm\n"
                           "  kerf shard layer.txt --mesh 4 --placement x=S0 -o ranks");
  auto options = std::make_shared<ShardCommand>();
  command.add_option("GRAPH", options->request.graph.text, "Path or store id of a graph")->required();
  command.add_option("--mesh", options->mesh, "Sizes of the mesh: 4, or 2,2")->type_name("SIZES")->required();
  command
      .add_option("--placement", options->request.placements,
                  "Placement of an input, one for each dimension of the mesh: x=S0, w=R,S1 (repeatable). Default: R")
      ->type_name("INPUT=P")
      ->allow_extra_args(false);
  command.add_option("--why", options->why, "Where the placement of a node comes from")->type_name("NODE");
  command.add_flag("--gather", options->request.wholeOutputs, "Gather the results on every rank");
  command
      .add_option(
          "-o,--output", options->output,
          "Folder for the graph of each rank (rank0.txt, …), and for sharding.json, which says how they are placed")
      ->type_name("DIR");
  line.onRun(command, [options](Context& context) { return runShard(context, *options); });
}

}  // namespace kerf::cli
