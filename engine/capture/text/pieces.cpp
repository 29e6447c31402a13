// graphTextPieces: where graphs begin and end in lines of text.
#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "engine/capture/text/lines.h"

namespace kerf::inline capture {
namespace {

std::string_view stripped(std::string_view line) {
  const std::size_t first = line.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return line.substr(first, line.find_last_not_of(" \t\r") - first + 1);
}

/// Follows brackets and strings over lines of Python; in str(graph) strings have no quotes, and '#' is no comment.
class PythonScan {
 public:
  enum class Text { Python, Graph };
  explicit PythonScan(Text text = Text::Python) : m_isPython(text == Text::Python) {}

  void line(std::string_view text) {
    for (std::size_t at = 0; at < text.size();) at += step(text, at);
    if (m_quote.size() == 1) m_quote.clear();  // an open quote ends with its line
  }
  /// Whether the next line continues a bracket or a string.
  bool continues() const { return m_depth > 0 || !m_quote.empty(); }

 private:
  std::size_t step(std::string_view text, std::size_t at) {
    const char c = text[at];
    if (!m_quote.empty()) {
      if (c == '\\') return 2;
      if (!text.substr(at).starts_with(m_quote)) return 1;
      const std::size_t length = m_quote.size();
      m_quote.clear();
      return length;
    }
    if (m_isPython && c == '#') return text.size() - at;
    if (m_isPython && (c == '\'' || c == '"')) {
      const bool triple = text.substr(at, 3) == std::string(3, c);
      m_quote.assign(triple ? 3 : 1, c);
      return m_quote.size();
    }
    if (c == '(' || c == '[' || c == '{') ++m_depth;
    if (c == ')' || c == ']' || c == '}') m_depth = std::max(0, m_depth - 1);
    return 1;
  }

  bool m_isPython;
  int m_depth = 0;
  std::string m_quote;
};

std::string identifierAfter(std::string_view text, std::string_view word) {
  text.remove_prefix(word.size());
  const auto end =
      std::ranges::find_if(text, [](unsigned char c) { return std::isalnum(c) == 0 && c != '_' && c < 0x80; });
  return {text.begin(), end};
}

bool beginsClass(std::string_view content) {
  return content.starts_with("class ") && content.find(':') != std::string_view::npos &&
         (!identifierAfter(content, "class ").empty() || content.starts_with("class <lambda>("));
}
bool beginsForward(std::string_view content) { return content.starts_with("def forward("); }
bool beginsGraph(std::string_view content) { return content.starts_with("graph(") && content.ends_with(":"); }

/// The columns' names with nothing but space between them.
bool beginsTable(std::string_view content) {
  for (const std::string_view name : {"opcode", "name", "target", "args", "kwargs"}) {
    if (!content.starts_with(name)) return false;
    content.remove_prefix(name.size());
    content.remove_prefix(std::min(content.find_first_not_of(" |\t"), content.size()));
  }
  return content.empty();
}

constexpr std::array<std::string_view, 6> opcodes = {"placeholder", "call_function", "call_method",
                                                     "call_module", "get_attr",      "output"};

bool isTableRow(std::string_view content) {
  return std::ranges::any_of(opcodes, [&](std::string_view op) {
    return content.starts_with(op) && content.size() > op.size() && content[op.size()] == ' ';
  });
}

std::string_view dedented(std::string_view line, std::size_t columns) {
  std::size_t removed = 0;
  while (removed < columns && !line.empty() && (line.front() == ' ' || line.front() == '\t')) {
    removed += line.front() == '\t' ? 8 : 1;
    line.remove_prefix(1);
  }
  return line;
}

class Pieces {
 public:
  explicit Pieces(const std::vector<std::string>& lines) : m_lines(lines) {}

  std::vector<GraphTextPiece> run() {
    while (m_at < m_lines.size()) {
      const std::string_view content = stripped(m_lines[m_at]);
      if (beginsClass(content) || beginsForward(content))
        readable(content);
      else if (beginsGraph(content))
        graphText();
      else if (beginsTable(content))
        table();
      else
        ++m_at;
    }
    joinNested();
    return std::move(m_pieces);
  }

 private:
  /// A class or function: up to the next line that is indented no deeper.
  void readable(std::string_view content) {
    GraphTextPiece piece;
    piece.line = m_at;
    if (beginsClass(content)) piece.className = identifierAfter(content, "class ");
    const std::size_t indent = leadingSpaces(m_lines[m_at]);
    bool hasForward = false;
    PythonScan scan;
    for (std::size_t first = m_at; m_at < m_lines.size(); ++m_at) {
      const std::string_view inner = stripped(m_lines[m_at]);
      const bool outside = !scan.continues() && !inner.empty() && !inner.starts_with('#');
      if (m_at > first && outside && leadingSpaces(m_lines[m_at]) <= indent) break;
      hasForward = hasForward || (outside && beginsForward(inner));
      scan.line(m_lines[m_at]);
      piece.text += dedented(m_lines[m_at], indent);
      piece.text += '\n';
    }
    if (hasForward) m_pieces.push_back(std::move(piece));
  }

  static bool endsGraph(std::string_view content) {
    return beginsGraph(content) || beginsClass(content) || beginsForward(content) || beginsTable(content);
  }

  static bool beginsNode(std::string_view content) {
    return content.starts_with('%') && (content.find("[num_users=") != std::string_view::npos ||
                                        content.find("[#users=") != std::string_view::npos);
  }

  /// One node per line of the piece; lines that a terminal or a printer wrapped are joined.
  void graphText() {
    GraphTextPiece piece{GraphTextPiece::Form::GraphText, std::string(stripped(m_lines[m_at])) + "\n", m_at, {}};
    bool returned = false;
    std::size_t joined = 0;
    PythonScan scan(PythonScan::Text::Graph);
    for (++m_at; m_at < m_lines.size(); ++m_at) {
      const std::string_view content = stripped(m_lines[m_at]);
      const bool returns = content == "return" || content.starts_with("return ");
      const bool begins = beginsNode(content) || (returns && !scan.continues());
      if (endsGraph(content) || (returned && (begins || !scan.continues()))) break;
      if (content.empty() || content.starts_with('#')) {
        ++joined;
        continue;
      }
      if (begins) scan = PythonScan(PythonScan::Text::Graph);
      if (begins) {
        piece.text.append(std::exchange(joined, 0), '\n');  // later nodes keep their line numbers
      } else {
        joinLine(piece.text, content);
        ++joined;
      }
      scan.line(content);
      piece.text += content;
      piece.text += '\n';
      returned = returned || returns;
    }
    m_pieces.push_back(std::move(piece));
  }

  /// A continuation goes behind the last line; the line break may stand for a space.
  static void joinLine(std::string& text, std::string_view next) {
    while (text.ends_with('\n')) text.pop_back();
    const char last = text.empty() ? '\n' : text.back();
    const bool opens = last == '(' || last == '[' || last == '{';
    const bool closes = next.starts_with(')') || next.starts_with(']') || next.starts_with('}');
    if (last == ',' && closes) text.pop_back();
    if (last != '\n' && !opens && !closes) text += ' ';
  }

  void table() {
    GraphTextPiece piece{GraphTextPiece::Form::Tabular, {}, m_at, {}};
    for (; m_at < m_lines.size(); ++m_at) {
      const std::string_view content = stripped(m_lines[m_at]);
      const bool isRule = content.find_first_not_of("-=+| ") == std::string_view::npos;
      if (!isRule && !isTableRow(content) && !(piece.text.empty() && beginsTable(content))) break;
      piece.text += m_lines[m_at];
      piece.text += '\n';
    }
    m_pieces.push_back(std::move(piece));
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
      const std::size_t gap = next.line - m_pieces[i].line - std::size_t(std::ranges::count(m_pieces[i].text, '\n'));
      next.text = m_pieces[i].text + std::string(gap, '\n') + next.text;
      next.line = m_pieces[i].line;
      m_pieces.erase(m_pieces.begin() + std::ptrdiff_t(i));
      if (i > 0) --i;
    }
  }

  const std::vector<std::string>& m_lines;
  std::size_t m_at = 0;
  std::vector<GraphTextPiece> m_pieces;
};

}  // namespace

std::vector<GraphTextPiece> graphTextPieces(const std::vector<std::string>& lines) { return Pieces(lines).run(); }

}  // namespace kerf::inline capture
