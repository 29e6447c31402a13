#include "app/cli/comparison_report.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "app/cli/annotations_report.h"
#include "app/cli/json_forms.h"
#include "app/cli/options.h"
#include "app/cli/run_reports.h"
#include "app/cli/text_table.h"

namespace kerf::cli {

namespace {

constexpr std::size_t shownNodes = 10;

/// --torch-same: PyTorch's same() passes a result whose RMSE is NaN as the reference's is, wherever its NaN are and
/// however far its finite elements are off.
template <class Row>
bool passedByNan(const Row& row) {
  if (!row.same || row.ratioToLimit != 1 || !std::isnan(row.rmseRes) || !std::isnan(row.rmseRef)) return false;
  if constexpr (requires { row.nanRes; })
    if (row.nanRes != row.nanRef || row.infRes != row.infRef) return true;
  return row.finite > 0 && row.maxAbsError > 0;
}

std::string verdictOf(const NodeDivergence& row) {
  if (row.firstBad) return "FIRST BAD";
  if (!row.same) return "different";
  if (passedByNan(row)) return "same only by NaN";
  return row.nothingFinite() ? "no finite element" : "same";
}

/// Nodes that agree because there is nothing but NaN and infinities to compare.
std::string emptyNodesText(const std::vector<NodeDivergence>& nodes) {
  const auto empty =
      std::ranges::count_if(nodes, [](const NodeDivergence& row) { return row.same && row.nothingFinite(); });
  return empty > 0 ? fmt::format("; no finite element was compared in {}", counted(empty, "node")) : std::string();
}

void printNodes(const Comparison& comparison, bool all) {
  TextTable table({"node", "target", "ratio to limit", "max abs error", "RMSE", "fp32 RMSE", "verdict"});
  std::size_t shown = 0;
  for (const auto& node : comparison.nodes) {
    if (!all && (node.same || shown == shownNodes)) break;
    ++shown;
    table.add({node.node, node.target, figure(node.ratioToLimit), figure(node.maxAbsError), figure(node.rmseRes),
               figure(node.rmseRef), verdictOf(node)});
  }
  const auto bad = std::ranges::count(comparison.nodes, false, &NodeDivergence::same);
  fmt::print("\n{} of {} differ{}{}\n", bad, counted(std::ssize(comparison.nodes), "node"),
             comparison.nodesNote.empty() ? "" : " (" + comparison.nodesNote + ")", emptyNodesText(comparison.nodes));
  if (shown > 0) fmt::print("{}", table.text());
  if (!comparison.nodesFailure.empty()) fmt::print("nodes: {}\n", comparison.nodesFailure);
  if (!comparison.nestedNote.empty()) fmt::print("nodes: {}\n", comparison.nestedNote);
}

/// "1 output and 8 mutated inputs different".
std::string differencesText(const std::vector<OutputVerdict>& outputs) {
  struct Noun {
    ResultKind kind;
    std::string text;
  };
  const Noun nouns[] = {{ResultKind::Output, "output"},
                        {ResultKind::Mutation, "mutated value"},
                        {ResultKind::Alias, "alias row"},
                        {ResultKind::Strides, "layout"}};
  std::vector<std::string> parts;
  for (const auto& [kind, text] : nouns) {
    const auto bad =
        std::ranges::count_if(outputs, [&](const OutputVerdict& row) { return !row.same && row.kind == kind; });
    if (bad > 0) parts.push_back(counted(bad, text));
  }
  return fmt::format("{} different", fmt::join(parts, ", "));
}

/// What agrees, and what that is worth.
std::string sameText(const std::vector<OutputVerdict>& outputs) {
  if (outputs.empty())
    return "nothing to compare: both sides ran, but the graph has no outputs and writes into no input";
  std::string text = "all outputs are the same";
  const auto mutated = std::ranges::count(outputs, ResultKind::Mutation, &OutputVerdict::kind);
  if (mutated > 0) text += fmt::format(", and so {}", counted(mutated, "mutated value"));
  const auto empty = std::ranges::count_if(outputs, &OutputVerdict::nothingFinite);
  if (empty > 0) text += fmt::format("; no finite element was compared in {} of them", empty);
  const auto excused = std::ranges::count_if(outputs, passedByNan<OutputVerdict>);
  if (excused > 0) text += fmt::format("; {} passed only because PyTorch's rule accepts NaN: elements differ", excused);
  return text;
}

void printOutputs(const std::vector<OutputVerdict>& outputs) {
  TextTable table({"output", "verdict", "max abs error", "ratio to limit", "RMSE(fp64, compiled)",
                   "RMSE(fp64, interpreter)", "NaN", "inf"});
  for (const auto& row : outputs) {
    const bool hasValues = row.kind == ResultKind::Output || row.kind == ResultKind::Mutation;
    if (hasValues)
      table.add({row.name, verdictText(row), figure(row.maxAbsError), figure(row.ratioToLimit), figure(row.rmseRes),
                 figure(row.rmseRef), std::to_string(row.nanRes), std::to_string(row.infRes)});
    else
      table.add({row.name, verdictText(row), "", "", "", "", "", ""});
  }
  if (!outputs.empty()) fmt::print("{}", table.text());
  for (const auto& row : outputs)
    if (!row.same) fmt::print("{}: {}\n", row.name, row.reason);
}

/// Which result of which call an item of a tuple is; empty for other nodes.
std::string itemOfCall(const std::string& target) {
  return target.ends_with(']') ? fmt::format(" ({})", target) : std::string();
}

}  // namespace

std::string verdictText(const OutputVerdict& row) {
  if (!row.same) return "DIFFERENT";
  if (passedByNan(row)) return "same (only by NaN)";
  return row.nothingFinite() ? "same (no finite element)" : "same";
}

Json comparisonJson(const CompareRequest& request, const Comparison& comparison) {
  Json object{{"graph", request.graph.text},          {"run", orNull(comparison.run)},
              {"backend", request.backend},           {"plant", request.plants},
              {"tolerance", comparison.tolerance},    {"same", comparison.same && comparison.failure.empty()},
              {"failure", comparison.failure},        {"have_fp64", comparison.haveFp64},
              {"fp64_note", comparison.fp64Note},     {"elapsed_ms", milliseconds(comparison.time)},
              {"outputs", jsonOf(comparison.outputs)}};
  if (!comparison.symbols.empty())
    object["symbols"] = Json(std::map(comparison.symbols.begin(), comparison.symbols.end()));
  object["inputs"] = jsonOf(comparison.inputs);
  object["annotations"] = jsonOf(comparison.annotations);
  addFusionJson(object, comparison);
  object["backward_note"] = comparison.backwardNote;
  if (request.depth == CompareRequest::Depth::Outputs) return object;
  object["nodes"] = jsonOf(comparison.nodes);
  object["first_bad"] = comparison.firstBad();
  object["nodes_failure"] = comparison.nodesFailure;
  object["nodes_note"] = comparison.nodesNote;
  object["nested_note"] = comparison.nestedNote;
  return object;
}

void printComparison(const Comparison& comparison, CompareRequest::Depth depth, bool all) {
  printOutputs(comparison.outputs);
  printFusion(comparison);
  fmt::print("{}", symbolLine(comparison.symbols));
  printAnnotations(comparison.annotations);
  if (!comparison.failure.empty()) fmt::print("the compiled side failed: {}\n", comparison.failure);
  if (!comparison.haveFp64 && !comparison.fp64Note.empty()) fmt::print("no fp64 reference: {}\n", comparison.fp64Note);
  if (!comparison.backwardNote.empty()) fmt::print("{}\n", comparison.backwardNote);
  const bool nodes = !comparison.nodes.empty() || !comparison.nodesFailure.empty();
  if (depth == CompareRequest::Depth::Nodes && nodes) printNodes(comparison, all);
  for (const auto& row : comparison.nodes)
    if (row.firstBad) fmt::print("first bad node: {}{}\n", row.node, itemOfCall(row.target));
  const auto bad = std::ranges::count(comparison.outputs, false, &OutputVerdict::same);
  if (comparison.failure.empty()) {
    fmt::print("{}, {}\n", bad == 0 ? sameText(comparison.outputs) : differencesText(comparison.outputs),
               durationText(comparison.time));
  }
}

std::string outputTable(const Comparison& comparison) {
  TextTable table({"output", "verdict", "max abs error", "ratio to limit", "RMSE compiled", "RMSE interpreter"});
  for (const auto& row : comparison.outputs) {
    table.add({row.name, row.same ? "same" : "DIFFERENT", figure(row.maxAbsError), figure(row.ratioToLimit),
               figure(row.rmseRes), figure(row.rmseRef)});
  }
  return table.text();
}

}  // namespace kerf::cli
