#include "engine/capture/repro/export_text.h"

#include <algorithm>

#include "engine/capture/audit/audit_expressions.h"
#include "engine/capture/audit/auditor.h"
#include "engine/capture/inputs/annotation_inputs.h"
#include "engine/capture/repro/export_checks.h"
#include "engine/capture/repro/free_names.h"
#include "engine/capture/repro/load_args_writer.h"
#include "engine/capture/repro/sieve.h"
#include "engine/capture/repro/writer.h"
#include "engine/ir/printer.h"

namespace kerf::inline capture {
namespace {

constexpr std::string_view warningMark = "# WARNING (call allowed by the user): ";

const ReproEnvelope& envelopeOf(const Capture& capture, const CapturedGraph& graph) {
  return graph.envelope ? *graph.envelope : capture.envelope;
}

std::string warnings(const ExtraCalls& used) {
  std::string text;
  for (const std::string& target : used)
    text += fmt::format("{}this calls {}, of which Kerf knows nothing. Read what it does before you run this.\n",
                        warningMark, target);
  return text;
}

/// A comment that Python would end early (a lone carriage return does) goes, and an expression that is none.
void cleanInput(GraphInput& input) {
  for (std::string* text : {&input.comment, &input.name})
    if (text->find('\n') != std::string::npos || !auditTokens("# " + *text)) text->clear();
  if (!input.hasExprKeyword || isSymbolText(input.sym.text)) return;
  input.hasExprKeyword = false;
  input.sym.text.clear();
}

std::string lineOf(std::string_view text, int line) {
  for (; line > 1; --line) text.remove_prefix(std::min(text.find('\n') + 1, text.size()));
  return std::string(text.substr(0, std::min<std::size_t>(text.find('\n'), 200)));
}

/// Whether the line is one of those that a repro keeps as its capture wrote them: load_args, __init__, and a signature
/// that takes pytrees apart.
bool isKeptVerbatim(const std::string& text, int line, const std::string& loader, bool isPlain) {
  const std::size_t at = std::min(text.rfind(loader), text.size());
  const auto linesBefore = [&](std::size_t end) { return int(std::ranges::count(text.substr(0, end), '\n')); };
  if (line > linesBefore(at)) return line <= linesBefore(std::min(at + loader.size(), text.size()));
  constexpr std::string_view starts[] = {"    def __init__(", "    def forward(", "class "};
  for (; line > 0; --line) {
    const std::string start = lineOf(text, line);
    const auto* found = std::ranges::find_if(starts, [&](std::string_view mark) { return start.starts_with(mark); });
    if (found != std::end(starts)) return found - starts < (isPlain ? 1 : 2);
  }
  return false;
}

bool isPlainModule(const GraphModule& module) {
  return module.codegen.kind == CodeGen::Kind::Plain && std::ranges::all_of(module.submodules, [](const auto& entry) {
           return !entry.second.graph || isPlainModule(*entry.second.graph);
         });
}

/// load_args makes a flat list, and run_repro compares one: the specs that took a joint graph's arguments apart and put
/// its results together were objects of the process that traced it.
GraphModule withPlainSignature(GraphModule module) {
  CodeGen& codegen = module.codegen;
  if (codegen.kind == CodeGen::Kind::Plain) return module;
  CodeGen plain;
  plain.expanded = codegen.expanded;
  plain.outputDescriptions = std::move(codegen.outputDescriptions);
  codegen = std::move(plain);
  return module;
}

std::unexpected<Error> internal(std::string_view what, const Error& error) {
  return fail(ErrorCode::Internal,
              "a fault of Kerf: the {} that it made does not pass its own auditor, so nothing was "
              "written ({}, line {})",
              what, error.message, error.line);
}

}  // namespace

Result<CapturedGraph> exportableGraph(const Capture& capture, std::size_t index, std::string_view form) {
  constexpr std::string_view pictures[] = {"json", "dot", "svg", "png"};
  CapturedGraph graph = capture.graphs.at(index);
  if (std::ranges::find(pictures, form) == std::end(pictures))
    KERF_CHECK(checkCalls(graph.module, capture.allowedCalls));
  if (form == "code" || form == "readable") KERF_CHECK(checkNames(graph.module));
  graph.module = withoutUnreadTexts(std::move(graph.module));
  return graph;
}

Result<std::string> exportText(const Capture& capture, std::size_t index, const ExportOptions& options) {
  const CapturedGraph& graph = capture.graphs.at(index);
  ExtraCalls used;
  KERF_CHECK(checkCalls(graph.module, capture.allowedCalls, &used));
  KERF_CHECK(checkNames(graph.module));
  Capture clean = makeCapture(graph, capture);
  CapturedGraph& only = clean.graphs.front();
  only.module = withPlainSignature(withoutUnreadTexts(std::move(only.module)));
  SievedLines lines = sieved(envelopeOf(clean, only), only.module);
  ReproEnvelope envelope = std::move(lines.envelope);
  std::erase_if(envelope.headerLines, [](const std::string& line) { return line.starts_with(warningMark); });
  only.module.className = std::move(lines.className);
  only.envelope.reset();
  for (GraphInput& input : only.inputs) cleanInput(input);
  clean.envelope = std::move(envelope);
  std::string text = warnings(used) + reproText(clean, 0, options);
  const auto audited = auditExport(text, capture.allowedCalls);
  if (audited) return text;
  const Error& error = audited.error();
  if (!isKeptVerbatim(text, error.line, loadArgsText(withInputs(only)), isPlainModule(graph.module)))
    return internal("repro", error);
  return fail(ErrorCode::BadInput, "{}: `{}`", error.message, std::string(lineOf(text, error.line)));
}

std::vector<std::string> leftOutNotes(const Capture& capture, std::size_t index) {
  const CapturedGraph& graph = capture.graphs.at(index);
  std::vector<std::string> notes;
  for (const std::string& line : sieved(envelopeOf(capture, graph), graph.module).leftOut)
    notes.push_back("exports leave out this line: " + line);
  for (const std::string& type : unreadTypes(graph.module))
    notes.push_back("the annotation is not understood, and exports leave it out: " + type);
  std::vector<std::string> names = compilerNames(printPythonCode(graph.module));
  constexpr std::size_t shown = 3;
  const std::string_view more = names.size() > shown ? ", …" : "";
  names.resize(std::min(names.size(), shown));
  if (!names.empty())
    notes.push_back(fmt::format("stock PyTorch cannot run this graph by itself: {}{} exist only while it compiles",
                                fmt::join(names, ", "), more));
  return notes;
}

Result<std::string> auditedForm(std::string_view form, std::string text, const GraphModule& module,
                                const Capture& capture) {
  const auto refuse = [&](const Error& error, std::string_view whole) -> Result<std::string> {
    if (form == "code" && isPlainModule(module)) return internal(form, error);
    return fail(ErrorCode::BadInput, "{}: `{}`", error.message, lineOf(whole, error.line));
  };
  const bool isCode = form == "code";
  if (isCode || form == "readable") {
    ExtraCalls used;
    if (!capture.allowedCalls.empty()) KERF_CHECK(checkCalls(module, capture.allowedCalls, &used));
    const std::string whole = isCode ? "class GraphModule(torch.nn.Module):\n" + text : text;
    if (const auto audited = auditGraphCode(whole, capture.allowedCalls); !audited)
      return refuse(audited.error(), whole);
    return warnings(used) + text;
  }
  if (form != "text" && form != "table" && form != "dot") return text;
  std::size_t lines = 0;
  for (std::size_t at = 0; at < text.size(); ++lines) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    // A comment may have all characters that a line may have.
    if (const auto audited = auditTokens("# - " + text.substr(at, end - at)); !audited)
      return refuse(Error{ErrorCode::BadInput, audited.error().message, {}, int(lines) + 1, {}, {}}, text);
    at = end + 1;
  }
  // "graph():" and a line for each node: one more would be a text that ended its line.
  if (form != "text" || lines == module.graph.size() + 1) return text;
  return fail(ErrorCode::BadInput, "a name or target of the graph has a line break");
}

}  // namespace kerf::inline capture
