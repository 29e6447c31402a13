#include "engine/capture/repro/document.h"

#include <algorithm>
#include <array>
#include <set>

#include "engine/capture/repro/cut_repro.h"
#include "engine/capture/text/capture.h"
#include "engine/capture/text/lines.h"

namespace kerf::inline capture {
namespace {

constexpr std::size_t largestDocument = 16 << 20;  ///< bytes: larger texts are files that PyTorch wrote
constexpr std::size_t mostRepros = 64;

/// How lines begin that stand above the class of a repro.
constexpr std::array<std::string_view, 10> headerStarts = {"#",          "import ",          "from ",    "os.environ",
                                                           "torch._",    "isolate_fails",    "args = [", "args.append(",
                                                           "torch.set_", "torch.manual_seed"};

bool beginsModel(std::string_view line) { return line.starts_with("class Repro("); }

/// A graph of another form, outside of any class.
bool beginsOther(std::string_view line) {
  return line.starts_with("class GraphModule(") || line.starts_with("def forward(") || line.starts_with("graph():");
}

/// `s0 = 4`
bool definesSymbol(std::string_view line) {
  return line.size() > 5 && line[0] == 's' && line.find(" = ") != std::string_view::npos && line.find(" = ") < 6 &&
         line.find_first_not_of("0123456789", line.find(" = ") + 3) == std::string_view::npos;
}

bool isHeaderLine(std::string_view line) {
  return line.empty() || definesSymbol(line) ||
         std::ranges::any_of(headerStarts, [&](std::string_view start) { return line.starts_with(start); });
}

bool computes(const CapturedGraph& graph) {
  return std::ranges::any_of(graph.module.graph.order(), [&](NodeId id) {
    const Opcode op = graph.module.graph.node(id).op();
    return op != Opcode::Placeholder && op != Opcode::Output && op != Opcode::GetAttr;
  });
}

struct Part {
  std::size_t first = 0, last = 0;  ///< indices of lines
  std::size_t size() const { return last - first; }
};

class Document {
 public:
  Document(std::string_view text, const std::filesystem::path& path, const ImportLimits& limits)
      : m_text(text), m_path(path), m_limits(limits), m_lines(textLines(text)), m_used(m_lines.size(), false) {}

  Result<Capture> run() {
    m_capture.kind = "text";
    m_capture.path = m_path;
    for (const Part& part : parts()) readRepro(part);
    KERF_CHECK(readOthers());
    std::ranges::stable_sort(m_capture.graphs, {}, [](const CapturedGraph& graph) { return graph.origin.line; });
    nameApart();
    return std::move(m_capture);
  }

 private:
  /// Runs of lines between fences that hold a model's class, cut where another one's header begins.
  std::vector<Part> parts() const {
    std::vector<Part> parts;
    for (std::size_t at = 0; at < m_lines.size();) {
      std::size_t end = at;
      while (end < m_lines.size() && !m_lines[end].fence) ++end;
      cut({at, end}, parts);
      at = end + 1;
    }
    return parts;
  }

  void cut(Part run, std::vector<Part>& parts) const {
    std::size_t begin = run.first;
    bool hasModel = false, isBehindOther = false;
    const auto end = [&](std::size_t at) {
      if (hasModel && parts.size() < mostRepros) parts.push_back({begin, at});
      hasModel = false;
    };
    for (std::size_t at = run.first; at < run.last; ++at) {
      if (beginsOther(m_lines[at].text)) {
        end(at);
        isBehindOther = true;
      }
      if (!beginsModel(m_lines[at].text)) continue;
      if (hasModel || isBehindOther) {
        std::size_t boundary = at;
        while (boundary > begin && isHeaderLine(m_lines[boundary - 1].text)) --boundary;
        end(boundary);
        begin = boundary;
      }
      hasModel = true;
      isBehindOther = false;
    }
    end(run.last);
  }

  /// The part as a file of its own, in which lines keep their numbers.
  std::string textOf(const Part& part) const {
    std::string text(m_lines[part.first].number, '\n');
    for (std::size_t at = part.first; at < part.last; ++at) text += m_lines[at].text + "\n";
    return text;
  }

  void readRepro(const Part& part) {
    const std::string text = textOf(part);
    auto read = importRepro(text, m_path, m_limits);
    if (!read) read = readCut(text, std::move(read).error());
    if (!read) {
      m_capture.notes.push_back(fmt::format(
          "line {}: this is not a whole repro, its inputs are made up: {}",
          std::max<std::size_t>(std::size_t(std::max(read.error().line, 0)), m_lines[part.first].number + 1),
          read.error().message));
      return;
    }
    std::fill(m_used.begin() + std::ptrdiff_t(part.first), m_used.begin() + std::ptrdiff_t(part.last), true);
    if (m_capture.torchVersion.empty()) m_capture.torchVersion = read->torchVersion;
    dropLeadingBlanks(read->envelope);
    const auto envelope = std::make_shared<const ReproEnvelope>(std::move(read->envelope));
    for (CapturedGraph& graph : read->graphs) {
      graph.envelope = envelope;
      graph.origin.file = m_path;
      graph.origin.line = int(m_lines[part.first].number) + 1;
      m_capture.graphs.push_back(std::move(graph));
    }
    std::ranges::move(read->notes, std::back_inserter(m_capture.notes));
  }

  /// What is there of a repro, where load_args tells at least some of its inputs.
  Result<Capture> readCut(const std::string& text, Error otherwise) {
    auto cut = otherwise.code == ErrorCode::BadInput ? importCutRepro(text, m_path, m_limits)
                                                     : Result<Capture>(fail(ErrorCode::BadInput, "not cut"));
    if (!cut || !computes(cut->graphs.front())) return fail(std::move(otherwise));
    cut->notes.insert(cut->notes.begin(), fmt::format("line {}: the repro is read as far as it is there: {}",
                                                      std::max(otherwise.line, 1), otherwise.message));
    return cut;
  }

  /// The lines that keep the numbers are no part of the header.
  static void dropLeadingBlanks(ReproEnvelope& envelope) {
    const auto first = std::ranges::find_if(envelope.headerLines, [](const auto& line) { return !line.empty(); });
    envelope.headerLines.erase(envelope.headerLines.begin(), first);
  }

  /// What no repro has taken, as text.
  Result<void> readOthers() {
    std::string rest;
    std::string_view text = m_text;
    std::set<std::size_t> used;
    for (std::size_t at = 0; at < m_lines.size(); ++at)
      if (m_used[at]) used.insert(m_lines[at].number);
    for (std::size_t number = 0; !text.empty(); ++number) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      if (!used.contains(number)) rest += text.substr(0, end);
      rest += '\n';
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    GraphOrigin origin;
    origin.file = m_path;
    origin.line = 1;
    auto graphs = capturedGraphsOfText(rest, origin, m_limits, &m_capture.notes);
    if (!graphs && (graphs.error().code == ErrorCode::TooLarge || m_capture.graphs.empty()))
      return fail(std::move(graphs).error());
    if (graphs) std::ranges::move(*graphs, std::back_inserter(m_capture.graphs));
    return {};
  }

  void nameApart() {
    std::set<std::string> names;
    for (CapturedGraph& graph : m_capture.graphs) {
      const std::string base = graph.name;
      for (int number = 1; !names.insert(graph.name).second; ++number) graph.name = fmt::format("{}_{}", base, number);
    }
  }

  std::string_view m_text;
  const std::filesystem::path& m_path;
  const ImportLimits& m_limits;
  std::vector<TextLine> m_lines;
  std::vector<bool> m_used;
  Capture m_capture;
};

/// How lines begin that a file with one repro does not have.
constexpr std::array<std::string_view, 4> otherStarts = {"\n```", "\n~~~", "\ndef forward(", "\ngraph():"};
/// How the line of its model begins, of which it has one.
constexpr std::array<std::string_view, 2> modelStarts = {"\nclass Repro(", "\nclass GraphModule("};

std::size_t countOf(std::string_view text, std::string_view start) {
  std::size_t count = 0;
  for (std::size_t at = text.find(start); at != text.npos; at = text.find(start, at + 1)) ++count;
  return count;
}

/// Whether the text may hold more than one repro: a model's class twice, code blocks, or graphs of other forms.
bool maybeHoldsMore(std::string_view text) {
  std::size_t models = text.starts_with(modelStarts[1].substr(1)) ? 1 : 0;
  for (const std::string_view start : modelStarts) models += countOf(text, start);
  return models > 1 || std::ranges::any_of(otherStarts, [&](std::string_view start) { return text.contains(start); });
}

}  // namespace

Result<Capture> importReproText(std::string_view text, const std::filesystem::path& path, const ImportLimits& limits) {
  auto whole = importRepro(text, path, limits);
  const bool holdsMore = maybeHoldsMore(text);
  const bool isComplete = text.contains("\ndef load_args(") && text.contains("run_repro(");  // then a fault is a fault
  const bool isDone = whole ? !holdsMore : whole.error().code != ErrorCode::BadInput || (isComplete && !holdsMore);
  if (isDone || text.size() > largestDocument) return whole;
  auto document = Document(text, path, limits).run();
  if (!document) return saysModelSource(document.error()) ? document : whole;
  return std::ranges::any_of(document->graphs, computes) ? document : whole;
}

}  // namespace kerf::inline capture
