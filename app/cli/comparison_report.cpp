#include "app/cli/comparison_report.h"

#include <algorithm>
#include <map>

#include "app/cli/options.h"
#include "app/cli/text_table.h"

namespace kerf::cli {

namespace {

constexpr std::size_t shownNodes = 10;

Json outputJson(const OutputRow& row) {
  return {{"name", row.name},
          {"same", row.same},
          {"reason", row.reason},
          {"max_abs_error", number(row.error)},
          {"ratio_to_limit", number(row.ratio)},
          {"rmse_res", number(row.rmseRes)},
          {"rmse_ref", number(row.rmseRef)},
          {"multiplier", number(row.multiplier)},
          {"nan_ref", row.nanRef},
          {"nan_res", row.nans},
          {"inf_ref", row.infRef},
          {"inf_res", row.infs}};
}

Json nodeJson(const NodeRow& row) {
  return {{"node", row.node},
          {"target", row.target},
          {"same", row.same},
          {"first_bad", row.firstBad},
          {"max_abs_error", number(row.error)},
          {"ratio_to_limit", number(row.ratio)},
          {"rmse_res", number(row.rmseRes)},
          {"rmse_ref", number(row.rmseRef)}};
}

void printNodes(const Comparison& comparison, bool all) {
  TextTable table({"node", "target", "ratio to limit", "max abs error", "RMSE", "fp32 RMSE", "verdict"});
  std::size_t shown = 0;
  for (const auto& node : comparison.nodes) {
    if (!all && (node.same || shown == shownNodes)) break;
    ++shown;
    table.add({node.node, node.target, figure(node.ratio), figure(node.error), figure(node.rmseRes),
               figure(node.rmseRef),
               node.firstBad ? "FIRST BAD"
               : node.same   ? "same"
                             : "different"});
  }
  const auto bad = std::ranges::count(comparison.nodes, false, &NodeRow::same);
  fmt::print("\n{} of {} differ{}\n", bad, counted(std::ssize(comparison.nodes), "node"),
             comparison.nodesNote.empty() ? "" : " (" + comparison.nodesNote + ")");
  if (shown > 0) fmt::print("{}", table.text());
  if (!comparison.nodesFailure.empty()) fmt::print("nodes: {}\n", comparison.nodesFailure);
}

void printOutputs(const std::vector<OutputRow>& outputs) {
  TextTable table({"output", "verdict", "max abs error", "ratio to limit", "RMSE(fp64, compiled)",
                   "RMSE(fp64, interpreter)", "NaN", "inf"});
  for (const auto& row : outputs) {
    table.add({row.name, row.same ? "same" : "DIFFERENT", figure(row.error), figure(row.ratio), figure(row.rmseRes),
               figure(row.rmseRef), std::to_string(row.nans), std::to_string(row.infs)});
  }
  if (!outputs.empty()) fmt::print("{}", table.text());
  for (const auto& row : outputs)
    if (!row.same) fmt::print("{}: {}\n", row.name, row.reason);
}

}  // namespace

Json comparisonJson(const CompareRequest& request, const Comparison& comparison) {
  Json outputs = Json::array();
  for (const auto& row : comparison.outputs) outputs.push_back(outputJson(row));
  Json object{{"graph", request.graph.text},      {"run", orNull(comparison.run)},
              {"backend", request.backend},       {"plant", request.plants},
              {"tolerance", request.tolerance},   {"same", comparison.good()},
              {"failure", comparison.failure},    {"have_fp64", comparison.haveFp64},
              {"fp64_note", comparison.fp64Note}, {"elapsed_ms", milliseconds(comparison.time)},
              {"outputs", std::move(outputs)}};
  if (!comparison.symbols.empty())
    object["symbols"] = Json(std::map(comparison.symbols.begin(), comparison.symbols.end()));
  if (request.depth == CompareRequest::Depth::Outputs) return object;
  object["nodes"] = Json::array();
  for (const auto& row : comparison.nodes) object["nodes"].push_back(nodeJson(row));
  object["first_bad"] = comparison.firstBad();
  object["nodes_failure"] = comparison.nodesFailure;
  return object;
}

void printComparison(const Comparison& comparison, CompareRequest::Depth depth, bool all) {
  printOutputs(comparison.outputs);
  fmt::print("{}", symbolLine(comparison.symbols));
  if (!comparison.failure.empty()) fmt::print("the compiled side failed: {}\n", comparison.failure);
  if (!comparison.haveFp64 && !comparison.fp64Note.empty()) fmt::print("no fp64 reference: {}\n", comparison.fp64Note);
  const bool nodes = !comparison.nodes.empty() || !comparison.nodesFailure.empty();
  if (depth == CompareRequest::Depth::Nodes && nodes) printNodes(comparison, all);
  for (const auto& name : comparison.firstBad()) fmt::print("first bad node: {}\n", name);
  const auto bad = std::ranges::count(comparison.outputs, false, &OutputRow::same);
  if (comparison.failure.empty()) {
    fmt::print("{}, {}\n", bad == 0 ? "all outputs are the same" : counted(bad, "output") + " different",
               durationText(comparison.time));
  }
}

std::string outputTable(const Comparison& comparison) {
  TextTable table({"output", "verdict", "max abs error", "ratio to limit", "RMSE compiled", "RMSE interpreter"});
  for (const auto& row : comparison.outputs) {
    table.add({row.name, row.same ? "same" : "DIFFERENT", figure(row.error), figure(row.ratio), figure(row.rmseRes),
               figure(row.rmseRef)});
  }
  return table.text();
}

}  // namespace kerf::cli
