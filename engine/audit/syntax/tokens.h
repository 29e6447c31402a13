// The words of a Python or C++ text.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace kerf::inline audit {

enum class SyntaxWord : std::uint8_t { Name, Number, Text, Sign, Line, Indent, Dedent, Directive, End };

struct SyntaxToken {
  SyntaxWord word = SyntaxWord::End;
  std::string_view text;  ///< of a string literal its content
  int line = 0;
};

enum class SyntaxLanguage : std::uint8_t { Python, Cpp };

/// Python's lines and their indentation become tokens; comments and C++'s `#include` do not.
std::vector<SyntaxToken> syntaxTokens(std::string_view text, SyntaxLanguage language);

}  // namespace kerf::inline audit
