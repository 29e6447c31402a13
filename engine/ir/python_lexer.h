// PythonLexer: cuts Python source into tokens, one at a time, in linear time and constant memory. It never runs
// anything.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/support/result.h"

namespace kerf::inline ir {

enum class PythonTokenKind : std::uint8_t { Name, Number, String, Operator, Comment, Newline, End, Error };

struct PythonToken {
  PythonTokenKind kind = PythonTokenKind::End;
  std::string_view text;  ///< as written; a comment without its '#'
  int line = 0;           ///< 1-based line of the token's first character
  int column = 0;         ///< 0-based bytes from the start of its line
  bool is(std::string_view op) const { return kind == PythonTokenKind::Operator && text == op; }
  bool isName(std::string_view name) const { return kind == PythonTokenKind::Name && text == name; }
};

/// Newlines inside brackets and blank lines give no token. A token of kind Error means that error() is set.
class PythonLexer {
 public:
  explicit PythonLexer(std::string_view text, int firstLine = 1);

  const PythonToken& peek() const { return m_token; }
  /// Returns the current token and moves to the next one.
  PythonToken take();
  /// Takes the operator if it is next.
  bool accept(std::string_view op);
  /// The error of an Error token, or a BadInput "expected …, found …" at the current token.
  Error errorHere(std::string_view expected) const;
  /// Bytes already consumed before the current token.
  std::size_t offset() const { return m_tokenStart; }
  /// End of the token taken last, as an offset into the text.
  std::size_t lastEnd() const { return m_lastEnd; }
  std::string_view source() const { return m_text; }
  /// Goes on at `offset`, the start of line `line`, as if nothing had been open before it.
  void restart(std::size_t offset, int line);
  /// Comments met inside brackets since the last call (outside brackets they are tokens).
  std::vector<PythonToken> takeComments();

 private:
  void advance();
  void skipBlanks();
  void setToken(PythonTokenKind kind, std::size_t length);
  void setError(ErrorCode code, std::string message);
  void lexNewline();
  void lexComment();
  void lexString(std::size_t prefix);
  void lexOperator();
  void countNewlines(std::string_view text);

  std::string_view m_text;
  std::size_t m_at = 0;
  std::size_t m_lineStart = 0;
  std::size_t m_tokenStart = 0;
  std::size_t m_lastEnd = 0;
  int m_line = 1;
  bool m_lineHasToken = false;
  std::string m_brackets;  ///< closing brackets that are still to come
  PythonToken m_token;
  std::vector<PythonToken> m_comments;
  Error m_error;
};

}  // namespace kerf::inline ir
