#include "engine/capture/text/code_pieces.h"

#include <algorithm>
#include <utility>

#include "engine/capture/text/bare_annotations.h"
#include "engine/capture/text/lost_indentation.h"
#include "engine/capture/text/python_scan.h"
#include "engine/ir/shortened_line.h"

namespace kerf::inline capture {
namespace {

using Kind = LineContent::Kind;
using Form = GraphTextPiece::Form;

std::string_view dedented(std::string_view line, std::size_t columns) {
  std::size_t removed = 0;
  while (removed < columns && !line.empty() && (line.front() == ' ' || line.front() == '\t')) {
    removed += line.front() == '\t' ? 8 : 1;
    line.remove_prefix(1);
  }
  return line;
}

bool isReturn(std::string_view content) { return content == "return" || content.starts_with("return "); }

/// Where a docstring that holds the graph ends on the graph's last line: `return (add,)""")`.
std::size_t docstringEnd(std::string_view content) { return std::min(content.find("\"\"\""), content.find("\'\'\'")); }

/// A class of tests, which holds graphs in its methods' strings.
bool isTestClass(std::string_view head) {
  const std::string_view bases = head.substr(std::min(head.find('('), head.size()));
  return bases.empty() || bases.find("Test") != std::string_view::npos;
}

/// Whether the line can stand in a class. A quote or bracket that nothing opened ends the string that the class was in;
/// below a line that ends with ':' quotes are a docstring.
bool isCode(std::string_view line, bool outside, char above) {
  if (beginsGraph(line) || beginsTable(line)) return false;
  if (!outside) return true;
  const bool quotes = line.starts_with("\"\"\"") || line.starts_with("'''");
  return !(line.starts_with(')') || line.starts_with(']') || line.starts_with('}') || (quotes && above != ':'));
}

bool endsGraph(std::string_view content) {
  return beginsGraph(content) || beginsClass(content) || beginsForward(content) || beginsTable(content);
}

/// A continuation goes behind the last line; the line break may stand for a space.
void joinLine(std::string& text, std::string_view next) {
  while (text.ends_with('\n')) text.pop_back();
  const char last = text.empty() ? '\n' : text.back();
  const bool opens = last == '(' || last == '[' || last == '{';
  const bool closes = next.starts_with(')') || next.starts_with(']') || next.starts_with('}');
  if (last == ',' && closes) text.pop_back();
  if (last != '\n' && !opens && !closes) text += ' ';
}

Form formOf(Kind kind) {
  if (kind == Kind::GraphHeader || kind == Kind::GraphNode) return Form::GraphText;
  return kind == Kind::TableHeader || kind == Kind::TableRow ? Form::Tabular : Form::Readable;
}

}  // namespace

PieceReader::PieceReader(const std::vector<TextLine>& lines, std::vector<bool>& taken, std::size_t first,
                         const LineContent& content)
    : m_lines(lines),
      m_taken(taken),
      m_first(first),
      m_content(content),
      m_rows(lines, taken, first, std::string_view(lines[first].text).substr(0, content.outer)) {
  m_piece.form = formOf(content.kind);
  m_piece.line = m_piece.lastLine = lines[first].number;
  m_piece.label = labelAbove(lines, first, std::string_view(lines[first].text).substr(0, content.outer));
  m_piece.fragment = content.kind == Kind::GraphNode || content.kind == Kind::TableRow;
  m_piece.statements = 1;
  taken[first] = true;
}

std::string_view PieceReader::head() const {
  return strippedLine(std::string_view(m_lines[m_first].text).substr(m_content.begin));
}

/// "def f(x):" as "def forward(x):"; the graph is called f.
std::string PieceReader::renamedHead() {
  const std::string name = identifierAfter(head(), "def ");
  if (m_piece.label.name.empty()) m_piece.label.name = name;
  return "def forward" + std::string(head().substr(4 + name.size()));
}

/// Adds a line of code at its place: lines passed over stay blank.
void PieceReader::addRow(std::size_t index, std::string_view text) {
  m_taken[index] = true;
  m_added.push_back(index);
  const std::size_t place = m_lines[index].number - m_piece.line;
  if (place > m_count) m_piece.text.append(place - m_count, '\n');
  m_piece.text += withQuotedAnnotations(text);
  m_piece.text += '\n';
  m_count = std::max(m_count, place) + 1;
  m_piece.lastLine = m_lines[index].number;
}

bool PieceReader::readable() {
  const std::size_t indent = leadingSpaces(m_rows.first());
  if (m_content.kind == Kind::Class) m_piece.className = identifierAfter(head(), "class ");
  bool hasForward = m_content.kind != Kind::Class;
  if (!hasForward && isTestClass(head())) return false;
  PythonScan scan;
  LostIndentation lost(hasForward, m_content.kind == Kind::Class);
  char above = ':';
  addRow(m_first, m_content.kind == Kind::Function ? renamedHead() : std::string(head()));
  scan.line(head());
  while (const auto row = m_rows.next()) {
    const std::string_view inner = strippedLine(row->text);
    const bool shallow = !inner.empty() && leadingSpaces(row->text) <= indent;
    const bool begins = beginsClass(inner) || beginsForward(inner);
    const bool outside = !scan.continues() && !inner.empty() && !inner.starts_with('#');
    const bool code = isCode(inner, outside, above);
    if (!inner.empty() && !inner.starts_with('#')) above = inner.back();
    if (code && lost.takes(inner, shallow, outside, m_piece.text)) {
      hasForward = hasForward || (outside && beginsForward(inner));
      addRow(row->index, std::string(lost.columns(inner), ' ') + std::string(inner));
      lost.took(inner, outside);
      scan.line(inner);
      continue;
    }
    if ((shallow && (outside || begins)) || !code) break;
    hasForward = hasForward || (outside && beginsForward(inner));
    const std::size_t quotes = isReturn(inner) ? docstringEnd(row->text) : std::string_view::npos;
    const std::string_view text = row->text.substr(0, quotes);
    addRow(row->index, dedented(text, indent));
    if (quotes != std::string_view::npos) break;
    scan.line(text);
  }
  if (!hasForward) giveBack();
  return hasForward;
}

/// The lines behind the first one may hold a graph of their own.
void PieceReader::giveBack() {
  for (const std::size_t index : m_added)
    if (index != m_first) m_taken[index] = false;
}

void PieceReader::graphText() {
  m_piece.text = std::string(head()) + "\n";
  bool returned = false;
  std::size_t joined = 0;
  PythonScan scan(PythonScan::Text::Graph);
  if (m_piece.fragment) scan.line(head());
  while (const auto row = m_rows.next()) {
    const std::size_t node = m_piece.fragment ? contentOf(row->text).begin : 0;
    std::string_view line = strippedLine(row->text.substr(beginsNode(row->text.substr(node)) ? node : 0));
    const bool returns = isReturn(line);
    if (returns) line = strippedLine(line.substr(0, docstringEnd(line)));  // a test's string ends on this line
    const bool begins = beginsNode(line) || (returns && !scan.continues());
    if (endsGraph(line) || (returned && (begins || !scan.continues()))) break;
    const bool isOther = m_piece.fragment && !begins && !scan.continues();  // between the nodes of a log
    if (isOther || line.empty() || line.starts_with('#')) {
      ++joined;
      continue;
    }
    m_taken[row->index] = true;
    if (isEllipsis(line)) {  // lines are missing here
      ++joined;
      continue;
    }
    if (begins) {
      scan = PythonScan(PythonScan::Text::Graph);
      m_piece.text.append(std::exchange(joined, 0), '\n');  // later nodes keep their line numbers
      ++m_piece.statements;
    } else {
      joinLine(m_piece.text, line);
      ++joined;
    }
    scan.line(line);
    if (line.ends_with("...")) scan = PythonScan(PythonScan::Text::Graph);  // shortened: the next line is another one
    m_piece.text += line;
    m_piece.text += '\n';
    m_piece.lastLine = m_lines[row->index].number;
    returned = returned || returns;
  }
}

void PieceReader::table() {
  m_piece.text = std::string(head()) + "\n";
  while (const auto row = m_rows.next()) {
    const std::string_view line = strippedLine(row->text);
    const bool isRule = line.find_first_not_of("-=+| ") == std::string_view::npos;
    if (!isRule && !isEllipsis(line) && !isTableRow(line.starts_with('|') ? strippedLine(line.substr(1)) : line)) break;
    m_taken[row->index] = true;
    m_piece.text += line;
    m_piece.text += '\n';
    m_piece.lastLine = m_lines[row->index].number;
    m_piece.statements += isRule ? 0 : 1;
  }
}

void PieceReader::statements() {
  m_piece.fragment = true;
  const std::size_t indent = leadingSpaces(m_rows.first());
  PythonScan scan;
  const auto add = [&](std::size_t index, std::string_view text) {
    addRow(index, "    " + std::string(dedented(text, indent)));
    scan.line(text);
  };
  add(m_first, m_rows.first());
  while (const auto row = m_rows.next()) {
    const std::string_view inner = strippedLine(row->text);
    const bool isOne = isStatement(inner) || inner.find(" = None") != std::string_view::npos || isReturn(inner);
    if (!scan.continues() && !inner.empty() && !inner.starts_with('#') && !isOne) break;
    m_piece.statements += isOne ? 1 : 0;
    add(row->index, row->text);
    if (isReturn(inner)) break;
  }
  m_piece.text = "def forward(self):\n" + m_piece.text;
}

}  // namespace kerf::inline capture
