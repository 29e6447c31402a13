// JSON values as text: where they end, what they say, and how they are written.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>

#include "engine/capture/common/json.h"
#include "engine/ir/argument.h"
#include "engine/support/utf8.h"

namespace kerf::inline capture {
namespace {

bool isBlank(char character) { return character == ' ' || character == '\t' || character == '\n' || character == '\r'; }

/// Position after the closing quote of the string that starts at `at`; 0 if it never ends.
std::size_t stringEnd(std::string_view text, std::size_t at) {
  for (std::size_t from = at + 1; from < text.size();) {
    const void* quote = std::memchr(text.data() + from, '"', text.size() - from);
    if (quote == nullptr) return 0;
    const auto end = std::size_t(static_cast<const char*>(quote) - text.data());
    std::size_t slashes = 0;
    while (end - slashes > at + 1 && text[end - slashes - 1] == '\\') ++slashes;
    if (slashes % 2 == 0) return end + 1;
    from = end + 1;
  }
  return 0;
}

bool isWordCharacter(char character) {
  const char lower = char(character | 0x20);
  return (character >= '0' && character <= '9') || (lower >= 'a' && lower <= 'z') || character == '-' ||
         character == '+' || character == '.';
}

/// Position after a number, true, false, null, NaN or Infinity; 0 if there is none.
std::size_t wordEnd(std::string_view text, std::size_t at) {
  std::size_t end = at;
  while (end < text.size() && isWordCharacter(text[end])) ++end;
  return end == at ? 0 : end;
}

std::size_t scalarEnd(std::string_view text, std::size_t at) {
  return text[at] == '"' ? stringEnd(text, at) : wordEnd(text, at);
}

/// Position after the bracket that closes the one at `at`; 0 if unbalanced, tooDeep if nested deeper than `limit`.
std::size_t nestedEnd(std::string_view text, std::size_t at, int limit) {
  std::string closing;  // the brackets that are still to come, innermost last
  while (at < text.size()) {
    const char character = text[at];
    if (character == '{' || character == '[') {
      if (int(closing.size()) >= limit) return jsonTooDeep;
      closing += character == '{' ? '}' : ']';
      ++at;
    } else if (character == '}' || character == ']') {
      if (character != closing.back()) return 0;
      closing.pop_back();
      ++at;
      if (closing.empty()) return at;
    } else if (isBlank(character) || character == ',' || character == ':') {
      ++at;
    } else {
      at = scalarEnd(text, at);
      if (at == 0) return 0;
    }
  }
  return 0;
}

/// The four hex digits at `at`; empty if they are not there.
std::optional<std::uint32_t> hexDigits(std::string_view text, std::size_t at) {
  if (at + 4 > text.size()) return std::nullopt;
  std::uint32_t code = 0;
  const auto [end, problem] = std::from_chars(text.data() + at, text.data() + at + 4, code, 16);
  if (problem != std::errc() || end != text.data() + at + 4) return std::nullopt;
  return code;
}

/// Reads the escape after `\u` at `at` (and a second half of a surrogate pair); moves `at` behind it.
std::uint32_t unicodeEscape(std::string_view text, std::size_t& at) {
  const auto first = hexDigits(text, at);
  if (!first) return replacementCharacter;
  at += 4;
  if (*first < 0xD800 || *first > 0xDFFF) return *first;
  if (*first > 0xDBFF || !text.substr(at).starts_with("\\u")) return replacementCharacter;
  const auto second = hexDigits(text, at + 2);
  if (!second || *second < 0xDC00 || *second > 0xDFFF) return replacementCharacter;
  at += 6;
  return 0x10000 + ((*first - 0xD800) << 10) + (*second - 0xDC00);
}

void appendEscape(std::string_view text, std::size_t& at, std::string& out) {
  constexpr std::string_view letters = "bfnrt";
  constexpr std::string_view meanings = "\b\f\n\r\t";
  const char letter = text[at++];
  if (letter == 'u') return appendUtf8(out, unicodeEscape(text, at));
  const std::size_t found = letters.find(letter);
  out.push_back(found == std::string_view::npos ? letter : meanings[found]);
}

}  // namespace

std::size_t jsonValueLength(std::string_view text, int depth) {
  if (text.empty()) return 0;
  return text[0] == '{' || text[0] == '[' ? nestedEnd(text, 0, depth) : scalarEnd(text, 0);
}

std::string_view jsonMember(std::string_view object, std::string_view name) {
  JsonWalker members(object);
  while (members.nextMember())
    if (jsonKeyIs(members.key(), name)) return members.value();
  return {};
}

std::optional<std::string> jsonString(std::string_view value) {
  if (value.size() < 2 || value.front() != '"') return std::nullopt;
  const std::string_view text = value.substr(1, value.size() - 2);
  if (text.find('\\') == std::string_view::npos) return validUtf8(text);
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t slash = std::min(text.find('\\', at), text.size());
    out += validUtf8(text.substr(at, slash - at));
    at = slash + 1;
    if (at < text.size()) appendEscape(text, at, out);
  }
  return out;
}

std::optional<std::int64_t> jsonInteger(std::string_view value) {
  std::int64_t number = 0;
  const auto [end, problem] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (problem != std::errc() || end != value.data() + value.size()) return std::nullopt;
  return number;
}

std::optional<double> jsonNumber(std::string_view value) {
  double number = 0;
  const auto [end, problem] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (problem != std::errc() || end != value.data() + value.size() || !std::isfinite(number)) return std::nullopt;
  return number;
}

std::string quotedJson(std::string_view text) {
  std::string out = "\"";
  while (!text.empty()) {
    const auto [code, bytes] = firstCodePoint(text);
    text.remove_prefix(std::max<std::size_t>(bytes, 1));
    constexpr std::string_view special = "\"\\\b\f\n\r\t";
    constexpr std::string_view letters = "\"\\bfnrt";
    const std::size_t known = code < 0x80 ? special.find(char(code)) : std::string_view::npos;
    if (known != std::string_view::npos)
      out += std::string("\\") + letters[known];
    else if (code >= 0x20 && code < 0x7f)
      out += char(code);
    else if (code < 0x10000)
      out += fmt::format("\\u{:04x}", code);
    else
      out += fmt::format("\\u{:04x}\\u{:04x}", 0xd800 + ((code - 0x10000) >> 10), 0xdc00 + ((code - 0x10000) & 0x3ff));
  }
  return out + "\"";
}

std::string jsonFloat(double value) {
  if (std::isnan(value)) return "\"NaN\"";
  if (std::isinf(value)) return value > 0 ? "\"Infinity\"" : "\"-Infinity\"";
  return pythonFloat(value);
}

}  // namespace kerf::inline capture
