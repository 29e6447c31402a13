#include "engine/capture/common/source_text.h"

#include <array>

#include "engine/support/utf8.h"

namespace kerf::inline capture {
namespace {

std::unexpected<Error> failAt(ErrorCode code, std::size_t line, std::string message) {
  return fail(Error{code, std::move(message), {}, int(line), {}, {}});
}

/// One pass over the text: line table, string and bracket state.
class Scanner {
 public:
  Scanner(std::string_view text, const ImportLimits& limits) : m_text(text), m_limits(limits) { m_source.text = text; }

  Result<SourceText> run() {
    KERF_CHECK(startLine());
    while (m_at < m_text.size()) KERF_CHECK(step());
    KERF_CHECK(finishLine());
    if (m_quote != 0 && m_triple)
      return failAt(ErrorCode::BadInput, m_quoteLine, "this triple-quoted string never ends: truncated file?");
    if (!m_open.empty())
      return failAt(ErrorCode::BadInput, m_open.back().line,
                    fmt::format("this '{}' is never closed: truncated file?", m_open.back().bracket));
    return std::move(m_source);
  }

 private:
  struct Open {
    char bracket;
    std::size_t line;
  };

  std::size_t line() const { return m_source.inString.size(); }  // 1-based number of the current line

  Result<void> startLine() {
    if (std::int64_t(m_source.lines.size()) > linesPerNode * m_limits.nodes)
      return failAt(ErrorCode::TooLarge, line(),
                    fmt::format("the file has more than {} lines", linesPerNode * m_limits.nodes));
    m_lineStart = m_at;
    m_comment = false;
    m_source.inString.push_back(m_quote != 0 ? 1 : 0);
    m_source.inBracket.push_back(m_open.empty() ? 0 : 1);
    return {};
  }

  Result<void> finishLine() {
    std::string_view content = m_text.substr(m_lineStart, m_at - m_lineStart);
    if (std::int64_t(content.size()) > m_limits.lineBytes)
      return failAt(ErrorCode::TooLarge, line(),
                    fmt::format("this line is {} bytes long, the limit is {}", content.size(), m_limits.lineBytes));
    if (content.ends_with('\r')) content.remove_suffix(1);
    m_source.lines.push_back(content);
    if (!m_triple && !m_escapedEnd) m_quote = 0;
    m_escapedEnd = false;
    return {};
  }

  Result<void> step() {
    const char c = m_text[m_at];
    if (c == '\n') {
      KERF_CHECK(finishLine());
      ++m_at;
      return startLine();
    }
    if (static_cast<unsigned char>(c) >= 0x80 || c == '\0') return skipEncoded();
    if (m_comment)
      ++m_at;
    else if (m_quote != 0)
      insideString(c);
    else
      return outside(c);
    return {};
  }

  Result<void> skipEncoded() {
    const std::size_t length = m_text[m_at] == '\0' ? 0 : firstCodePoint(m_text.substr(m_at)).bytes;
    if (length == 0)
      return failAt(ErrorCode::BadInput, line(),
                    fmt::format("byte {:#04x} is not text (UTF-8 expected)", static_cast<unsigned char>(m_text[m_at])));
    m_at += length;
    return {};
  }

  void insideString(char c) {
    if (c == '\\') {
      const bool escapesNewline = m_at + 1 < m_text.size() && m_text[m_at + 1] == '\n';
      const bool plain =
          m_at + 1 < m_text.size() && static_cast<unsigned char>(m_text[m_at + 1]) < 0x80 && m_text[m_at + 1] != '\0';
      m_escapedEnd = escapesNewline;
      m_at += plain && !escapesNewline ? 2 : 1;
    } else if (c == m_quote && (!m_triple || isTriple())) {
      m_at += m_triple ? 3 : 1;
      m_quote = 0;
      m_triple = false;
    } else {
      ++m_at;
    }
  }

  bool isTriple() const {
    return m_at + 2 < m_text.size() && m_text[m_at] == m_text[m_at + 1] && m_text[m_at] == m_text[m_at + 2];
  }

  Result<void> outside(char c) {
    if (c == '#') m_comment = true;
    if (c == '\'' || c == '"') {
      m_quote = c;
      m_triple = isTriple();
      m_quoteLine = line();
      m_at += m_triple ? 3 : 1;
      return {};
    }
    if (c == '(' || c == '[' || c == '{')
      KERF_CHECK(openBracket(c));
    else if ((c == ')' || c == ']' || c == '}') && !m_open.empty())
      m_open.pop_back();
    ++m_at;
    return {};
  }

  Result<void> openBracket(char c) {
    m_open.push_back({c, line()});
    if (int(m_open.size()) > m_limits.nesting)
      return failAt(ErrorCode::TooLarge, line(), fmt::format("brackets are nested deeper than {}", m_limits.nesting));
    return {};
  }

  std::string_view m_text;
  const ImportLimits& m_limits;
  SourceText m_source;
  std::vector<Open> m_open;
  std::size_t m_at = 0;
  std::size_t m_lineStart = 0;
  std::size_t m_quoteLine = 0;
  char m_quote = 0;
  bool m_triple = false;
  bool m_comment = false;
  bool m_escapedEnd = false;  ///< a backslash ends the line inside a string, which goes on
};

}  // namespace

bool SourceText::startsStatement(std::size_t line) const {
  if (inString[line] != 0 || inBracket[line] != 0) return false;
  const std::string_view content = trimmed(lines[line]);
  return !content.empty() && content.front() != '#';
}

std::size_t SourceText::statementEnd(std::size_t line, std::size_t end) const {
  std::size_t next = line + 1;
  while (next < end && !startsStatement(next)) ++next;
  return next;
}

std::string_view SourceText::slice(LineRange range) const {
  if (range.empty()) return {};
  const char* begin = lines[range.first].data();
  const std::string_view last = lines[range.last - 1];
  return {begin, std::size_t(last.data() + last.size() - begin)};
}

Result<SourceText> scanSource(std::string_view text, const ImportLimits& limits) {
  if (std::int64_t(text.size()) > limits.fileBytes)
    return fail(ErrorCode::TooLarge, "the file is {} bytes long, the limit is {}", text.size(), limits.fileBytes);
  return Scanner(text, limits).run();
}

std::size_t indentation(std::string_view line) {
  std::size_t columns = 0;
  for (const char c : line) {
    if (c != ' ' && c != '\t') break;
    columns += c == ' ' ? 1 : 8;
  }
  return columns;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n\f\v";
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

}  // namespace kerf::inline capture
