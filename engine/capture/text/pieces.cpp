#include "engine/capture/text/pieces.h"

#include <algorithm>

#include "engine/capture/text/code_kind.h"
#include "engine/capture/text/code_pieces.h"

namespace kerf::inline capture {
namespace {

using Kind = LineContent::Kind;

constexpr std::size_t looksAhead = 8;  ///< lines of comments between a function's head and its first statement

bool hasSeveral(const GraphTextPiece& piece) { return piece.statements > 1; }

/// What only printers write: a value's type, or the values that end with a statement.
bool isMarked(const GraphTextPiece& piece) {
  return piece.text.find(": \"") != std::string::npos || piece.text.find(";  ") != std::string::npos;
}

class Pieces {
 public:
  explicit Pieces(const std::vector<TextLine>& lines) : m_lines(lines), m_taken(lines.size(), false) {}

  std::vector<GraphTextPiece> run() {
    for (std::size_t at = 0; at < m_lines.size(); ++at) {
      if (m_taken[at] || m_lines[at].fence) continue;
      const LineContent content = contentOf(m_lines[at].text);
      if (content.kind == Kind::Function && !beginsWithOp(at)) continue;
      if (content.kind != Kind::None) begin(at, content);
    }
    dropLoneFragments();
    joinNested();
    return std::move(m_pieces);
  }

 private:
  /// Whether a function's first statement calls an operator, as those that make_fx and AOTAutograd print.
  bool beginsWithOp(std::size_t function) const {
    const std::size_t end = std::min(m_lines.size(), function + looksAhead);
    for (std::size_t at = function + 1; at < end && !m_lines[at].fence; ++at) {
      const std::string_view line = m_lines[at].text;
      const LineContent content = contentOf(line);
      if (content.kind == Kind::None && line.find(" = ") == std::string_view::npos) continue;
      return content.kind == Kind::Statement && line.find(" = torch.ops.") != std::string_view::npos;
    }
    return false;
  }

  void begin(std::size_t at, const LineContent& content) {
    PieceReader reader(m_lines, m_taken, at, content);
    bool isOne = true;
    if (content.kind == Kind::Class || content.kind == Kind::Forward || content.kind == Kind::Function)
      isOne = reader.readable();
    else if (content.kind == Kind::GraphHeader || content.kind == Kind::GraphNode)
      reader.graphText();
    else if (content.kind == Kind::TableHeader || content.kind == Kind::TableRow)
      reader.table();
    else
      reader.statements();
    if (isOne) m_pieces.push_back(reader.take());
  }

  /// Code without a signature may be the user's own, and a single node is what an error message mentions: they are
  /// graphs only where the text has nothing better, a single statement only as printers write one.
  void dropLoneFragments() {
    const auto isGraph = [](const auto& piece) { return !piece.fragment && codeKind(piece) == CodeKind::Printed; };
    const bool hasGraph = std::ranges::any_of(m_pieces, isGraph);
    const bool hasWhole = std::ranges::any_of(m_pieces, [](const auto& piece) { return !piece.fragment; });
    const bool hasRun = std::ranges::any_of(m_pieces, hasSeveral);
    std::erase_if(m_pieces, [&](const GraphTextPiece& piece) {
      if (!piece.fragment) return false;
      if (piece.form != GraphTextPiece::Form::Readable) return !hasSeveral(piece);
      return hasGraph || (hasWhole && !isMarked(piece)) || (!hasSeveral(piece) && (hasRun || !isMarked(piece)));
    });
  }

  /// Puts classes that a later class instantiates in front of it.
  void joinNested() {
    for (std::size_t i = 0; i + 1 < m_pieces.size();) {
      const std::string call = "= " + m_pieces[i].className + "()";
      GraphTextPiece& next = m_pieces[i + 1];
      const bool nested = !m_pieces[i].className.empty() && !next.className.empty() &&
                          next.text.find("self.") != std::string::npos && next.text.find(call) != std::string::npos;
      if (!nested) {
        ++i;
        continue;
      }
      const std::size_t end = m_pieces[i].line + std::size_t(std::ranges::count(m_pieces[i].text, '\n'));
      next.text = m_pieces[i].text + std::string(next.line > end ? next.line - end : 0, '\n') + next.text;
      next.line = m_pieces[i].line;
      if (!m_pieces[i].label.stage.empty()) next.label = m_pieces[i].label;
      m_pieces.erase(m_pieces.begin() + std::ptrdiff_t(i));
      if (i > 0) --i;
    }
  }

  const std::vector<TextLine>& m_lines;
  std::vector<bool> m_taken;
  std::vector<GraphTextPiece> m_pieces;
};

}  // namespace

std::vector<GraphTextPiece> graphTextPieces(const std::vector<TextLine>& lines) { return Pieces(lines).run(); }

}  // namespace kerf::inline capture
