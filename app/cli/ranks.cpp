// kerf ranks FOLDER: traces of several ranks beside each other.
#include <cmath>

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

std::string graphsText(const RanksDoc& doc) {
  if (doc.comparedGraphs == 0) return "no graphs: flight records say what was issued";
  if (doc.graphs.empty()) return "every graph the same";
  return counted(std::int64_t(doc.graphs.size()), "graph") + " not the same on all ranks";
}

void printRanks(const RanksDoc& doc) {
  fmt::print("{}: {} {}, {}\n", ranksName(doc.ranks), doc.timeline.size(),
             doc.timeline.size() == 1 ? "collective" : "collectives", graphsText(doc));
  if (!doc.absent.empty()) fmt::print("{}: no file, nothing is known\n", ranksName(doc.absent));
  for (const auto& log : doc.torn)
    fmt::print("rank {}'s log ({}) ends {}: nothing is known of what comes then\n", log.rank, log.file,
               log.compileId.empty() ? fmt::format("in the middle, after line {}", log.line)
                                     : "while it compiles " + log.compileId);
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
  if (doc.uncomparedMessages > 0)
    fmt::print("{} not compared: the other end is in no record, or its record no longer holds its first entries\n",
               counted(doc.uncomparedMessages, "message"));
  for (const auto& culprit : doc.culprits) {
    if (culprit.isUnfinished)
      fmt::print("collective {} of {}, {}, does not end: {} wait{} in it\n", culprit.number, culprit.group,
                 culprit.collective, ranksName(culprit.waiting), culprit.waiting.size() == 1 ? "s" : "");
    else
      fmt::print("{} {} {} where {} wait{} in collective {} of {}, {}\n", ranksName(culprit.ranks),
                 culprit.ranks.size() == 1 ? "issues" : "issue", culprit.mismatch, ranksName(culprit.waiting),
                 culprit.waiting.size() == 1 ? "s" : "", culprit.number, culprit.group, culprit.collective);
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
  if (!doc.graphs.empty() || !doc.culprits.empty()) return 1;
  return doc.torn.empty() ? 0 : 2;  // what is there is the same, and not all is there
}

void printTrained(const TrainedExample& done) {
  fmt::print("{} ranks {}, images of {} in {}: one step in {}\n", done.ranks,
             done.overMpi ? "over MPI" : "in one process", fmt::join(done.images, " x "), done.dtype,
             durationText(done.time));
  std::vector<std::string> collectives;
  for (const auto& row : done.collectives) collectives.push_back(fmt::format("{} x{}", row.op, row.calls));
  fmt::print("loss {:.9g}, gradients of {} parameters; collectives of a rank: {}\n", done.loss, done.parameters,
             collectives.empty() ? "none" : fmt::format("{}", fmt::join(collectives, ", ")));
  if (done.isCompared)
    fmt::print("one rank: loss {:.9g}; gradients differ by {:.2g} of their largest values\n", done.wholeLoss,
               done.gradientDifference);
}

/// Loss and gradients are those of one rank (exit 1 if not).
bool isTrainedRight(const TrainedExample& done) {
  if (!done.isCompared) return true;
  const double most = done.dtype == "f64" ? 1e-9 : 1e-4;
  return std::abs(done.loss - done.wholeLoss) <= most * std::max(1.0, std::abs(done.wholeLoss)) &&
         done.gradientDifference <= most;
}

Result<int> runTraining(Context& context, const TrainExampleRequest& request) {
  KERF_TRY(const TrainedExample done, context.perform(request));
  if (done.rank == 0 && context.json)
    printJson(jsonOf(done));
  else if (done.rank == 0)
    printTrained(done);
  return isTrainedRight(done) ? 0 : 1;
}

}  // namespace

void addRanks(CommandLine& line) {
  auto& command = line.add(
      "ranks",
      "Compare the traces of several ranks: graphs, collectives, who waits for whom (exit 1 if they differ, 2 if a log "
      "ends in the middle)",
      "  kerf ranks traces\n"
      "  kerf ranks traces --json\n"
      "  kerf ranks --train convnext\n"
      "  mpirun -n 4 kerf ranks --train convnext --dtype f64");
  auto request = std::make_shared<RanksRequest>();
  auto training = std::make_shared<TrainExampleRequest>();
  training->example.clear();
  command.add_option("FOLDER", request->path,
                     "Folder with a TORCH_TRACE log of each rank (rank0.log, rank1.log.gz, …)");
  command
      .add_option("--train", training->example,
                  "Train one step of the bundled example instead, on ranks of this process or on those of mpirun, and "
                  "compare it with one rank (exit 1 if they differ): convnext")
      ->type_name("EXAMPLE")
      ->excludes("FOLDER");
  command.add_option("--ranks", training->ranks, "Ranks of this process")
      ->check(CLI::Range(1, 64))
      ->capture_default_str()
      ->needs("--train");
  command.add_option("--dtype", training->dtype, "f32 or f64")
      ->check(CLI::IsMember({"f32", "f64"}))
      ->capture_default_str()
      ->needs("--train");
  command.add_flag("--full", training->isFull, "The sizes of PyTorch's example, which take tens of gigabytes")
      ->needs("--train");
  line.onRun(command, [request, training](Context& context) -> Result<int> {
    if (!training->example.empty()) return runTraining(context, *training);
    if (request->path.empty()) return fail(ErrorCode::BadUsage, "give a folder of traces, or an example to train");
    return runRanksCommand(context, *request);
  });
}

}  // namespace kerf::cli
