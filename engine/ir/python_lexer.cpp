#include "engine/ir/python_lexer.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace kerf::inline ir {
namespace {

/// Longest first, so that the first match is the token.
constexpr std::array<std::string_view, 46> operators = {
    "**=", "//=", ">>=", "<<=", "...", "->", ":=", "**", "//", ">>", "<<", "<=", ">=", "==", "!=", "+=",
    "-=",  "*=",  "/=",  "%=",  "&=",  "|=", "^=", "@=", "+",  "-",  "*",  "/",  "%",  "&",  "|",  "^",
    "~",   "<",   ">",   "(",   ")",   "[",  "]",  "{",  "}",  ",",  ":",  ".",  ";",  "="};
constexpr std::string_view otherOperators = "@!";
constexpr std::size_t maxOpenBrackets = 1000;

bool isAscii(char c) { return static_cast<unsigned char>(c) < 0x80; }
bool isNameStart(char c) { return c == '_' || !isAscii(c) || std::isalpha(static_cast<unsigned char>(c)) != 0; }
bool isDigit(char c) { return c >= '0' && c <= '9'; }
bool isNameChar(char c) { return isNameStart(c) || isDigit(c); }

std::size_t nameLength(std::string_view text) {
  return std::size_t(std::ranges::find_if_not(text, isNameChar) - text.begin());
}

/// Digits, names characters, dots, and a sign right after a decimal exponent.
std::size_t numberLength(std::string_view text) {
  const bool radix = text.size() > 1 && text[0] == '0' && std::isalpha(static_cast<unsigned char>(text[1])) != 0;
  std::size_t n = 0;
  while (n < text.size()) {
    const char c = text[n];
    const bool exponentSign = (c == '+' || c == '-') && n > 0 && !radix && (text[n - 1] == 'e' || text[n - 1] == 'E');
    if (!isNameChar(c) && c != '.' && !exponentSign) break;
    ++n;
  }
  return n;
}

/// Length of a string prefix such as r or b before a quote, or npos if no string starts here.
std::size_t stringPrefix(std::string_view text) {
  for (std::size_t n = 0; n <= 2 && n < text.size(); ++n) {
    if (text[n] == '\'' || text[n] == '"') return n;
    if (std::string_view("rRbBuUfF").find(text[n]) == std::string_view::npos) break;
  }
  return std::string_view::npos;
}

}  // namespace

PythonLexer::PythonLexer(std::string_view text, int firstLine) : m_text(text), m_line(firstLine) { advance(); }

PythonToken PythonLexer::take() {
  PythonToken taken = m_token;
  m_lastEnd = m_tokenStart + taken.text.size() + (taken.kind == PythonTokenKind::Comment ? 1 : 0);
  if (taken.kind != PythonTokenKind::Error && taken.kind != PythonTokenKind::End) advance();
  return taken;
}

bool PythonLexer::accept(std::string_view op) {
  if (!m_token.is(op)) return false;
  take();
  return true;
}

Error PythonLexer::errorHere(std::string_view expected) const {
  if (m_token.kind == PythonTokenKind::Error) return m_error;
  std::string found = "the end of the text";
  if (m_token.kind == PythonTokenKind::Newline)
    found = "the end of the line";
  else if (m_token.kind != PythonTokenKind::End)
    found = fmt::format("'{}'", m_token.text.substr(0, 40));
  return Error{ErrorCode::BadInput, fmt::format("expected {}, found {}", expected, found), {}, m_token.line, {}, {}};
}

std::vector<PythonToken> PythonLexer::takeComments() { return std::exchange(m_comments, {}); }

void PythonLexer::restart(std::size_t offset, int line) {
  m_at = m_lineStart = std::min(offset, m_text.size());
  m_line = line;
  m_lineHasToken = false;
  m_brackets.clear();
  m_comments.clear();
  advance();
}

void PythonLexer::setToken(PythonTokenKind kind, std::size_t length) {
  m_token = {kind, m_text.substr(m_at, length), m_line, int(m_at - m_lineStart)};
  m_tokenStart = m_at;
  m_at += m_token.text.size();
  m_lineHasToken = kind != PythonTokenKind::Newline && kind != PythonTokenKind::Comment;
}

void PythonLexer::setError(ErrorCode code, std::string message) {
  m_error = Error{code, std::move(message), {}, m_line, {}, {}};
  m_token = {PythonTokenKind::Error, {}, m_line, int(m_at - m_lineStart)};
  m_tokenStart = m_at;
}

void PythonLexer::skipBlanks() {
  while (m_at < m_text.size()) {
    const char c = m_text[m_at];
    const bool breaksLine = c == '\n' && (!m_brackets.empty() || !m_lineHasToken);
    const bool continuation = c == '\\' && m_text.substr(m_at + 1, 1) == "\n";
    if (breaksLine || continuation) {
      m_at += continuation ? 2 : 1;
      ++m_line;
      m_lineStart = m_at;
    } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f') {
      ++m_at;
    } else {
      return;
    }
  }
}

void PythonLexer::advance() {
  for (;;) {
    skipBlanks();
    if (m_at < m_text.size() && m_text[m_at] == '#' && !m_brackets.empty()) {
      lexComment();
      m_comments.push_back(m_token);
      continue;
    }
    break;
  }
  if (m_at >= m_text.size()) {
    if (!m_brackets.empty()) return setError(ErrorCode::BadInput, fmt::format("'{}' is missing", m_brackets.back()));
    return setToken(m_lineHasToken ? PythonTokenKind::Newline : PythonTokenKind::End, 0);
  }
  const char c = m_text[m_at];
  if (c == '\n') return lexNewline();
  if (c == '#') return lexComment();
  const std::string_view rest = m_text.substr(m_at);
  if (const std::size_t prefix = stringPrefix(rest); prefix != std::string_view::npos) return lexString(prefix);
  if (isNameStart(c)) return setToken(PythonTokenKind::Name, nameLength(rest));
  if (isDigit(c) || (c == '.' && rest.size() > 1 && isDigit(rest[1])))
    return setToken(PythonTokenKind::Number, numberLength(rest));
  lexOperator();
}

void PythonLexer::lexNewline() {
  setToken(PythonTokenKind::Newline, 1);
  ++m_line;
  m_lineStart = m_at;
}

void PythonLexer::lexComment() {
  const bool trailing = m_lineHasToken;
  const std::size_t end = std::min(m_text.find('\n', m_at), m_text.size());
  setToken(PythonTokenKind::Comment, end - m_at);
  m_token.text.remove_prefix(1);
  if (m_token.text.ends_with('\r')) m_token.text.remove_suffix(1);
  m_lineHasToken = trailing;
}

void PythonLexer::countNewlines(std::string_view text) {
  const std::size_t last = text.rfind('\n');
  if (last == std::string_view::npos) return;
  m_line += int(std::ranges::count(text, '\n'));
  m_lineStart = m_at - text.size() + last + 1;
}

void PythonLexer::lexString(std::size_t prefix) {
  const char quote = m_text[m_at + prefix];
  const bool triple = m_text.substr(m_at + prefix, 3) == std::string(3, quote);
  const std::size_t width = triple ? 3 : 1;
  std::size_t end = m_at + prefix + width;
  for (;; ++end) {
    if (end >= m_text.size() || (m_text[end] == '\n' && !triple))
      return setError(ErrorCode::BadInput, "a string is not closed");
    if (m_text[end] == '\\')
      ++end;
    else if (m_text[end] == quote && (!triple || m_text.substr(end, 3) == std::string(3, quote)))
      break;
  }
  setToken(PythonTokenKind::String, end + width - m_at);
  countNewlines(m_token.text);
}

void PythonLexer::lexOperator() {
  const std::string_view rest = m_text.substr(m_at);
  const auto found = std::ranges::find_if(operators, [&](std::string_view op) { return rest.starts_with(op); });
  if (found == operators.end()) {
    if (otherOperators.find(rest[0]) != std::string_view::npos) return setToken(PythonTokenKind::Operator, 1);
    const auto code = unsigned(static_cast<unsigned char>(rest[0]));
    return setError(ErrorCode::BadInput, fmt::format("unexpected character (byte 0x{:02x})", code));
  }
  const char c = (*found)[0];
  if (found->size() == 1 && (c == '(' || c == '[' || c == '{')) {
    if (m_brackets.size() >= maxOpenBrackets)
      return setError(ErrorCode::TooLarge, fmt::format("more than {} brackets are open", maxOpenBrackets));
    m_brackets += c == '(' ? ')' : c == '[' ? ']' : '}';
  } else if (found->size() == 1 && (c == ')' || c == ']' || c == '}')) {
    if (m_brackets.empty() || m_brackets.back() != c)
      return setError(ErrorCode::BadInput, fmt::format("'{}' closes no open bracket", c));
    m_brackets.pop_back();
  }
  setToken(PythonTokenKind::Operator, found->size());
}

}  // namespace kerf::inline ir
