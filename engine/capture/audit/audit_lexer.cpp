#include "engine/capture/audit/audit_lexer.h"

#include <algorithm>
#include <array>
#include <unordered_set>

#include "engine/ir/graph.h"
#include "engine/support/utf8.h"

namespace kerf::inline capture {
namespace {

/// Longest first, so that the first match is the token. No ":=", no "!": graphs need neither.
constexpr std::array<std::string_view, 46> operators = {
    "**=", "//=", ">>=", "<<=", "...", "->", "**", "//", ">>", "<<", "<=", ">=", "==", "!=", "+=", "-=",
    "*=",  "/=",  "%=",  "&=",  "|=",  "^=", "@=", "+",  "-",  "*",  "/",  "%",  "&",  "|",  "^",  "~",
    "<",   ">",   "(",   ")",   "[",   "]",  "{",  "}",  ",",  ":",  ".",  ";",  "=",  "@"};

bool isDigit(char c) { return c >= '0' && c <= '9'; }
bool isNameChar(char c) {
  return c == '_' || isDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         static_cast<unsigned char>(c) >= 0x80;
}

bool isKeyword(std::string_view text) {
  static const std::unordered_set<std::string_view> words = {"None", "True", "False", "and",  "as",     "class",
                                                             "def",  "else", "from",  "if",   "import", "in",
                                                             "is",   "not",  "or",    "pass", "return", "with"};
  return words.contains(text);
}

/// Characters that make a line look like another one, or end it for other readers than Python.
bool misleads(std::uint32_t code) {
  return (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069) || code == 0x200e || code == 0x200f ||
         code == 0x2028 || code == 0x2029 || code == 0x85 || code == 0x61c || code == 0xfeff;
}

class AuditLexer {
 public:
  explicit AuditLexer(std::string_view text) : m_text(text) {}

  Result<std::vector<AuditToken>> run() {
    KERF_CHECK(checkCharacters());
    while (m_at < m_text.size()) KERF_CHECK(line());
    while (m_indents.size() > 1) {
      m_indents.pop_back();
      add(AuditKind::Dedent, 0);
    }
    add(AuditKind::End, 0);
    return std::move(m_tokens);
  }

 private:
  Result<void> checkCharacters() const {
    int line = 1;
    for (std::size_t at = 0; at < m_text.size();) {
      const CodePoint point = firstCodePoint(m_text.substr(at));
      if (point.bytes == 0) return auditError(line, "bytes that are no UTF-8");
      const std::uint32_t code = point.value;
      if ((code < 0x20 && code != '\n' && code != '\t') || (code >= 0x7f && code < 0xa0) || misleads(code))
        return auditError(line, fmt::format("the character U+{:04X}", code));
      line += code == '\n' ? 1 : 0;
      at += point.bytes;
    }
    return {};
  }

  void add(AuditKind kind, std::size_t length) {
    m_tokens.push_back({kind, m_text.substr(m_at, length), m_line});
    m_at += length;
  }

  char peek(std::size_t ahead = 0) const { return m_at + ahead < m_text.size() ? m_text[m_at + ahead] : '\n'; }

  void newline() {
    if (m_at < m_text.size()) ++m_at;
    ++m_line;
  }

  Result<void> comment() {
    const std::size_t end = std::min(m_text.find('\n', m_at), m_text.size());
    if (m_line <= 2 && isCodingCookie(m_text.substr(m_at, end - m_at)))
      return auditError(m_line, "a comment that names an encoding");
    m_at = end;
    return {};
  }

  Result<void> indentation(std::size_t width) {
    if (width > m_indents.back()) {
      m_indents.push_back(width);
      add(AuditKind::Indent, 0);
      return {};
    }
    while (width < m_indents.back()) {
      m_indents.pop_back();
      add(AuditKind::Dedent, 0);
    }
    return width == m_indents.back() ? Result<void>() : auditError(m_line, "an indentation that fits no block");
  }

  /// One logical line with the comments in it.
  Result<void> line() {
    std::size_t width = 0;
    while (peek() == ' ' && m_at < m_text.size()) ++m_at, ++width;
    if (peek() == '#') KERF_CHECK(comment());
    if (peek() == '\n') return newline(), Result<void>();
    if (peek() == '\t') return auditError(m_line, "a tab in the indentation");
    KERF_CHECK(indentation(width));
    while (peek() != '\n' || m_depth > 0) {
      if (m_at >= m_text.size()) return auditError(m_line, "a bracket that is never closed");
      KERF_CHECK(token());
    }
    add(AuditKind::Newline, 0);
    newline();
    return {};
  }

  Result<void> token() {
    const char c = peek();
    if (c == '\n') return newline(), Result<void>();  // inside brackets
    if (c == ' ' || c == '\t') return ++m_at, Result<void>();
    if (c == '#') return comment();
    if (const std::size_t prefix = stringPrefix(); prefix != std::string_view::npos) return string(prefix);
    if (isDigit(c) || (c == '.' && isDigit(peek(1)))) return number();
    if (isNameChar(c)) return name();
    const std::string_view rest = m_text.substr(m_at);
    const auto found = std::ranges::find_if(operators, [&](std::string_view op) { return rest.starts_with(op); });
    if (found == operators.end()) return auditError(m_line, fmt::format("the character '{}'", c));
    if (*found == "(" || *found == "[" || *found == "{") ++m_depth;
    if (*found == ")" || *found == "]" || *found == "}") --m_depth;
    if (m_depth < 0) return auditError(m_line, "a bracket that was never opened");
    add(AuditKind::Operator, found->size());
    return {};
  }

  std::size_t stringPrefix() const {
    std::size_t length = 0;
    while (length < 3 && std::string_view("rRbBuUfFtT").find(peek(length)) != std::string_view::npos) ++length;
    const char quote = peek(length);
    return quote == '\'' || quote == '"' ? length : std::string_view::npos;
  }

  Result<void> string(std::size_t prefix) {
    if (m_text.substr(m_at, prefix).find_first_of("fFtT") != std::string_view::npos)
      return auditError(m_line, "a formatted string");
    const char quote = peek(prefix);
    const bool triple = peek(prefix + 1) == quote && peek(prefix + 2) == quote;
    const std::string_view close = triple ? m_text.substr(m_at + prefix, 3) : m_text.substr(m_at + prefix, 1);
    std::size_t end = m_at + prefix + close.size();
    int lines = 0;
    for (;; ++end) {
      if (end >= m_text.size() || (m_text[end] == '\n' && !triple))
        return auditError(m_line, "a string that never ends");
      if (m_text.substr(end).starts_with(close)) break;
      if (m_text[end] == '\\' && ++end < m_text.size() && m_text[end] == '\n' && !triple)
        return auditError(m_line, "a string that goes on in the next line");
      if (end < m_text.size() && m_text[end] == '\n') ++lines;
    }
    add(AuditKind::String, end + close.size() - m_at);
    m_line += lines;
    return {};
  }

  Result<void> number() {
    std::size_t length = 0;
    const bool radix = peek() == '0' && std::string_view("xXoObB").find(peek(1)) != std::string_view::npos;
    while (isNameChar(peek(length)) || peek(length) == '.' ||
           (!radix && length > 0 && (peek(length) == '+' || peek(length) == '-') &&
            (peek(length - 1) == 'e' || peek(length - 1) == 'E')))
      ++length;
    const std::string_view text = m_text.substr(m_at, length);
    const std::string_view legal = radix ? "0123456789abcdefABCDEFxXoO_" : "0123456789.eE+-jJ_";
    if (text.find_first_not_of(legal) != std::string_view::npos) return auditError(m_line, "a number that is none");
    add(AuditKind::Number, length);
    return {};
  }

  Result<void> name() {
    std::size_t length = 0;
    while (isNameChar(peek(length))) ++length;
    const std::string_view text = m_text.substr(m_at, length);
    if (!isKeyword(text) && !isPythonIdentifier(text))
      return auditError(m_line, fmt::format("the word '{}', which is not a name", text.substr(0, 40)));
    add(AuditKind::Name, length);
    return {};
  }

  std::string_view m_text;
  std::size_t m_at = 0;
  int m_line = 1;
  int m_depth = 0;
  std::vector<std::size_t> m_indents = {0};
  std::vector<AuditToken> m_tokens;
};

}  // namespace

std::unexpected<Error> auditError(int line, std::string message) {
  return fail(Error{ErrorCode::BadInput, "an export may not hold " + std::move(message), {}, line, {}, {}});
}

bool isCodingCookie(std::string_view comment) {
  for (std::size_t at = comment.find("coding"); at != std::string_view::npos; at = comment.find("coding", at + 1)) {
    const std::string_view rest = comment.substr(at + 6);
    if (rest.starts_with(':') || rest.starts_with('=')) return true;
  }
  return false;
}

std::optional<std::string_view> plainString(const AuditToken& token) {
  if (token.kind != AuditKind::String || token.text.size() < 2 || isNameChar(token.text[0])) return std::nullopt;
  if (token.text.starts_with("\"\"\"") || token.text.starts_with("'''")) return std::nullopt;
  const std::string_view inner = token.text.substr(1, token.text.size() - 2);
  if (inner.find('\\') != std::string_view::npos) return std::nullopt;
  return inner;
}

Result<std::vector<AuditToken>> auditTokens(std::string_view text) { return AuditLexer(text).run(); }

}  // namespace kerf::inline capture
