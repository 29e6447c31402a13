#include "engine/capture/text/capture.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>

#include "engine/capture/common/extent.h"
#include "engine/capture/common/source_lines.h"
#include "engine/capture/inputs/annotation_inputs.h"
#include "engine/capture/inputs/stand_in_attributes.h"
#include "engine/capture/text/code_kind.h"
#include "engine/capture/text/executorch.h"
#include "engine/capture/text/partial_notes.h"
#include "engine/capture/text/pieces.h"
#include "engine/capture/text/printed_schemas.h"
#include "engine/capture/text/printed_signature.h"
#include "engine/capture/text/told_devices.h"
#include "engine/ir/parser.h"
#include "engine/ops/core/foreign_call.h"
#include "engine/ops/core/shape_conflicts.h"

namespace kerf::inline capture {
namespace {

constexpr std::size_t mostOddCalls = 5;
constexpr std::string_view modelSourceMark = " is a model's source, no captured graph";

class TextCapture {
 public:
  TextCapture(std::string_view text, const GraphOrigin& origin, const ImportLimits& limits,
              std::vector<std::string>* notes)
      : m_text(text),
        m_origin(origin),
        m_limits(limits),
        m_notes(notes),
        m_firstLine(std::max(origin.line, 1)),
        m_schemas(text) {}

  /// The first graph, which must be whole.
  Result<CapturedGraph> first() {
    KERF_CHECK(check());
    std::vector<GraphTextPiece> pieces = graphTextPieces(textLines(m_text));
    if (pieces.empty()) return noGraph();
    auto graph = whole(pieces.front());
    if (!graph) return failAtPiece(std::move(graph).error(), pieces.front());
    graph->name = freeName(pieces.front());
    return graph;
  }

  /// Every graph, as far as it is there. The first error where none is.
  Result<std::vector<CapturedGraph>> all() {
    KERF_CHECK(check());
    const std::vector<GraphTextPiece> pieces = graphTextPieces(textLines(m_text));
    std::vector<CapturedGraph> graphs;
    std::optional<Error> firstError;
    const GraphTextPiece* model = nullptr;
    const bool hasPrinted = std::ranges::any_of(pieces, isPrintedCode);
    for (const GraphTextPiece& piece : pieces) {
      const CodeKind kind = codeKind(piece);
      // beside what a tracer printed, a class without its marks is the one that was traced
      const bool isTraced = kind == CodeKind::Plain && (piece.fragment || (hasPrinted && !piece.className.empty()));
      if (kind == CodeKind::Model || isTraced) {
        if (model == nullptr && !piece.fragment) model = &piece;
        continue;
      }
      auto graph = asFarAsThere(piece, kind);
      if (graph)
        graphs.push_back(std::move(*graph));
      else if (!piece.fragment)
        refused(std::move(graph).error(), piece, firstError);
    }
    if (!graphs.empty() && m_notes != nullptr) std::ranges::move(m_refused, std::back_inserter(*m_notes));
    if (!graphs.empty()) return graphs;
    if (firstError) return fail(std::move(*firstError));
    return model != nullptr ? modelOnly(*model) : noGraph();
  }

 private:
  static bool isPrintedCode(const GraphTextPiece& piece) { return codeKind(piece) == CodeKind::Printed; }

  std::unexpected<Error> noGraph() const {
    return failAt(m_firstLine,
                  "there is no graph in the text: no 'def forward', 'graph():' or table, and no statements of one");
  }

  std::unexpected<Error> modelOnly(const GraphTextPiece& piece) const {
    const std::string what = piece.className.empty() ? std::string("this forward method") : "class " + piece.className;
    return failAt(m_firstLine + int(piece.line),
                  fmt::format("{}{}: torch.compile and torch.export capture one", what, modelSourceMark));
  }

  std::unexpected<Error> failAtPiece(Error error, const GraphTextPiece& piece) const {
    const int line = error.line > 0 ? error.line : m_firstLine + int(piece.line);
    return fail(std::move(error.atFile(m_origin.file.string(), line)));
  }

  /// A piece that cannot be opened is said, not the end of the others.
  void refused(Error error, const GraphTextPiece& piece, std::optional<Error>& first) {
    Error placed = failAtPiece(std::move(error), piece).error();
    if (m_notes != nullptr)
      m_refused.push_back(
          fmt::format("line {}: what looks like a graph is not opened: {}", placed.line, placed.message));
    if (!first) first = std::move(placed);
  }

  std::unexpected<Error> failAt(int line, std::string message, ErrorCode code = ErrorCode::BadInput) const {
    return fail(Error{code, std::move(message), m_origin.file.string(), line, {}, {}});
  }

  Result<void> check() const {
    if (std::int64_t(m_text.size()) > m_limits.fileBytes)
      return failAt(m_firstLine,
                    fmt::format("the text has {} bytes, above the limit of {}", m_text.size(), m_limits.fileBytes),
                    ErrorCode::TooLarge);
    int line = m_firstLine;
    for (std::size_t at = 0; at < m_text.size(); ++line) {
      const std::size_t end = std::min(m_text.find('\n', at), m_text.size());
      if (std::int64_t(end - at) > m_limits.lineBytes)
        return failAt(line, fmt::format("a line has {} bytes, above the limit of {}", end - at, m_limits.lineBytes),
                      ErrorCode::TooLarge);
      at = end + 1;
    }
    if (line - m_firstLine > m_limits.nodes * 8)
      return failAt(line, fmt::format("the text has more than {} lines", m_limits.nodes * 8), ErrorCode::TooLarge);
    return {};
  }

  Result<CapturedGraph> whole(const GraphTextPiece& piece) {
    KERF_TRY(GraphModule read, module(piece, lineOf(piece), nullptr));
    return captured(piece, std::move(read));
  }

  /// Whole, or the part of a printed graph that is there.
  Result<CapturedGraph> asFarAsThere(const GraphTextPiece& piece, CodeKind kind) {
    auto graph = piece.fragment ? Result<CapturedGraph>(fail(ErrorCode::BadInput, "a fragment")) : whole(piece);
    PartialReading partial;
    if (!graph && graph.error().code == ErrorCode::BadInput && kind == CodeKind::Printed) {
      auto part = partOf(piece, partial);
      if (part || piece.fragment) graph = std::move(part);
    }
    if (!graph) return graph;
    graph->name = freeName(piece);
    if (m_notes != nullptr) std::ranges::move(partialNotes(graph->name, partial), std::back_inserter(*m_notes));
    return graph;
  }

  Result<CapturedGraph> partOf(const GraphTextPiece& piece, PartialReading& partial) {
    KERF_TRY(GraphModule read, module(piece, lineOf(piece), &partial));
    if (!computes(read.graph)) return failAt(m_firstLine + int(piece.line), "the graph computes nothing: truncated?");
    KERF_TRY(read, throughPython(std::move(read)));
    return captured(piece, std::move(read));
  }

  /// Calls in another form than the op table's, and recorded values that the ops do not give.
  void noteOddCalls(const GraphModule& module) {
    if (m_notes == nullptr) return;
    std::size_t calls = 0;
    for (const NodeId id : module.graph.order()) {
      const auto why = foreignCall(module.graph.node(id));
      if (why && ++calls <= mostOddCalls)
        m_notes->push_back(
            fmt::format("{}: {} {}: it is called as another release's schema, or with what a library "
                        "adds; it keeps its annotation and is not looked into",
                        module.graph.node(id).name(), shortTarget(module.graph.node(id).target()), *why));
    }
    if (calls > mostOddCalls) m_notes->push_back(fmt::format("{} more calls do not fit", calls - mostOddCalls));
    std::ranges::move(conflictNotes(shapeConflicts(module)), std::back_inserter(*m_notes));
  }

  /// "aten.mean.dim" of "torch.ops.aten.mean.dim".
  static std::string_view shortTarget(std::string_view target) {
    constexpr std::string_view root = "torch.ops.";
    return target.starts_with(root) ? target.substr(root.size()) : target;
  }

  /// Index in textLines() of the first line behind the piece.
  std::size_t lineBehind(const GraphTextPiece& piece) const {
    const auto lines = textLines(m_text);
    const auto behind = std::ranges::find_if(lines, [&](const TextLine& line) { return line.number > piece.lastLine; });
    return std::size_t(behind - lines.begin());
  }

  static bool computes(const Graph& graph) {
    return graph.outputNode().valid() && std::ranges::any_of(graph.order(), [&](NodeId id) {
             const Opcode op = graph.node(id).op();
             return op != Opcode::Placeholder && op != Opcode::Output && op != Opcode::GetAttr;
           });
  }

  /// Number of the first line of the piece's text: a fragment's has one more above it.
  int lineOf(const GraphTextPiece& piece) const {
    const bool hasHeader = piece.fragment && piece.form == GraphTextPiece::Form::Readable;
    return m_firstLine + int(piece.line) - (hasHeader ? 1 : 0);
  }

  Result<CapturedGraph> captured(const GraphTextPiece& piece, GraphModule module) {
    CapturedGraph out;
    out.origin = m_origin;
    out.origin.line = m_firstLine + int(piece.line);
    if (out.origin.stage.empty()) out.origin.stage = piece.label.stage;
    if (out.origin.compileId.empty()) out.origin.compileId = piece.label.compileId;
    if (out.origin.rank < 0) out.origin.rank = piece.label.rank;
    out.module = std::move(module);
    KERF_CHECK(checkGraph(out.module.graph, out.origin.line));
    setLines(piece, out);
    if (m_text.find("Graph signature:") != m_text.npos || m_text.find("Range constraints:") != m_text.npos)
      applyPrintedSignature(printedSignature(textLines(m_text), lineBehind(piece)), out, m_notes);
    if (const std::string device = takeDeviceOfCalls(piece.text, out.module); !device.empty() && m_notes != nullptr)
      m_notes->push_back(
          fmt::format("no annotation names a device, and the graph's calls name {}: its inputs are "
                      "taken to be there",
                      device));
    readExecutorchCalls(out.module, m_notes);
    noteOddCalls(out.module);
    m_schemas.apply(out.module.graph, m_notes);
    addStandInAttributes(out.module, m_limits, m_notes);
    KERF_CHECK(checkExtent(withInputs(out), m_limits, {}));
    return out;
  }

  Result<GraphModule> module(const GraphTextPiece& piece, int line, PartialReading* partial) {
    if (piece.form == GraphTextPiece::Form::Readable)
      return partial != nullptr ? parsePartialReadable(piece.text, line, *partial) : parseReadable(piece.text, line);
    GraphModule module;
    std::vector<std::string> guessed;
    if (piece.form == GraphTextPiece::Form::GraphText) {
      KERF_TRY(module.graph, parseGraphText(piece.text, line, partial));
    } else {
      KERF_TRY(module.graph, parseTabular(piece.text, line, &guessed, partial));
    }
    if (!module.graph.outputNode().valid())
      return failAt(m_firstLine + int(piece.line), "the graph returns nothing: truncated?");
    if (m_notes != nullptr && !guessed.empty())
      m_notes->push_back(fmt::format("the table names only '{}' of some functions: torch.nn.functional.{} is taken",
                                     guessed.front(), guessed.front()));
    return throughPython(std::move(module));
  }

  Result<void> checkGraph(const Graph& graph, int line) const {
    if (std::int64_t(graph.size()) > m_limits.nodes)
      return failAt(line, fmt::format("the graph has more than {} nodes", m_limits.nodes), ErrorCode::TooLarge);
    return {};
  }

  /// Nodes that no comment traces to the user's code come from the text itself.
  void setLines(const GraphTextPiece& piece, CapturedGraph& out) const {
    const std::string file = m_origin.file.string();
    if (piece.form == GraphTextPiece::Form::Readable) {
      const auto source = scanSource(piece.text, m_limits);
      if (source) assignSourceLines(*source, forwardLines(*source), file, out.module.graph, lineOf(piece) - 1);
      return;
    }
    const std::vector<NodeId> order(out.module.graph.order().begin(), out.module.graph.order().end());
    for (const NodeId id : order) {
      NodeMeta meta = out.module.graph.node(id).meta();
      if (!meta.sourceFile.empty() || meta.sourceLine == 0) continue;
      meta.sourceFile = file;
      out.module.graph.setMeta(id, std::move(meta));
    }
  }

  /// From the outermost `def forward` to the end of its block.
  static LineRange forwardLines(const SourceText& source) {
    LineRange best;
    std::size_t indent = SIZE_MAX;
    for (std::size_t line = 0; line < source.lines.size(); ++line) {
      if (!source.startsStatement(line)) continue;
      const std::size_t own = indentation(source.lines[line]);
      if (trimmed(source.lines[line]).starts_with("def forward(") && own <= indent) {
        best = {line, source.lines.size()};
        indent = own;
      } else if (own <= indent && best.last == source.lines.size() && line > best.first && indent != SIZE_MAX) {
        best.last = line;
      }
    }
    return best;
  }

  std::string freeName(const GraphTextPiece& piece) {
    std::string base = piece.className;
    if (base.empty() || base == "GraphModule" || base == "Repro" || base == "_lambda" || base == "lambda") {
      base = m_origin.stage.empty() ? "forward" : m_origin.stage;
      if (m_origin.stage.empty() && !piece.label.name.empty()) base = piece.label.name;
    }
    std::string name = base;
    for (int number = 1; !m_names.insert(name).second; ++number) name = fmt::format("{}_{}", base, number);
    return name;
  }

  std::string_view m_text;
  const GraphOrigin& m_origin;
  const ImportLimits& m_limits;
  std::vector<std::string>* m_notes;
  int m_firstLine;
  PrintedSchemas m_schemas;
  std::set<std::string> m_names;
  std::vector<std::string> m_refused;
};

std::string torchVersionIn(std::string_view text) {
  constexpr std::string_view mark = "torch version: ";
  const std::size_t at = text.find(mark);
  if (at == std::string_view::npos) return {};
  const std::string_view rest = text.substr(at + mark.size());
  return std::string(trimmed(rest.substr(0, rest.find('\n'))));
}

}  // namespace

Result<CapturedGraph> capturedFromReadable(std::string_view text, GraphOrigin origin, const ImportLimits& limits) {
  return TextCapture(text, origin, limits, nullptr).first();
}

Result<std::vector<CapturedGraph>> capturedGraphsOfText(std::string_view text, const GraphOrigin& origin,
                                                        const ImportLimits& limits, std::vector<std::string>* notes) {
  return TextCapture(text, origin, limits, notes).all();
}

bool saysModelSource(const Error& error) { return error.message.find(modelSourceMark) != std::string::npos; }

bool looksLikeGraphText(std::string_view head) { return !graphTextPieces(textLines(head)).empty(); }

Result<Capture> importGraphText(std::string_view text, const std::filesystem::path& path, const ImportLimits& limits) {
  Capture capture;
  capture.kind = "text";
  capture.path = path;
  GraphOrigin origin;
  origin.file = path;
  origin.line = 1;
  KERF_TRY(capture.graphs, capturedGraphsOfText(text, origin, limits, &capture.notes));
  capture.torchVersion = torchVersionIn(text);
  if (hasMergeConflict(text))
    capture.notes.emplace_back(
        "a merge left both its sides in the text (<<<<<<<, =======, >>>>>>>): the first side is read");
  const auto hasInputs = [](const CapturedGraph& graph) { return !graph.module.graph.placeholders().empty(); };
  if (std::ranges::any_of(capture.graphs, hasInputs))
    capture.notes.emplace_back(
        "the text holds no values: inputs are made up from the annotations (random floats, integers in range)");
  return capture;
}

}  // namespace kerf::inline capture
