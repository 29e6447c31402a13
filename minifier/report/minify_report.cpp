// What a minification came to, as a capture and as text.
#include "minifier/report/minify_report.h"

#include <algorithm>
#include <sstream>

#include "engine/capture/repro/usual_header.h"
#include "engine/capture/repro/writer.h"
#include "engine/ir/printer.h"
#include "engine/ops/core/memory_writes.h"
#include "minifier/core/repro_settings.h"
#include "minifier/report/issue_text.h"

namespace kerf::inline minifier::inline report {

namespace {

double seconds(std::chrono::nanoseconds time) { return std::chrono::duration<double>(time).count(); }

CandidateSize startOf(const MinifyResult& result) {
  return result.steps.empty() ? measure(result.candidate) : result.steps.front().size;
}

std::string minimality(const MinifyResult& result) {
  if (result.cancelled) return "stopped before the end";
  return result.oneMinimal ? "1-minimal" : "not checked for 1-minimality";
}

/// Text from outside must stay inside its comment line, and look like what it is.
std::string commentLine(std::string_view text) {
  const std::string quoted = pythonString(text);
  return "# " + quoted.substr(1, quoted.size() - 2);
}

/// What the failure was at first and which count as the same, where it changed on the way; else nothing.
std::string identityOf(const MinifyResult& result, const MinifyReportContext& context) {
  if (result.steps.empty() || context.matchRule.empty() || result.steps.front().fingerprint == result.fingerprint)
    return {};
  return fmt::format("it began as {}; the same failure is: {}", result.steps.front().fingerprint, context.matchRule);
}

std::vector<std::string> commentHeader(const MinifyResult& result, const MinifyReportContext& context) {
  const int start = context.startNodes > 0 ? context.startNodes : int(startOf(result).nodes);
  std::vector<std::string> lines{
      commentLine(fmt::format("Minified by Kerf: {} -> {} nodes: {}; {}", start, measure(result.candidate).nodes,
                              result.fingerprint, minimality(result))),
      commentLine("from: " + context.source)};
  if (!context.fault.empty()) lines.push_back(commentLine("planted fault: " + context.fault));
  lines.push_back(commentLine("oracle: " + context.oracle));
  lines.push_back(commentLine(fmt::format("failure: {}", failureSentence(result.fingerprint))));
  if (const std::string identity = identityOf(result, context); !identity.empty())
    lines.push_back(commentLine(identity));
  lines.push_back(commentLine(
      fmt::format("expected from `python repro.py run`: {}", expectedOfRun(result.fingerprint, context.fault))));
  return lines;
}

std::string stepRow(const MinifyStep& step) {
  return fmt::format("| {} | {} | {} | {} | {} | {} | {:.3f} |\n", step.index, step.test, step.reduction,
                     step.size.nodes, step.size.inputBytes, step.size.outputs, seconds(step.elapsed));
}

/// Whether a run draws random numbers, in nested graphs too.
bool drawsRandomNumbers(const GraphModule& module) {
  const auto order = module.graph.order();
  const bool draws = std::ranges::any_of(order, [&](NodeId id) {
    const OpInfo* op = findOp(module.graph.node(id));
    return op != nullptr && has(op->traits, OpTrait::Random);
  });
  return draws || std::ranges::any_of(module.submodules, [](const auto& entry) {
           return entry.second.graph && drawsRandomNumbers(*entry.second.graph);
         });
}

void append(std::vector<std::string>& lines, const std::string& text) {
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
}

/// Placeholders that the graph writes into; where it is sure of none, those that it may write into.
std::vector<NodeId> mutatedInputs(const GraphModule& module) {
  const MemoryWrites writes = memoryWrites(module);
  const auto placeholders = module.graph.placeholders();
  for (const auto answer : {MemoryWrites::Answer::Yes, MemoryWrites::Answer::Maybe}) {
    std::vector<NodeId> found;
    for (std::size_t i = 0; i < placeholders.size(); ++i)
      if (writes.placeholders[i] == answer) found.push_back(placeholders[i]);
    if (!found.empty()) return found;
  }
  return {};
}

/// Copy of `module` that returns `nodes` too.
GraphModule returningAlso(const GraphModule& module, const std::vector<NodeId>& nodes) {
  GraphModule extended = module;
  const NodeId output = extended.graph.outputNode();
  ArgumentList items;
  if (const ArgumentList args = extended.graph.node(output).args(); !args.empty()) {
    if (const ListArgument* list = args[0].asList())
      items = list->items;
    else if (!args[0].isNone())
      items.push_back(args[0]);
  }
  for (const NodeId node : nodes) items.emplace_back(node);
  extended.graph.setArgs(output, {Argument::tuple(std::move(items))});
  return extended;
}

/// PyTorch's run_repro compares outputs only: a graph that fails in what it writes into must return that.
GraphModule visibleToPyTorch(const MinifyResult& result, std::vector<std::string>& comment) {
  const GraphModule& module = result.candidate.module;
  if (!failsInMutation(result.fingerprint) || !module.graph.outputNode().valid()) return module;
  const std::vector<NodeId> nodes = mutatedInputs(module);
  if (nodes.empty()) return module;
  std::vector<std::string> names;
  for (const NodeId node : nodes) names.push_back(module.graph.node(node).name());
  comment.push_back(commentLine(
      fmt::format("what fails is the value left in {}; run_repro compares outputs only, so the graph returns that too",
                  fmt::join(names, ", "))));
  return returningAlso(module, nodes);
}

}  // namespace

bool failsInMutation(std::string_view fingerprint) { return fingerprint.starts_with("accuracy:mutation:"); }

std::string fingerprintOfRepro(std::string_view fingerprint) {
  constexpr std::string_view kind = "accuracy:mutation:";
  return failsInMutation(fingerprint) ? fmt::format("accuracy:{}", fingerprint.substr(kind.size()))
                                      : std::string(fingerprint);
}

std::string minifySummary(const MinifyResult& result) {
  return fmt::format("{} -> {} nodes in {:.2f} s, {} tests ({} more from the cache): {}; {}", startOf(result).nodes,
                     measure(result.candidate).nodes, seconds(result.time), result.tests, result.cacheHits,
                     result.fingerprint, minimality(result));
}

std::string minifyReport(const MinifyResult& result, const MinifyReportContext& context) {
  std::string text = fmt::format("# Minification of {}\n\n{}\n\n", context.source, minifySummary(result));
  if (!context.fault.empty()) text += fmt::format("Planted fault: `{}`\n\n", context.fault);
  text += fmt::format("Oracle: `{}`\n\n", context.oracle);
  if (const std::string identity = identityOf(result, context); !identity.empty())
    text += fmt::format("The failure: {}\n\n", identity);
  if (!result.editSet.empty())
    text += fmt::format("1-minimal against every edit of: {}\n\n", fmt::join(result.editSet, ", "));
  text += "| step | tests | reduction | nodes | input bytes | outputs | seconds |\n|---|---|---|---|---|---|---|\n";
  for (const MinifyStep& step : result.steps) text += stepRow(step);
  text += "\n```\n" + printGraphText(result.candidate.module.graph) + "\n```\n";
  return text;
}

Result<Capture> minifiedCapture(const MinifyResult& result, const Capture& like, std::size_t graphIndex,
                                const MinifyReportContext& context) {
  if (graphIndex >= like.graphs.size()) return fail(ErrorCode::Internal, "the capture has no graph {}", graphIndex);
  std::vector<std::string> comment = commentHeader(result, context);
  const GraphModule module = visibleToPyTorch(result, comment);
  KERF_TRY(CapturedGraph graph, makeCapturedGraph(module, result.candidate.inputs, &like.graphs[graphIndex]));
  Capture capture = makeCapture(std::move(graph), like);
  std::vector<std::string>& header = capture.envelope.headerLines;
  stopDumping(capture.envelope);
  if (header.empty()) append(header, usualHeader());  // a text or a log has none: the writer's own would not come
  header.insert(header.begin(), comment.begin(), comment.end());
  constexpr std::string_view seed = "torch.manual_seed(0)";
  if (drawsRandomNumbers(module) && std::ranges::find(header, seed) == header.end()) header.emplace_back(seed);
  return capture;
}

}  // namespace kerf::inline minifier::inline report
