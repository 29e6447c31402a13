#include "engine/ir/python_string.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "engine/ir/python_expression.h"
#include "engine/support/utf8.h"

namespace kerf::inline ir {
namespace {

struct SimpleEscape {
  char letter;
  std::string_view value;
};
constexpr std::array<SimpleEscape, 11> simpleEscapes = {{{'n', "\n"},
                                                         {'t', "\t"},
                                                         {'r', "\r"},
                                                         {'\\', "\\"},
                                                         {'\'', "'"},
                                                         {'"', "\""},
                                                         {'a', "\a"},
                                                         {'b', "\b"},
                                                         {'f', "\f"},
                                                         {'v', "\v"},
                                                         {'\n', ""}}};

struct NumericEscape {
  char letter;
  std::size_t digits;
};
constexpr std::array<NumericEscape, 3> numericEscapes = {{{'x', 2}, {'u', 4}, {'U', 8}}};

/// Consumes the escape at the front of `text` (which starts after the backslash) and returns its length.
Result<std::size_t> appendEscape(std::string& out, std::string_view text, int line) {
  if (text.empty()) return pythonError(line, "a string ends in a backslash");
  const char letter = text.front();
  for (const auto& escape : simpleEscapes) {
    if (escape.letter != letter) continue;
    out += escape.value;
    return 1;
  }
  std::uint32_t code = 0;
  for (const auto& escape : numericEscapes) {
    if (escape.letter != letter) continue;
    const std::string_view digits = text.substr(1, escape.digits);
    const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
    if (digits.size() != escape.digits || parsed.ptr != digits.data() + digits.size() || code > 0x10ffff)
      return pythonError(line, "a string holds a bad escape sequence");
    appendUtf8(out, code);
    return 1 + escape.digits;
  }
  if (letter >= '0' && letter <= '7') {
    std::size_t length = 0;
    for (; length < 3 && length < text.size() && text[length] >= '0' && text[length] <= '7'; ++length)
      code = code * 8 + std::uint32_t(text[length] - '0');
    appendUtf8(out, code);
    return length;
  }
  out += '\\';
  out += letter;
  return 1;
}

/// Length of the well-formed UTF-8 sequence at the front of `text`; 0 if it is not well-formed.
std::size_t utf8Length(std::string_view text) {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned lead = at(0);
  if (lead < 0x80) return 1;
  const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((at(i) & 0xc0u) != 0x80u) return 0;
  const unsigned second = at(1);
  const bool overlong = (lead == 0xe0 && second < 0xa0) || (lead == 0xf0 && second < 0x90);
  const bool outside = (lead == 0xed && second > 0x9f) || (lead == 0xf4 && second > 0x8f);
  return overlong || outside ? 0 : length;
}

}  // namespace

Result<void> appendPythonString(std::string& out, std::string_view literal, int line) {
  const std::size_t quote = literal.find_first_of("'\"");
  const std::string_view prefix = literal.substr(0, quote);
  const bool raw = prefix.find_first_of("rR") != std::string_view::npos;
  if (prefix.find_first_of("fF") != std::string_view::npos)
    return pythonError(line, "formatted strings (f'…') are not supported");
  const std::string_view marks = literal.substr(quote);
  const bool triple = marks.size() >= 6 && marks[1] == marks[0] && marks[2] == marks[0];
  const std::size_t width = triple ? 3 : 1;
  std::string_view body = marks.substr(width, marks.size() - 2 * width);
  while (!body.empty()) {
    const std::size_t plain = raw ? body.size() : std::min(body.find('\\'), body.size());
    out += body.substr(0, plain);
    body.remove_prefix(plain);
    if (body.empty()) break;
    KERF_TRY(const std::size_t length, appendEscape(out, body.substr(1), line));
    body.remove_prefix(1 + length);
  }
  return {};
}

Result<void> checkPythonText(std::string_view text, int firstLine) {
  int line = firstLine;
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (c == '\0') return pythonError(line, "the text holds a NUL byte");
    if (c == '\n') ++line;
    const std::size_t length = utf8Length(text.substr(i));
    if (length == 0) return pythonError(line, "the text is not valid UTF-8");
    i += length;
  }
  return {};
}

}  // namespace kerf::inline ir
