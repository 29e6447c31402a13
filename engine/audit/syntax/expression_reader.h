// Reads expressions of either language; PythonReader and CppReader add statements.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "engine/audit/syntax/syntax_node.h"
#include "engine/audit/syntax/tokens.h"

namespace kerf::inline audit {

class ExpressionReader {
 public:
  virtual ~ExpressionReader() = default;

 protected:
  ExpressionReader(std::string_view text, SyntaxLanguage language, const SyntaxLimits& limits)
      : m_tokens(syntaxTokens(text, language)), m_isPython(language == SyntaxLanguage::Python), m_limits(limits) {}

  const SyntaxToken& token(std::size_t ahead = 0) const {
    return m_tokens[std::min(m_at + ahead, m_tokens.size() - 1)];
  }
  bool isSign(std::string_view sign, std::size_t ahead = 0) const {
    return token(ahead).word == SyntaxWord::Sign && token(ahead).text == sign;
  }
  bool isWord(std::string_view word) const { return token().word == SyntaxWord::Name && token().text == word; }
  bool isAt(SyntaxWord word) const { return token().word == word; }
  void advance() {
    if (m_at + 1 < m_tokens.size()) ++m_at;
  }
  bool take(std::string_view sign) {
    if (!isSign(sign)) return false;
    advance();
    return true;
  }
  /// Notes that something else was expected; what is read from here on is of no use.
  void expect(std::string_view sign) {
    if (!take(sign)) failed("expected '" + std::string(sign) + "'");
  }
  void failed(std::string why) {
    if (m_problem.empty()) m_problem = std::move(why);
  }
  SyntaxNode make(SyntaxKind kind, std::string text = {}) const {
    return {kind, std::move(text), {}, {}, token().line};
  }

  SyntaxNode expression();
  /// With the commas around it: a, b = …
  SyntaxNode expressionList();
  /// `[&] { … }`, at its first bracket; of C++ only.
  virtual SyntaxNode lambda();

  std::vector<SyntaxToken> m_tokens;
  std::size_t m_at = 0;
  std::string m_problem;
  bool m_isPython;
  SyntaxLimits m_limits;
  int m_depth = 0;

 private:
  SyntaxNode binary(int least);
  /// Counts how deep it is; what is too deep is not read on.
  void deepen(SyntaxNode& node);
  SyntaxNode unary();
  SyntaxNode postfix();
  SyntaxNode primary();
  SyntaxNode name();
  SyntaxNode bracketed(std::string_view close);
  SyntaxNode dictionary();
  SyntaxNode sliced();
  void arguments(SyntaxNode& call);
  std::size_t templateEnd() const;
  std::string templateText(std::size_t end);
};

}  // namespace kerf::inline audit
