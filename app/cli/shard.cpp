// kerf shard GRAPH --mesh N: one graph per rank, with collectives.
#include <algorithm>

#include <fmt/ranges.h>

#include "app/cli/commands.h"
#include "app/cli/json_forms.h"
#include "app/cli/options.h"
#include "app/cli/rank_runs.h"
#include "app/cli/text_table.h"
#include "app/workbench/protocol/rank_files.h"
#include "engine/support/atomic_files.h"

namespace kerf::cli {

namespace {

struct ShardCommand {
  ShardRequest request;
  std::string mesh, why, output;
};

std::string operandText(const MovedOperandDoc& moved) {
  const std::string source = moved.source.empty() ? "a value within the node" : moved.source;
  return moved.operand.empty() ? source : fmt::format("operand '{}', {},", moved.operand, source);
}

/// "x is an input, placed as [S(0)] by --placement x=S0".
std::string inputText(const ShardedNodeDoc& node, const std::vector<std::string>& placements) {
  for (const std::string& text : placements)
    if (text.starts_with(node.name + "="))
      return fmt::format("{} is an input, placed as {} by --placement {}", node.name, node.placements, text);
  return fmt::format("{} is an input, placed as {}: no --placement names it", node.name, node.placements);
}

std::string placedText(const ShardedNodeDoc& node, const std::vector<std::string>& placements) {
  if (node.target == "placeholder") return inputText(node, placements);
  return fmt::format("{} = {} is placed as {}", node.name, node.target, node.placements);
}

/// The strategy of a node, what it moves, and what else there was.
void printStrategy(const ShardedNodeDoc& node) {
  if (node.target == "placeholder") return;
  if (node.calls.empty()) {
    fmt::print("  it is placed as what it takes: {}\n", fmt::join(node.inputs, ", "));
    return;
  }
  fmt::print("  it runs {} on parts\n", fmt::join(node.calls, ", "));
  for (const auto& moved : node.moved)
    fmt::print("  {} goes from {} to {}: {:.1f} us\n", operandText(moved), moved.from, moved.to, moved.cost);
  if (node.moved.empty())
    fmt::print("  its operands stay where they are: of all strategies this one moves nothing\n");
  else
    fmt::print("  of all strategies this one moves least: {:.1f} us in all\n", node.cost);
  for (const auto& other : node.others)
    fmt::print("  instead of {} from {} to {}: {:.1f} us\n", other.call, other.inputs, other.outputs, other.cost);
}

/// The nodes that a node takes, and those that they take, the nearest first.
std::vector<const ShardedNodeDoc*> sourcesOf(const ShardedGraphDoc& doc, const ShardedNodeDoc& node) {
  std::vector<const ShardedNodeDoc*> sources{&node};
  for (std::size_t at = 0; at < sources.size(); ++at)
    for (const std::string& name : sources[at]->inputs) {
      const auto found = std::ranges::find(doc.nodes, name, &ShardedNodeDoc::name);
      if (found != doc.nodes.end() && std::ranges::find(sources, &*found) == sources.end()) sources.push_back(&*found);
    }
  sources.erase(sources.begin());
  return sources;
}

/// Where a node's placement comes from, back to the inputs.
Result<int> printWhy(const ShardedGraphDoc& doc, const std::string& name, const std::vector<std::string>& placements) {
  constexpr std::size_t mostSources = 50;
  const auto found = std::ranges::find(doc.nodes, name, &ShardedNodeDoc::name);
  if (found == doc.nodes.end()) return fail(ErrorCode::NotFound, "the graph has no node '{}' with a placement", name);
  fmt::print("{}\n", placedText(*found, placements));
  printStrategy(*found);
  const auto sources = sourcesOf(doc, *found);
  if (!sources.empty()) fmt::print("  it comes from:\n");
  for (std::size_t i = 0; i < std::min(sources.size(), mostSources); ++i) {
    fmt::print("    {}\n", placedText(*sources[i], placements));
    for (const auto& moved : sources[i]->moved)
      fmt::print("      {} goes from {} to {}: {:.1f} us\n", operandText(moved), moved.from, moved.to, moved.cost);
  }
  if (sources.size() > mostSources) fmt::print("    and {} more\n", sources.size() - mostSources);
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

/// The graphs of all ranks, or nothing.
Result<void> writeGraphs(const ShardedGraphDoc& doc, const std::string& folder) {
  std::vector<std::string> names;
  for (std::size_t rank = 0; rank < doc.ranks.size(); ++rank) names.push_back(fmt::format("rank{}.txt", rank));
  KERF_CHECK(checkOnlyRankFiles(folder, names));
  KERF_TRY(AtomicFiles files, AtomicFiles::in(folder));
  for (std::size_t rank = 0; rank < doc.ranks.size(); ++rank)
    KERF_CHECK(files.addText(names[rank], doc.ranks[rank] + "\n"));
  Json sharding = jsonOf(doc);
  for (const char* key : {"ranks", "is_run", "difference", "not_run"}) sharding.erase(key);
  KERF_CHECK(files.addText(shardingFile, sharding.dump(2) + "\n"));
  return files.commit();
}

Result<int> runShard(Context& context, ShardCommand command) {
  KERF_TRY(command.request.mesh, meshSizes(command.mesh));
  KERF_TRY(const ShardedGraphDoc doc, context.perform(command.request));
  if (!command.output.empty()) KERF_CHECK(writeGraphs(doc, command.output));
  if (context.json)
    printJson(jsonOf(doc));
  else if (!command.why.empty())
    return printWhy(doc, command.why, command.request.placements);
  else
    printShard(doc);
  return 0;
}

}  // namespace

void addShard(CommandLine& line) {
  auto& command = line.add("shard", "Shard a graph over a mesh of ranks: one graph per rank, with collectives",
                           "  kerf shard model.pt2 --mesh 4 --placement x=S0\n"
                           "  kerf shard layer.txt --mesh 2,2 --placement w=R,S1 --why mm\n"
                           "  kerf shard layer.txt --mesh 4 --placement x=S0 -o ranks\n"
                           "  kerf shard dynamic.txt --mesh 4 --placement x=S0 --sym s0=8");
  auto options = std::make_shared<ShardCommand>();
  command.add_option("GRAPH", options->request.graph.text, "Path or store id of a graph")->required();
  command.add_option("--mesh", options->mesh, "Sizes of the mesh: 4, or 2,2")->type_name("SIZES")->required();
  command
      .add_option("--placement", options->request.placements,
                  "Placement of an input, one for each dimension of the mesh: x=S0, w=R,S1 (repeatable). Default: R")
      ->type_name("INPUT=P")
      ->allow_extra_args(false);
  command
      .add_option("--why", options->why,
                  "Where the placement of a node comes from: its strategy, others with their costs, and what it takes, "
                  "back to the inputs")
      ->type_name("NODE");
  command.add_flag("--gather", options->request.wholeOutputs, "Gather the results on every rank");
  command
      .add_option(
          "-o,--output", options->output,
          "Folder for the graph of each rank (rank0.txt, …), and for sharding.json, which says how they are placed")
      ->type_name("DIR");
  addInputOptions(command, options->request.graph);
  addSymbolOption(command, options->request.graph.symbols);
  line.onRun(command, [options](Context& context) { return runShard(context, *options); });
}

}  // namespace kerf::cli
