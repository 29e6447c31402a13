#include "engine/capture/repro/export_text.h"

#include <algorithm>

#include "engine/capture/repro/allowed_calls.h"
#include "engine/capture/repro/audit_expressions.h"
#include "engine/capture/repro/audit_lexer.h"
#include "engine/capture/repro/auditor.h"
#include "engine/capture/repro/writer.h"

namespace kerf::inline capture {
namespace {

constexpr std::string_view leftOut = "# Kerf left out: ";

/// Whether the line may begin a statement of module level.
bool startsBlock(const std::string& line) {
  return !line.empty() && std::string_view(" \t)]}").find(line[0]) == std::string_view::npos;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

bool hasCookie(const std::vector<std::string>& lines) {
  return std::ranges::any_of(lines,
                             [](const std::string& line) { return line.starts_with('#') && isCodingCookie(line); });
}

/// What a line is judged after, so that it may name the class.
std::string emptyClass(const std::string& name) { return fmt::format("class {}(torch.nn.Module):\n    pass\n", name); }

/// The part after load_args: kept whole or written anew.
void sieveMain(ReproEnvelope& envelope, const std::string& className) {
  const std::string between = isAllowedBlock(emptyClass(className) + joined(envelope.betweenLines))
                                  ? joined(envelope.betweenLines)
                                  : std::string();
  const std::string before = emptyClass(className) + between + "def load_args(reader):\n    pass\n";
  if (envelope.mainLines.empty() && envelope.runOptions.empty()) return;
  const bool isPlain = std::ranges::all_of(envelope.runOptions, [](const auto& option) {
    return isAllowedBlock("torch._inductor.config.value = " + option.second + "\n");
  });
  const bool isSafe = isAllowedBlock(before + joined(envelope.mainLines));
  if (!isSafe) envelope.mainLines.clear();
  if (!isPlain)
    std::erase_if(envelope.runOptions, [](const auto& option) {
      return !isAllowedBlock("torch._inductor.config.value = " + option.second + "\n") && option.first != "save_dir";
    });
}

void sieve(ReproEnvelope& envelope, const std::string& className) {
  const bool hadLines = !envelope.headerLines.empty();
  envelope.headerLines = sievedLines(envelope.headerLines);
  envelope.betweenLines = sievedLines(envelope.betweenLines, emptyClass(className));
  if (hadLines && std::ranges::find(envelope.headerLines, "import torch") == envelope.headerLines.end())
    envelope.headerLines.insert(envelope.headerLines.begin(),
                                {"import torch", "from torch import tensor, device", "from math import inf"});
  sieveMain(envelope, className);
}

/// A comment that Python would end early (a lone carriage return does) goes, and an expression that is none.
void cleanInput(GraphInput& input) {
  for (std::string* text : {&input.comment, &input.name})
    if (text->find('\n') != std::string::npos || !auditTokens("# " + *text)) text->clear();
  if (!input.hasExprKeyword || isSymbolText(input.sym.text)) return;
  input.hasExprKeyword = false;
  input.sym.text.clear();
}

/// Names node and target before the auditor, which knows only lines.
Result<void> checkCalls(const GraphModule& module) {
  for (const NodeId id : module.graph.order()) {
    const Node& node = module.graph.node(id);
    const bool isFunction = node.op() == Opcode::CallFunction, isMethod = node.op() == Opcode::CallMethod;
    const bool isKnown = isFunction ? isAllowedFunction(node.target()) || node.target() == "builtins.getattr" ||
                                          isAllowedFunction("builtins." + node.target())
                                    : !isMethod || isAllowedMethod(node.target());
    if (isKnown) continue;
    return fail(ErrorCode::BadInput,
                "the node '{}' calls '{}', which may not be exported: it is no function that only computes",
                node.name(), node.target());
  }
  for (const auto& [path, submodule] : module.submodules)
    if (submodule.graph) KERF_CHECK(checkCalls(*submodule.graph));
  return {};
}

}  // namespace

std::vector<std::string> sievedLines(const std::vector<std::string>& lines, const std::string& before) {
  std::vector<std::string> kept;
  for (std::size_t first = 0; first < lines.size();) {
    std::size_t end = first + 1;
    if (!lines[first].empty())
      while (end < lines.size() && !startsBlock(lines[end]) && !lines[end].empty()) ++end;
    const std::vector<std::string> block(lines.begin() + std::ptrdiff_t(first), lines.begin() + std::ptrdiff_t(end));
    const bool isAllowed = isAllowedBlock(before + joined(block)) && !hasCookie(block);
    for (const std::string& line : block) kept.push_back(isAllowed ? line : std::string(leftOut) + pythonString(line));
    if (!isAllowed && hasCookie(block)) kept.resize(kept.size() - block.size());
    first = end;
  }
  return kept;
}

Result<std::string> exportText(const Capture& capture, std::size_t index, const ExportOptions& options) {
  const CapturedGraph& graph = capture.graphs.at(index);
  KERF_CHECK(checkCalls(graph.module));
  Capture clean = makeCapture(graph, capture);
  CapturedGraph& only = clean.graphs.front();
  ReproEnvelope envelope = only.envelope ? *only.envelope : clean.envelope;
  sieve(envelope, isPythonIdentifier(only.module.className) ? only.module.className : "Repro");
  only.envelope.reset();
  for (GraphInput& input : only.inputs) cleanInput(input);
  clean.envelope = std::move(envelope);
  std::string text = reproText(clean, 0, options);
  const auto audited = auditExport(text);
  if (audited) return text;
  Error error = audited.error();
  error.message = fmt::format("{} (line {} of the repro.py that was not written)", error.message, error.line);
  error.line = 0;
  return fail(std::move(error));
}

}  // namespace kerf::inline capture
