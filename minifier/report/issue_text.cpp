#include "minifier/report/issue_text.h"

#include <algorithm>
#include <array>

#include <fmt/ranges.h>

#include "minifier/core/accuracy_identity.h"

namespace kerf::inline minifier::inline report {

namespace {

/// By the beginning of a fingerprint; the first that fits.
struct FailureRow {
  std::string_view start, title, sentence, expected;
  bool isAccuracy = false;
};
constexpr std::string_view accuracyError = "`AccuracyError` (exit 1): the compiled results are not those of eager";
constexpr std::array<FailureRow, 15> failures = {
    {{"accuracy:nan", "NaN", "the compiled graph returns NaN where eager does not", accuracyError, true},
     {"accuracy:inf", "infinity", "the compiled graph returns infinities where eager does not", accuracyError, true},
     {"accuracy:shape", "wrong shape", "a result of the compiled graph has another shape than in eager", accuracyError,
      true},
     {"accuracy:dtype", "wrong dtype", "a result of the compiled graph has another dtype than in eager", accuracyError,
      true},
     {"accuracy:strides", "wrong strides", "a result of the compiled graph has other strides than in eager",
      "results whose strides differ from those of eager"},
     {"accuracy:alias", "wrong aliasing", "results of the compiled graph share memory in another way than in eager",
      "results that share memory in another way than in eager"},
     {"accuracy:mutation", "wrong mutation", "the compiled graph leaves other values in an input or buffer than eager",
      accuracyError, true},
     {"accuracy", "wrong result", "the compiled graph returns other values than eager, beyond the tolerance",
      accuracyError, true},
     {"nan", "NaN", "the compiled graph returns NaN", "NaN in a result"},
     {"nondeterminism", "nondeterministic result", "two runs of the compiled graph return different values",
      "other values from run to run"},
     {"compile", "compile error", "compiling the graph raises an exception", "the exception below (exit 1)"},
     {"run", "runtime error", "running the compiled graph raises an exception", "the exception below (exit 1)"},
     {"crash", "crash", "the process dies while it compiles or runs the graph", "the process to die by a signal"},
     {"hang", "hang", "compiling or running the graph does not end", "no end"},
     {"command", "failure", "the check command reports a failure", "the check command to fail"}}};
constexpr FailureRow otherFailure = {"", "failure", "compiling or running the graph fails", "a failure (exit 1)"};

const FailureRow& rowOf(std::string_view fingerprint) {
  const auto* found =
      std::ranges::find_if(failures, [&](const FailureRow& row) { return fingerprint.starts_with(row.start); });
  return found == failures.end() ? otherFailure : *found;
}

std::vector<std::string> opsOf(const GraphModule& module) {
  std::vector<std::string> ops;
  for (const NodeId id : module.graph.order()) {
    const Node& node = module.graph.node(id);
    if (node.op() == Opcode::Placeholder || node.op() == Opcode::Output || node.op() == Opcode::GetAttr) continue;
    const std::string_view target = opName(node.target());
    if (target.ends_with("getitem")) continue;  // takes a result apart: no op that anybody looks for
    if (std::ranges::find(ops, target) == ops.end()) ops.emplace_back(target);
  }
  return ops;
}

/// A fence longer than any in the text, so that nothing in it ends the block.
std::string fenced(std::string_view language, std::string_view text) {
  std::string fence = "```";
  while (text.find(fence) != std::string_view::npos) fence += '`';
  const std::string_view end = text.ends_with('\n') ? "" : "\n";
  return fmt::format("{}{}\n{}{}{}\n", fence, language, text, end, fence);
}

/// Text of a stranger as code in a line of Markdown: no line break, no backtick that ends it.
std::string inlineCode(std::string_view text) {
  std::string line(text.substr(0, 2000));
  std::ranges::replace_if(line, [](unsigned char c) { return c < 0x20 || c == 0x7f; }, ' ');
  return line.find('`') == std::string::npos ? fmt::format("`{}`", line) : fmt::format("`` {} ``", line);
}

std::string_view minimality(const IssueFacts& facts) {
  if (!facts.oneMinimal) return "";
  return *facts.oneMinimal ? "; no single edit makes it smaller" : "; not proven to be minimal";
}

std::string howItWasFound(const IssueFacts& facts) {
  std::string text = fmt::format("- judged by: {}\n", inlineCode(facts.oracle));
  if (!facts.fault.empty())
    text += fmt::format("- planted by Kerf, no fault of PyTorch: {}\n", inlineCode(facts.fault));
  if (!facts.injected.empty())
    text += fmt::format("- planted by PyTorch itself, as the capture's inject_relu_bug_TESTING_ONLY asks: {}\n",
                        inlineCode(facts.injected));
  if (facts.nodes <= 0) return text;
  const std::string judged = facts.judged > 0 ? fmt::format(", {} graphs judged", facts.judged) : "";
  text += fmt::format("- minified by Kerf: {} -> {} nodes{}, {} accepted{}\n", facts.startNodes, facts.nodes, judged,
                      facts.steps, minimality(facts));
  return text;
}

std::string difference(const std::optional<IssueDifference>& closest) {
  if (!closest) return {};
  return fmt::format(
      "## The closest graph that passes\n\nOne edit apart ({}): {} `-` is the graph that passes, `+` the one "
      "that fails.\n\n{}\n",
      inlineCode(closest->reduction), closest->description, fenced("diff", closest->diff));
}

std::string versions(const IssueFacts& facts) {
  std::string lines;
  for (const auto* part : {&facts.versions, &facts.environment})
    for (const std::string& line : *part) lines += line + "\n";
  return lines.empty() ? "The capture does not say.\n" : fenced("", lines);
}

}  // namespace

std::string failureSentence(std::string_view fingerprint) { return std::string(rowOf(fingerprint).sentence); }

std::string expectedOfRun(std::string_view fingerprint, std::string_view fault) {
  if (!fault.empty()) return "no failure, because the fault was planted in Kerf's compiler";
  return std::string(rowOf(fingerprint).expected);
}

std::string accuracyOption(std::string_view fingerprint) { return rowOf(fingerprint).isAccuracy ? "True" : "False"; }

std::string calledOps(const GraphModule& module) { return fmt::format("{}", fmt::join(opsOf(module), ", ")); }

std::string issueTitle(std::string_view fingerprint, const GraphModule& module) {
  constexpr std::size_t named = 3;
  std::vector<std::string> ops = opsOf(module);
  const std::size_t count = ops.size();
  ops.resize(std::min(count, named));
  std::string title = fmt::format("torch.compile: {}", rowOf(fingerprint).title);
  if (count > 0) title += fmt::format(" in {}", fmt::join(ops, ", "));
  return count > named ? fmt::format("{} and {} more", title, count - named) : title;
}

std::string issueText(const IssueFacts& facts, const GraphModule& module) {
  std::string text = fmt::format("# {}\n\n", issueTitle(facts.fingerprint, module));
  text += fmt::format("In this graph {}.\n\n", failureSentence(facts.fingerprint));
  text += fmt::format("- fingerprint: {}\n", inlineCode(facts.fingerprint));
  if (!facts.detail.empty()) text += fmt::format("- seen: {}\n", inlineCode(facts.detail));
  text += fmt::format("- expected from `python repro.py run`: {}\n", expectedOfRun(facts.fingerprint, facts.fault));
  if (!facts.confirmed.empty()) text += fmt::format("- {}\n", facts.confirmed);
  text += howItWasFound(facts);
  text += fmt::format("\n## Minimal graph\n\nOps: {}\n\n", inlineCode(calledOps(module)));
  if (facts.hasStorages)
    text += "The inputs' data is in `storages/` beside the file; without it PyTorch draws random data.\n\n";
  text += fenced("python", facts.repro) + "\n";
  text += difference(facts.closest);
  return text + "## Versions\n\n" + versions(facts);
}

}  // namespace kerf::inline minifier::inline report
