#include "app/cli/verify_report.h"

#include <algorithm>

#include <fmt/ranges.h>

#include "app/cli/annotations_report.h"
#include "app/cli/json_forms.h"
#include "app/cli/options.h"
#include "app/cli/text_table.h"

namespace kerf::cli {

namespace {

/// "out:0", its error in fp64 and over what is accepted.
std::vector<std::string> rowOf(const StagePairDoc& pair) {
  const bool empty = pair.values.empty();
  return {pair.before,
          pair.after,
          pair.verdict,
          std::to_string(pair.values.size()),
          empty ? "" : pair.values.front().name,
          empty ? "" : figure(pair.values.front().relativeError),
          empty ? "" : figure(pair.values.front().error),
          empty ? "" : figure(pair.values.front().ratio),
          fmt::format("{}/{}", pair.mapped, pair.nodes),
          durationText(pair.time)};
}

void printChanged(const ChangedNodeDoc& changed) {
  if (changed.node.empty()) return;
  fmt::print("  first bad node: {} of {}\n    {}\n", changed.node, changed.stage, changed.call);
  if (!changed.before.empty()) fmt::print("    before: {} = {}\n", changed.before, changed.callBefore);
  if (!changed.others.empty()) fmt::print("    also: {}\n", fmt::join(changed.others, ", "));
}

void printGradients(const StagePairDoc& pair) {
  if (!pair.haveGradients) return;
  const auto& check = pair.gradients;
  if (!check.done) {
    fmt::print("  gradients of {}: not checked: {}\n", pair.after, check.why);
    return;
  }
  fmt::print("  gradients of {} {} finite differences of {}: {:.9g} and {:.9g}, {:.1e} apart, {}\n", pair.after,
             check.agrees ? "fit" : "do not fit", pair.before, check.recorded, check.differences, check.relativeError,
             counted(check.inputs, "input"));
  if (!check.suspects.empty()) fmt::print("    suspects: {}\n", fmt::join(check.suspects, ", "));
}

void printValues(const StagePairDoc& pair, bool all) {
  constexpr std::size_t shown = 5;
  std::size_t printed = 0;
  for (const auto& row : pair.values) {
    if (!all && (row.same || printed == shown)) break;
    fmt::print("  {}: {}\n", row.name, row.same ? fmt::format("same ({:.1e} in fp64)", row.relativeError) : row.reason);
    ++printed;
  }
}

void printPair(const StagePairDoc& pair, bool all) {
  if (pair.different() || all || pair.verdict == "not compared")
    fmt::print("{} → {}: {}{}\n", pair.before, pair.after, pair.verdict, pair.why.empty() ? "" : ": " + pair.why);
  if (pair.different() || all) printValues(pair, all);
  if (pair.different()) printChanged(pair.changed);
  printGradients(pair);
  if (!all) return;
  for (const auto& [later, earlier] : pair.map)
    if (later != earlier) fmt::print("  {} is {}\n", later, earlier);
}

std::string summary(const CompileVerification& compile) {
  std::vector<std::string> bad;
  for (const auto& pair : compile.pairs)
    if (pair.different()) bad.push_back(pair.after);
  if (compile.odd.find(", ") != std::string::npos)
    return fmt::format("{} differ from the stages before and behind them, which agree", compile.odd);
  if (!compile.odd.empty() && bad.size() < 2)
    return fmt::format("{} differs from the stage before it and from the one after it, which agree", compile.odd);
  if (bad.empty()) return {};
  return fmt::format("different: {}", fmt::join(bad, ", "));
}

/// "aten.mul.Tensor -49, aten.add.Tensor -1"
std::string differenceText(const OwnPassesDoc& stage) {
  std::string text;
  for (const auto& count : stage.ops)
    text += fmt::format("{}{} {:+}", text.empty() ? "" : ", ", count.op, count.own - count.recorded);
  return text;
}

void printOwnPasses(const std::vector<OwnPassesDoc>& stages) {
  if (stages.empty()) return;
  TextTable table({"before", "after", "nodes", "recorded", "Kerf", "calls that differ"});
  for (const auto& stage : stages)
    table.add({stage.before, stage.recorded, std::to_string(stage.nodesBefore), std::to_string(stage.nodesRecorded),
               std::to_string(stage.nodesOwn), differenceText(stage)});
  fmt::print("{}", table.text());
}

void printCompile(const CompileVerification& compile, bool all) {
  if (!compile.compile.empty()) fmt::print("{}\n", compile.compile);
  fmt::print("{}", symbolLine(compile.symbols));
  TextTable table({"stage", "next", "verdict", "values", "worst", "fp64", "error", "ratio", "mapped", "time"});
  for (const auto& pair : compile.pairs) table.add(rowOf(pair));
  if (compile.pairs.empty())
    fmt::print("nothing to compare: there are no two stages of one computation\n");
  else
    fmt::print("{}", table.text());
  printOwnPasses(compile.ownPasses);
  for (const auto& pair : compile.pairs) printPair(pair, all);
  printAnnotations(compile.annotations);
  for (const auto& note : compile.notes) fmt::print("note: {}\n", note);
  if (const auto text = summary(compile); !text.empty()) fmt::print("{}\n", text);
}

}  // namespace

Json verificationJson(const VerifyRequest& request, const Verification& verification) {
  return {{"capture", request.capture.text},
          {"against", orNull(request.against.text)},
          {"same", verification.good() && verification.comparedAny()},
          {"tolerance", request.tolerance},
          {"compiles", jsonOf(verification.compiles)},
          {"ms", milliseconds(verification.time)}};
}

void printVerification(const Verification& verification, bool all) {
  for (const auto& compile : verification.compiles) printCompile(compile, all);
}

}  // namespace kerf::cli
