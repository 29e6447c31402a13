#include "engine/capture/trace/graph.h"

#include <algorithm>
#include <cstring>
#include <set>

#include "engine/capture/inputs/generated_inputs.h"
#include "engine/capture/text/capture.h"
#include "engine/capture/trace/scanner.h"
#include "engine/symbolic/symbolic.h"
#include "engine/tensor/mapped_file.h"

namespace kerf::inline capture::trace {
namespace {

constexpr std::size_t headLines = 40;  ///< lines of a payload that decide what it is
constexpr std::size_t headBytes = 64 << 10;

bool isClassLine(std::string_view line) {
  return line.starts_with("class ") && line.find("Module)") != std::string_view::npos;
}

bool isGraphDump(std::string_view line) { return line.starts_with("graph(") && line.ends_with("):"); }

bool isTableHead(std::string_view line) {
  return line.starts_with("opcode ") && line.find(" target") != std::string_view::npos;
}

/// "s33 = 4": the value of a symbol.
bool isSymbolLine(std::string_view line) {
  const std::size_t sign = line.find(" = ");
  return sign != std::string_view::npos && sign > 0 &&
         line.find_first_not_of("-0123456789", sign + 3) == std::string_view::npos &&
         line.substr(0, sign).find(' ') == std::string_view::npos;
}

/// Lines that programs begin with, and their settings.
bool isProgramLine(std::string_view line) {
  return line.starts_with("import ") || line.starts_with("from ") || line.starts_with("os.environ") ||
         isSymbolLine(line);
}

std::string_view trimmed(std::string_view line) {
  const std::size_t first = line.find_first_not_of(" \r");
  return first == std::string_view::npos ? std::string_view()
                                         : line.substr(first, line.find_last_not_of(" \r") - first + 1);
}

GraphForm programForm(std::string_view raw) {
  constexpr std::string_view model = "\n\tclass Repro(";
  const bool has = ::memmem(raw.data(), raw.size(), model.data(), model.size()) != nullptr;
  return has ? GraphForm::Repro : GraphForm::None;
}

/// str(ExportedProgram): the class alone, without its indentation; lines stay where they were.
std::string exportedClass(const std::string& text) {
  std::string out;
  std::size_t indent = std::string::npos;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line(text.data() + at, end - at);
    const std::size_t first = line.find_first_not_of(' ');
    if (indent == std::string::npos && isClassLine(trimmed(line))) indent = first;
    const bool inside = indent != std::string::npos && (first == std::string_view::npos || first >= indent);
    if (indent != std::string::npos && !inside) break;
    if (inside && first != std::string_view::npos) out += line.substr(indent);
    out.push_back('\n');
    at = end + 1;
  }
  return out;
}

/// Nodes without a user's line have the repro's own, one of its `count` lines; it is to be the log's.
void shiftSourceLines(const std::string& file, int lines, std::ptrdiff_t count, Graph& graph) {
  const std::vector<NodeId> order(graph.order().begin(), graph.order().end());
  for (const NodeId id : order) {
    if (graph.node(id).meta().sourceFile != file || graph.node(id).meta().sourceLine > count) continue;
    NodeMeta meta = graph.node(id).meta();
    meta.sourceLine += lines;
    graph.setMeta(id, std::move(meta));
  }
}

/// Line numbers of a repro's text to those of the log.
Result<CapturedGraph> reproGraph(const std::string& text, const GraphPlace& place) {
  auto capture = importRepro(text, place.source->path, place.limits);
  if (!capture) {
    Error error = std::move(capture).error();
    if (error.line > 0) error.line += place.line - 1;
    return fail(std::move(error.atFile(place.source->path.string(), error.line)));
  }
  if (capture->graphs.empty()) return fail(ErrorCode::BadInput, "the record holds no graph");
  CapturedGraph graph = std::move(capture->graphs.front());
  graph.envelope = std::make_shared<const ReproEnvelope>(std::move(capture->envelope));
  shiftSourceLines(place.source->path.string(), place.line - 1, std::ranges::count(text, '\n') + 1, graph.module.graph);
  for (GraphInput& input : graph.inputs)
    if (input.line > 0) input.line += place.line - 1;
  for (StorageRef& storage : graph.storages)
    if (storage.line > 0) storage.line += place.line - 1;
  return graph;
}

void addTexts(const ValueMeta& meta, std::set<std::string>& names) {
  if (const SymMeta* sym = meta.sym()) collectSymbols(sym->expr.text, names);
  if (const TensorMeta* tensor = meta.tensor())
    for (const Dim& size : tensor->sizes)
      if (!size.text.empty()) collectSymbols(size.text, names);
  if (const auto* list = meta.list())
    for (const ValueMeta& item : *list) addTexts(item, names);
}

/// Of the symbols that the graph takes, and of those that its annotations have.
std::vector<SymbolRange> rangesOf(const CapturedGraph& graph,
                                  const std::map<std::string, SymbolRange, std::less<>>& known) {
  std::set<std::string> names;
  for (const SymExpr& symbol : graph.symbols()) names.insert(symbol.text);
  for (const NodeId id : graph.module.graph.order()) addTexts(graph.module.graph.node(id).meta().value, names);
  std::vector<SymbolRange> ranges;
  for (const auto& [name, range] : known)
    if (names.contains(name)) ranges.push_back(range);
  return ranges;
}

Result<CapturedGraph> parseForm(std::string_view rawPayload, const GraphPlace& place) {
  std::string text = withoutTabs(rawPayload);
  if (place.form == GraphForm::Repro) return reproGraph(text, place);
  if (place.form == GraphForm::Exported) text = exportedClass(text);
  GraphOrigin origin;
  origin.file = place.source->path;
  origin.line = place.line;
  return capturedFromReadable(text, std::move(origin), place.limits);
}

}  // namespace

GraphForm graphFormOf(std::string_view kind, std::string_view rawPayload) {
  if (kind == "inductor_output_code" || kind == "chromium_event") return GraphForm::None;
  bool exported = false;
  std::size_t lines = 0;
  const std::string_view head = rawPayload.substr(0, headBytes);
  for (std::size_t at = 0; at < head.size() && lines < headLines; ++lines) {
    const std::size_t end = std::min(head.find('\n', at), head.size());
    const std::string_view line = trimmed(head.substr(at + 1, end == at ? 0 : end - at - 1));
    at = end + 1;
    if (line.empty() || line.starts_with('#')) continue;
    if (isClassLine(line)) return exported ? GraphForm::Exported : GraphForm::Text;
    if (isGraphDump(line) || isTableHead(line)) return GraphForm::Text;
    if (isProgramLine(line)) return programForm(rawPayload);
    if (line != "ExportedProgram:") return GraphForm::None;
    exported = true;
  }
  return GraphForm::None;
}

Result<CapturedGraph> parseTraceGraph(std::string_view rawPayload, const GraphPlace& place) {
  KERF_TRY(CapturedGraph graph, parseForm(rawPayload, place));
  if (place.symbols) {
    const std::lock_guard lock(place.symbols->mutex);
    if (!place.symbols->values.empty()) bindAnnotations(graph.module, place.symbols->values);
    if (!place.symbols->ranges.empty()) graph.module.symbolRanges = rangesOf(graph, place.symbols->ranges);
  }
  return graph;
}

Result<CapturedGraph> loadTraceGraph(const GraphPlace& place) {
  std::shared_ptr<const LogBytes> bytes = place.source->unpacked;
  if (!bytes) {
    KERF_TRY(bytes, openLog(place.source->path, place.limits));
  }
  const auto size = std::int64_t(bytes->text.size());
  if (place.offset < 0 || place.length < 0 || place.offset > size || place.length > size - place.offset)
    return fail(Error{ErrorCode::NotFound,
                      "the log has become shorter since it was opened; open it again",
                      place.source->path.string(),
                      place.line,
                      {},
                      {}});
  const auto offset = std::size_t(place.offset);
  auto graph = parseTraceGraph(bytes->text.substr(offset, std::size_t(place.length)), place);
  if (bytes->mapped) KERF_CHECK(checkWhole(*bytes->mapped, place.source->path));
  return graph;
}

}  // namespace kerf::inline capture::trace
