// kerf partition JOINT: what the forward part of a joint graph saves for its backward part, and why.
#include <algorithm>

#include <fmt/ranges.h>

#include "app/cli/commands.h"
#include "app/cli/numbers.h"
#include "app/cli/options.h"
#include "app/cli/output_file.h"
#include "app/cli/pareto_plot.h"
#include "app/cli/text_table.h"

namespace kerf::cli {

namespace {

struct PartitionCommand {
  PartitionRequest request;
  double budget = 1;
  bool pareto = false;
  std::string output;
};

constexpr int paretoSteps = 20;

/// What a value is saved for where no rule bans computing it again.
struct Reason {
  std::string_view name, text;
};
constexpr Reason reasons[] = {{"min_cut", "min-cut"},
                              {"forward", "used by the backward part"},
                              {"rng_state", "for a random call that is made again"}};

const Reason* reasonOf(const SavedValueDoc& value) {
  const auto found = std::ranges::find(reasons, value.rule, &Reason::name);
  return found == std::end(reasons) ? nullptr : &*found;
}

/// "banned" with the rule, or the reason.
Json cutJson(const SavedValueDoc& value) {
  const bool banned = reasonOf(value) == nullptr;
  return {{"name", value.name},
          {"value", value.value},
          {"bytes", value.bytes},
          {"why", banned ? "banned" : value.rule},
          {"rule", banned ? Json(value.rule) : Json()}};
}

Json partitionJson(const PartitionCommand& command, const PartitionReport& report) {
  const PartitionDoc& partition = report.partitions.front();
  Json saved = Json::array(), cut = Json::array();
  for (const SavedValueDoc& value : partition.saved) {
    saved.push_back(value.name);
    cut.push_back(cutJson(value));
  }
  for (const std::string& symbol : partition.symbols) saved.push_back(symbol);
  return {{"graph", command.request.graph.text},
          {"method", command.request.method},
          {"budget", partition.budget},
          {"knapsack", command.request.knapsack},
          {"estimator", command.request.estimator},
          {"saved", std::move(saved)},
          {"saved_bytes", partition.savedBytes},
          {"saved_symbols", partition.symbols},
          {"recomputed", partition.recomputed},
          {"recomputed_flops", number(partition.recomputedFlops)},
          {"forward_nodes", partition.forwardNodes},
          {"backward_nodes", partition.backwardNodes},
          {"cut", std::move(cut)},
          {"static_inputs", report.staticInputs},
          {"static_inputs_from", report.staticSource},
          {"elapsed_ms", milliseconds(partition.time)}};
}

std::string whyText(const SavedValueDoc& value) {
  const Reason* reason = reasonOf(value);
  return reason != nullptr ? std::string(reason->text) : "banned: " + value.rule;
}

void printPartition(const PartitionReport& report) {
  const PartitionDoc& partition = report.partitions.front();
  TextTable table({"saved", "value", "bytes", "why"});
  for (const SavedValueDoc& value : partition.saved)
    table.add({value.name, value.value, std::to_string(value.bytes), whyText(value)});
  for (const std::string& symbol : partition.symbols) table.add({symbol, "symbol", "", ""});
  fmt::print("{}\n", table.text());
  fmt::print("saved: {}, {}\n", counted(std::int64_t(partition.saved.size()), "value"),
             counted(partition.savedBytes, "byte"));
  fmt::print("computed again: {}{}{} ({})\n", counted(std::int64_t(partition.recomputed.size()), "call"),
             partition.recomputed.empty() ? "" : ": ", fmt::join(partition.recomputed, ", "),
             shortNumber(partition.recomputedFlops, "flop"));
  fmt::print("forward: {}, backward: {}\n", counted(partition.forwardNodes, "node"),
             counted(partition.backwardNodes, "node"));
}

Json paretoJson(const PartitionCommand& command, const PartitionReport& report) {
  Json points = Json::array();
  for (const PartitionDoc& point : report.partitions)
    points.push_back({{"budget", point.budget},
                      {"saved_bytes", point.savedBytes},
                      {"saved_values", point.saved.size()},
                      {"recomputed_calls", point.recomputed.size()},
                      {"recomputed_flops", number(point.recomputedFlops)},
                      {"elapsed_ms", milliseconds(point.time)}});
  return {{"graph", command.request.graph.text},
          {"knapsack", command.request.knapsack},
          {"estimator", command.request.estimator},
          {"static_inputs_from", report.staticSource},
          {"pareto", std::move(points)}};
}

void printPareto(const PartitionReport& report) {
  TextTable table({"budget", "saved values", "bytes", "calls again", "flops again", "time"});
  for (const PartitionDoc& point : report.partitions)
    table.add({fmt::format("{:.2f}", point.budget), std::to_string(point.saved.size()),
               std::to_string(point.savedBytes), std::to_string(point.recomputed.size()),
               fmt::format("{:.6g}", point.recomputedFlops), durationText(point.time)});
  fmt::print("{}", table.text());
}

Result<int> runPareto(Context& context, PartitionCommand command) {
  if (command.request.method != "min_cut")
    return fail(ErrorCode::BadUsage, "--pareto asks for several memory budgets, which only --method min_cut has");
  command.request.budgets.clear();
  for (int step = 0; step <= paretoSteps; ++step) command.request.budgets.push_back(double(step) / paretoSteps);
  KERF_TRY(const PartitionReport report, context.perform(command.request));
  if (!command.output.empty())
    KERF_CHECK(emit(paretoPlot(report.partitions, command.request.graph.text), command.output, EmitKind::Picture));
  if (context.json)
    printJson(paretoJson(command, report));
  else
    printPareto(report);
  return 0;
}

Result<void> writeGraphs(const PartitionDoc& partition, const std::string& folder) {
  std::error_code problem;
  std::filesystem::create_directories(folder, problem);
  if (problem) return fail(ErrorCode::Environment, "cannot make the folder {}: {}", folder, problem.message());
  KERF_CHECK(emit(partition.forward, folder + "/forward.txt"));
  return emit(partition.backward, folder + "/backward.txt");
}

Result<int> runPartition(Context& context, PartitionCommand command) {
  if (command.pareto) return runPareto(context, std::move(command));
  command.request.budgets = {command.budget};
  command.request.graphs = !command.output.empty();
  KERF_TRY(const PartitionReport report, context.perform(command.request));
  if (!command.output.empty()) KERF_CHECK(writeGraphs(report.partitions.front(), command.output));
  if (context.json)
    printJson(partitionJson(command, report));
  else
    printPartition(report);
  return 0;
}

}  // namespace

void addPartition(CommandLine& line) {
  auto& command = line.add("partition", "Split a joint graph into forward and backward, and list what is saved and why",
                           "  kerf partition trace.log#aot_joint_graph\n"
                           "  kerf partition model.pt2@stage:joint --budget 0.5 -o parts\n"
                           "  kerf partition joint.txt --static-inputs 6 --method default --json\n"
                           "  kerf partition model.pt2@stage:joint --pareto -o pareto.svg");
  auto options = std::make_shared<PartitionCommand>();
  PartitionRequest& request = options->request;
  command
      .add_option("JOINT", request.graph.text,
                  "Path or store id of a joint graph. X@stage:joint traces one from the forward graph X")
      ->required();
  auto* budget = command
                     .add_option("--budget", options->budget,
                                 "PyTorch's activation_memory_budget: from 0 (save only the inputs) to 1 (save what "
                                 "is best for run time)")
                     ->type_name("B")
                     ->capture_default_str();
  command
      .add_option("--method", request.method,
                  "min_cut: recompute what is cheap in the backward graph; default: save all that the backward graph "
                  "uses")
      ->check(CLI::IsMember({"min_cut", "default"}))
      ->capture_default_str();
  command.add_option("--knapsack", request.knapsack, "How to choose what to recompute for a budget between 0 and 1")
      ->check(CLI::IsMember({"dp", "greedy", "ilp"}))
      ->capture_default_str();
  command
      .add_option("--estimator", request.estimator,
                  "Cost of recomputing a call: flops (counted) or profile (measured on this machine)")
      ->check(CLI::IsMember({"flops", "profile"}))
      ->capture_default_str();
  command
      .add_option("--static-inputs", request.staticInputs,
                  "The first N primals are parameters and buffers, which are free to save. For graphs that do not "
                  "say so themselves")
      ->type_name("N")
      ->check(wholeBetween(0, 1'000'000'000));
  command
      .add_option("--policy", request.policies,
                  "Checkpoint policy of a node: NODE=must_save, prefer_save, must_recompute or prefer_recompute "
                  "(repeatable)")
      ->type_name("NODE=POLICY")
      ->allow_extra_args(false);
  command.add_flag("--pareto", options->pareto, "Show bytes saved and operations recomputed for 21 budgets")
      ->excludes(budget);
  command
      .add_option("-o,--output", options->output,
                  "Folder for forward.txt and backward.txt; with --pareto an .svg file for the plot")
      ->type_name("DIR|FILE");
  addSymbolOption(command, request.graph.symbols);
  line.onRun(command, [options](Context& context) { return runPartition(context, *options); });
}

}  // namespace kerf::cli
