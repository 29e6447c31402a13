// A comparison for people and for scripts.
#include "app/cli/compare_graph.h"
#include "app/cli/text_table.h"

namespace kerf::cli {

namespace {

constexpr std::size_t shownNodes = 10;

Json outputJson(const OutputVerdict& verdict) {
  return {{"name", verdict.name},
          {"same", verdict.same},
          {"reason", verdict.reason},
          {"max_abs_error", number(verdict.maxAbsError)},
          {"ratio_to_limit", number(verdict.ratioToLimit)},
          {"rmse_res", number(verdict.rmseRes)},
          {"rmse_ref", number(verdict.rmseRef)},
          {"multiplier", number(verdict.multiplier)},
          {"nan_ref", verdict.nanRef},
          {"nan_res", verdict.nanRes},
          {"inf_ref", verdict.infRef},
          {"inf_res", verdict.infRes}};
}

Json nodeJson(const NodeDivergence& node) {
  return {{"node", node.node},
          {"target", node.target},
          {"same", node.same},
          {"first_bad", node.firstBad},
          {"max_abs_error", number(node.maxAbsError)},
          {"ratio_to_limit", number(node.ratioToLimit)},
          {"rmse_res", number(node.rmseRes)},
          {"rmse_ref", number(node.rmseRef)}};
}

void printNodes(const NodeDivergenceReport& divergence, bool all) {
  const auto ranked = rankDivergence(divergence.nodes);
  TextTable table({"node", "target", "ratio to limit", "max abs error", "RMSE", "fp32 RMSE", "verdict"});
  std::size_t shown = 0;
  for (const auto index : ranked) {
    const auto& node = divergence.nodes[index];
    if (!all && (node.same || shown == shownNodes)) break;
    ++shown;
    table.add({node.node, node.target, figure(node.ratioToLimit), figure(node.maxAbsError), figure(node.rmseRes),
               figure(node.rmseRef),
               node.firstBad ? "FIRST BAD"
               : node.same   ? "same"
                             : "different"});
  }
  const auto bad = std::ranges::count_if(divergence.nodes, [](const NodeDivergence& node) { return !node.same; });
  fmt::print("\n{} of {} differ{}\n", bad, counted(std::ssize(divergence.nodes), "node"),
             divergence.fp64Note.empty() ? "" : " (" + divergence.fp64Note + ")");
  if (shown > 0) fmt::print("{}", table.text());
  if (!divergence.failure.empty()) fmt::print("nodes: {}\n", divergence.failure);
}

}  // namespace

Json compareJson(const std::string& graph, const CompareSettings& settings, const CompareOutcome& outcome) {
  Json outputs = Json::array();
  for (const auto& verdict : outcome.report.outputs) outputs.push_back(outputJson(verdict));
  Json object{{"graph", graph},
              {"run", outcome.runId ? Json(fmt::format("r{}", *outcome.runId)) : Json()},
              {"backend", settings.backend},
              {"plant", settings.plants},
              {"tolerance", settings.tolerance},
              {"same", outcome.good()},
              {"failure", outcome.report.failure},
              {"have_fp64", outcome.report.haveFp64},
              {"fp64_note", outcome.report.fp64Note},
              {"elapsed_ms", double(outcome.time.count()) / 1e6},
              {"outputs", std::move(outputs)}};
  if (!settings.nodes) return object;
  Json nodes = Json::array();
  for (const auto index : rankDivergence(outcome.divergence.nodes))
    nodes.push_back(nodeJson(outcome.divergence.nodes[index]));
  object["nodes"] = std::move(nodes);
  object["first_bad"] = outcome.firstBad();
  object["nodes_failure"] = outcome.divergence.failure;
  return object;
}

void printComparison(const CompareOutcome& outcome, bool allNodes) {
  const auto& report = outcome.report;
  TextTable table({"output", "verdict", "max abs error", "ratio to limit", "RMSE(fp64, compiled)",
                   "RMSE(fp64, interpreter)", "NaN", "inf"});
  for (const auto& verdict : report.outputs) {
    table.add({verdict.name, verdict.same ? "same" : "DIFFERENT", figure(verdict.maxAbsError),
               figure(verdict.ratioToLimit), figure(verdict.rmseRes), figure(verdict.rmseRef),
               std::to_string(verdict.nanRes), std::to_string(verdict.infRes)});
  }
  if (!report.outputs.empty()) fmt::print("{}", table.text());
  for (const auto& verdict : report.outputs) {
    if (!verdict.same) fmt::print("{}: {}\n", verdict.name, verdict.reason);
  }
  if (!report.failure.empty()) fmt::print("the compiled side failed: {}\n", report.failure);
  if (!report.haveFp64 && !report.fp64Note.empty()) fmt::print("no fp64 reference: {}\n", report.fp64Note);
  if (!outcome.divergence.nodes.empty() || !outcome.divergence.failure.empty())
    printNodes(outcome.divergence, allNodes);
  for (const auto& name : outcome.firstBad()) fmt::print("first bad node: {}\n", name);
  const auto bad = std::ranges::count_if(report.outputs, [](const OutputVerdict& verdict) { return !verdict.same; });
  if (report.failure.empty()) {
    fmt::print("{}, {}\n", bad == 0 ? "all outputs are the same" : counted(bad, "output") + " different",
               durationText(outcome.time));
  }
}

}  // namespace kerf::cli
