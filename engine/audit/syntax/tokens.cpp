#include "engine/audit/syntax/tokens.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace kerf::inline audit {
namespace {

bool isNameStart(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_' || (c & 0x80) != 0; }
bool isDigit(char c) { return c >= '0' && c <= '9'; }
bool isNamePart(char c) { return isNameStart(c) || isDigit(c); }

constexpr std::array<std::string_view, 26> longSigns = {
    "<<=", ">>=", "**=", "//=", "::", "->", "==", "!=", "<=", ">=", "&&", "||", "//",
    "**",  "+=",  "-=",  "*=",  "/=", "%=", "&=", "|=", "^=", "++", "--", "<<", ":="};

class Tokens {
 public:
  Tokens(std::string_view text, SyntaxLanguage language)
      : m_text(text), m_isPython(language == SyntaxLanguage::Python) {}

  std::vector<SyntaxToken> read() {
    m_tokens.reserve(m_text.size() / 4);
    if (m_isPython) lineStart();
    while (m_at < m_text.size()) step();
    if (m_isPython) {
      add(SyntaxWord::Line, {});
      for (; m_indents.size() > 1; m_indents.pop_back()) add(SyntaxWord::Dedent, {});
    }
    add(SyntaxWord::End, {});
    return std::move(m_tokens);
  }

 private:
  char peek(std::size_t ahead = 0) const { return m_at + ahead < m_text.size() ? m_text[m_at + ahead] : '\0'; }
  void add(SyntaxWord word, std::string_view text) { m_tokens.push_back({word, text, m_line}); }

  void step() {
    const char c = peek();
    if (c == '\n') return lineBreak();
    if (c == ' ' || c == '\t' || c == '\r' || c == '\f') {
      ++m_at;
    } else if (c == '\\' && peek(1) == '\n') {
      m_at += 2;
      ++m_line;
    } else if (c == '#') {
      hash();
    } else if (!m_isPython && c == '/' && (peek(1) == '/' || peek(1) == '*')) {
      comment();
    } else if (c == '"' || c == '\'') {
      text();
    } else if (isDigit(c) || (c == '.' && isDigit(peek(1)))) {
      number();
    } else if (isNameStart(c)) {
      name();
    } else {
      sign();
    }
  }

  void lineBreak() {
    if (m_isPython && m_depth == 0) add(SyntaxWord::Line, {});
    ++m_at;
    ++m_line;
    if (m_isPython && m_depth == 0) lineStart();
  }

  /// At the start of a line: blank lines and comments have no indentation.
  void lineStart() {
    std::size_t end = m_at, width = 0;
    for (; end < m_text.size() && (m_text[end] == ' ' || m_text[end] == '\t'); ++end) ++width;
    m_at = end;
    if (end >= m_text.size() || m_text[end] == '\n' || m_text[end] == '\r' || m_text[end] == '#') return;
    if (width > m_indents.back()) {
      m_indents.push_back(width);
      add(SyntaxWord::Indent, {});
    }
    for (; width < m_indents.back(); m_indents.pop_back()) add(SyntaxWord::Dedent, {});
  }

  void hash() {
    const std::size_t end = std::min(m_text.find('\n', m_at), m_text.size());
    const std::string_view line = m_text.substr(m_at, end - m_at);
    if (!m_isPython && line.starts_with("#pragma")) add(SyntaxWord::Directive, line);
    m_at = end;
  }

  void comment() {
    const bool isBlock = peek(1) == '*';
    std::size_t end = m_text.find(isBlock ? "*/" : "\n", m_at + 2);
    end = end == std::string_view::npos ? m_text.size() : end + (isBlock ? 2 : 0);
    m_line += int(std::count(m_text.begin() + std::ptrdiff_t(m_at), m_text.begin() + std::ptrdiff_t(end), '\n'));
    m_at = end;
  }

  void text() {
    const char quote = peek();
    const bool isTriple = m_isPython && peek(1) == quote && peek(2) == quote;
    const std::size_t width = isTriple ? 3 : 1, begin = m_at + width;
    std::size_t end = begin;
    for (; end < m_text.size(); ++end) {
      if (m_text[end] == '\\') {
        ++end;
      } else if (m_text[end] == quote) {
        if (!isTriple || m_text.substr(end, 3) == std::string_view(m_text.data() + begin - 3, 3)) break;
      } else if (m_text[end] == '\n' && !isTriple) {
        break;
      }
    }
    end = std::min(end, m_text.size());
    add(SyntaxWord::Text, m_text.substr(begin, end - begin));
    m_line += int(std::count(m_text.begin() + std::ptrdiff_t(begin), m_text.begin() + std::ptrdiff_t(end), '\n'));
    const bool isClosed = end < m_text.size() && m_text[end] == quote;
    m_at = isClosed ? end + width : end;
  }

  void number() {
    std::size_t end = m_at;
    while (end < m_text.size() &&
           (isNamePart(m_text[end]) || m_text[end] == '.' ||
            ((m_text[end] == '+' || m_text[end] == '-') && (m_text[end - 1] == 'e' || m_text[end - 1] == 'E') &&
             m_text.substr(m_at, 2) != "0x")))
      ++end;
    add(SyntaxWord::Number, m_text.substr(m_at, end - m_at));
    m_at = end;
  }

  void name() {
    std::size_t end = m_at;
    while (end < m_text.size() && isNamePart(m_text[end])) ++end;
    const std::string_view word = m_text.substr(m_at, end - m_at);
    m_at = end;
    // r'…', f"…": the letters belong to the literal.
    if (m_isPython && word.size() <= 2 && (peek() == '\'' || peek() == '"')) return text();
    add(SyntaxWord::Name, word);
  }

  void sign() {
    std::size_t width = 1;
    for (const std::string_view each : longSigns)
      if (m_text.substr(m_at).starts_with(each)) {
        width = each.size();
        break;
      }
    const std::string_view sign = m_text.substr(m_at, width);
    if (sign == "(" || sign == "[" || sign == "{") ++m_depth;
    if ((sign == ")" || sign == "]" || sign == "}") && m_depth > 0) --m_depth;
    add(SyntaxWord::Sign, sign);
    m_at += width;
  }

  std::string_view m_text;
  bool m_isPython;
  std::size_t m_at = 0;
  int m_line = 1, m_depth = 0;
  std::vector<std::size_t> m_indents{0};
  std::vector<SyntaxToken> m_tokens;
};

}  // namespace

std::vector<SyntaxToken> syntaxTokens(std::string_view text, SyntaxLanguage language) {
  return Tokens(text, language).read();
}

}  // namespace kerf::inline audit
