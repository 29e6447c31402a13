#include "engine/capture/text/pieces.h"

#include <algorithm>

#include "engine/capture/text/code_pieces.h"

namespace kerf::inline capture {
namespace {

using Kind = LineContent::Kind;

class Pieces {
 public:
  explicit Pieces(const std::vector<TextLine>& lines) : m_lines(lines), m_taken(lines.size(), false) {}

  std::vector<GraphTextPiece> run() {
    for (std::size_t at = 0; at < m_lines.size(); ++at) {
      if (m_taken[at] || m_lines[at].fence) continue;
      const LineContent content = contentOf(m_lines[at].text);
      if (content.kind != Kind::None) begin(at, content);
    }
    dropLoneFragments();
    joinNested();
    return std::move(m_pieces);
  }

 private:
  void begin(std::size_t at, const LineContent& content) {
    PieceReader reader(m_lines, m_taken, at, content);
    bool isOne = true;
    if (content.kind == Kind::Class || content.kind == Kind::Forward)
      isOne = reader.readable();
    else if (content.kind == Kind::GraphHeader || content.kind == Kind::GraphNode)
      reader.graphText();
    else if (content.kind == Kind::TableHeader || content.kind == Kind::TableRow)
      reader.table();
    else
      reader.statements();
    if (isOne) m_pieces.push_back(reader.take());
  }

  /// A single node is what an error message mentions, and code without a signature may be the user's own: they are
  /// graphs only where the text has nothing better.
  void dropLoneFragments() {
    const bool hasWhole = std::ranges::any_of(m_pieces, [](const auto& piece) { return !piece.fragment; });
    const bool isOnly = m_pieces.size() == 1;
    std::erase_if(m_pieces, [&](const GraphTextPiece& piece) {
      const bool isCode = piece.form == GraphTextPiece::Form::Readable;
      const bool isAnnotated = isCode && piece.text.find(": \"") != std::string::npos;
      return piece.fragment && ((piece.statements < 2 && !(isOnly && isAnnotated)) || (hasWhole && isCode));
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
