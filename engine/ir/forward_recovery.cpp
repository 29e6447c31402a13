// How a forward method is read of which only a part is there: cut, with ellipses, or with what no graph holds.
#include <algorithm>

#include "engine/ir/forward_reader.h"
#include "engine/ir/partial_reading.h"

namespace kerf::inline ir {
namespace {

constexpr std::size_t mostSkipped = 200;
constexpr std::size_t readAgainBytes = 8 << 20;  ///< beside a few times the text

std::size_t columnOf(std::string_view line) { return std::min(line.find_first_not_of(" \t"), line.size()); }

bool isBlank(std::string_view line) { return line.find_first_not_of(" \t\r") == std::string_view::npos; }

}  // namespace

/// Reads a statement, or notes why it cannot be read and goes on behind it.
Result<void> ForwardReader::statementOrSkip() {
  const std::size_t begin = m_lexer.offset();
  const int line = m_lexer.peek().line;
  if (m_bodyColumn == 0) m_bodyColumn = std::size_t(m_lexer.peek().column);
  if (m_lexer.accept("...")) return {};
  const Graph& graph = m_module.graph;
  const NodeId last = graph.size() == 0 ? NodeId() : graph.order().back();
  Result<void> read = m_lexer.peek().kind == PythonTokenKind::Error ? fail(m_lexer.errorHere("")) : statement();
  const NodeId now = graph.size() == 0 ? NodeId() : graph.order().back();
  const bool isUncalled = read && now == last && textBetween(begin, m_lexer.offset()).contains("= torch.");
  m_uncalledLine = isUncalled ? line : 0;
  if (read || read.error().code == ErrorCode::TooLarge) return read;
  if (m_returned) return read;
  const auto order = graph.order();
  const auto firstNew = std::ranges::find(order.rbegin(), order.rend(), last).base();
  std::copy_if(firstNew, order.end(), std::back_inserter(m_leftOver),
               [&](NodeId id) { return graph.node(id).op() != Opcode::Placeholder; });
  if (m_partial->skipped.size() >= mostSkipped) return pythonError(line, "most of this is not a graph");
  m_partial->skipped.push_back({line, std::move(read).error().message});
  const std::size_t reached = m_lexer.offset();
  skipToNextStatement(begin, line);
  m_readAgain += reached - std::min(reached, m_lexer.offset());
  if (m_readAgain > readAgainBytes + 4 * m_text.size()) return pythonError(line, "most of this is not a graph");
  return {};
}

/// The next line that is indented as the statements are, or less.
void ForwardReader::skipToNextStatement(std::size_t begin, int line) {
  std::size_t at = std::min(m_text.find('\n', begin), m_text.size());
  while (at < m_text.size()) {
    ++at;
    ++line;
    const std::size_t end = std::min(m_text.find('\n', at), m_text.size());
    const std::string_view next = m_text.substr(at, end - at);
    if (!isBlank(next) && columnOf(next) <= m_bodyColumn) break;
    at = end;
  }
  m_lexer.restart(at, line);
}

/// The last line that has something in it.
int ForwardReader::lastLine() const {
  const std::string_view read = m_text.substr(0, std::min(m_endOffset, m_text.size()));
  const std::size_t last = read.find_last_not_of(" \t\r\n");
  const std::string_view blank = last == std::string_view::npos ? std::string_view() : read.substr(last + 1);
  return m_endLine - int(std::ranges::count(blank, '\n'));
}

/// The output of a graph whose return is missing: what nothing uses. No graph where nothing is computed.
Result<void> ForwardReader::returnWhatIsUnused() {
  KERF_CHECK(createPlaceholders());
  Graph& graph = m_module.graph;
  for (std::size_t i = m_leftOver.size(); i-- > 0;)
    if (graph.node(m_leftOver[i]).users().empty()) KERF_CHECK(graph.eraseNode(m_leftOver[i]));
  if (m_uncalledLine > 0) m_partial->skipped.push_back({m_uncalledLine, "it is cut within the name of what is called"});
  returnUnused(graph, lastLine(), *m_partial, m_freed);
  m_returned = graph.outputNode().valid();
  return {};
}

}  // namespace kerf::inline ir
