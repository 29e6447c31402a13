#include "engine/capture/pt2/json.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "engine/ir/argument.h"

namespace kerf::inline capture {
namespace {

constexpr std::string_view replacementCharacter = "\xef\xbf\xbd";

bool isNumberChar(char c) { return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E'; }

void appendUtf8(std::string& out, std::uint32_t code) {
  if (code < 0x80) {
    out += char(code);
  } else if (code < 0x800) {
    out += char(0xc0 | (code >> 6));
    out += char(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    out += char(0xe0 | (code >> 12));
    out += char(0x80 | ((code >> 6) & 0x3f));
    out += char(0x80 | (code & 0x3f));
  } else {
    out += char(0xf0 | (code >> 18));
    out += char(0x80 | ((code >> 12) & 0x3f));
    out += char(0x80 | ((code >> 6) & 0x3f));
    out += char(0x80 | (code & 0x3f));
  }
}

/// Length of the UTF-8 character at the front of `text` and its code; {1, U+FFFD} where it is none.
std::pair<std::size_t, std::uint32_t> decodeUtf8(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const std::size_t length = byte(0) < 0x80       ? 1
                             : byte(0) >> 5 == 6  ? 2
                             : byte(0) >> 4 == 14 ? 3
                             : byte(0) >> 3 == 30 ? 4
                                                  : 0;
  constexpr std::pair<std::size_t, std::uint32_t> bad{1, 0xfffd};
  if (length == 0 || length > text.size()) return bad;
  if (length == 1) return {1, byte(0)};
  std::uint32_t code = byte(0) & (0x7fu >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if (byte(i) >> 6 != 2) return bad;
    code = (code << 6) | (byte(i) & 0x3f);
  }
  constexpr std::uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  if (code < least[length] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return bad;
  return {length, code};
}

bool isUtf8(std::string_view text) {
  while (!text.empty()) {
    if (static_cast<unsigned char>(text.front()) < 0x80) {
      text.remove_prefix(1);
      continue;
    }
    const auto [length, code] = decodeUtf8(text);
    if (length == 1) return false;
    text.remove_prefix(length);
  }
  return true;
}

}  // namespace

std::unexpected<Error> JsonCursor::failHere(std::string message) const {
  const std::size_t at = std::min(m_at, m_text.size());
  const std::string_view before = m_text.substr(0, at);
  const auto line = int(std::min<std::ptrdiff_t>(std::ranges::count(before, '\n'), INT32_MAX - 1)) + 1;
  const std::size_t start = before.rfind('\n') + 1;  // npos + 1 is 0
  Error error{ErrorCode::BadInput, fmt::format("{}, column {}: {}", m_name, at - start + 1, message), {}, line, {}, {}};
  return fail(std::move(error));
}

void JsonCursor::space() {
  while (m_at < m_text.size() &&
         (m_text[m_at] == ' ' || m_text[m_at] == '\n' || m_text[m_at] == '\t' || m_text[m_at] == '\r'))
    ++m_at;
}

char JsonCursor::peek() {
  space();
  return m_at < m_text.size() ? m_text[m_at] : '\0';
}

Result<void> JsonCursor::expect(char wanted) {
  if (peek() != wanted || m_at >= m_text.size()) return failHere(fmt::format("'{}' expected", wanted));
  ++m_at;
  return {};
}

Result<void> JsonCursor::open(char bracket) {
  KERF_CHECK(expect(bracket));
  if (++m_depth <= m_nesting) return {};
  auto error = failHere(fmt::format("nested deeper than {} levels", m_nesting));
  error.error().code = ErrorCode::TooLarge;
  return error;
}

/// Moves to the next element; false after consuming the closing bracket.
Result<bool> JsonCursor::next(char close, bool first) {
  if (peek() == close) {
    ++m_at;
    --m_depth;
    return false;
  }
  if (first) return true;
  KERF_CHECK(expect(','));
  return true;
}

Result<std::uint32_t> JsonCursor::hex4() {
  std::uint32_t code = 0;
  if (m_text.size() - m_at < 4) return failHere("the text ends in an escape");
  const char* from = m_text.data() + m_at;
  const auto [end, problem] = std::from_chars(from, from + 4, code, 16);
  if (problem != std::errc() || end != from + 4) return failHere("four hexadecimal digits expected after \\u");
  m_at += 4;
  return code;
}

/// The escape after a backslash that is consumed already.
Result<void> JsonCursor::escape(std::string& out) {
  if (m_at >= m_text.size()) return failHere("the text ends in an escape");
  const char c = m_text[m_at++];
  constexpr std::string_view letters = "\"\\/bfnrt";
  constexpr std::string_view meanings = "\"\\/\b\f\n\r\t";
  if (const std::size_t known = letters.find(c); known != std::string_view::npos) {
    out += meanings[known];
    return {};
  }
  if (c != 'u') return failHere("unknown escape");
  KERF_TRY(std::uint32_t code, hex4());
  if (code >= 0xd800 && code < 0xdc00 && m_text.substr(m_at).starts_with("\\u")) {
    m_at += 2;
    KERF_TRY(const std::uint32_t low, hex4());
    code = low >= 0xdc00 && low < 0xe000 ? 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00) : 0xfffd;
  }
  if (code >= 0xd800 && code < 0xe000)
    out += replacementCharacter;
  else
    appendUtf8(out, code);
  return {};
}

Result<std::string> JsonCursor::string() {
  KERF_CHECK(expect('"'));
  std::string out;
  for (;;) {
    const std::size_t stop = m_text.find_first_of("\"\\", m_at);
    if (stop == std::string_view::npos) return failHere("a string has no end");
    const std::string_view piece = m_text.substr(m_at, stop - m_at);
    if (!isUtf8(piece)) return failHere("the text is not UTF-8");
    out.append(piece);
    m_at = stop + 1;
    if (m_text[stop] == '"') return out;
    KERF_CHECK(escape(out));
  }
}

Result<void> JsonCursor::skipString() {
  KERF_CHECK(expect('"'));
  for (; m_at < m_text.size(); ++m_at) {
    if (m_text[m_at] == '\\')
      ++m_at;
    else if (m_text[m_at] == '"') {
      ++m_at;
      return {};
    }
  }
  return failHere("a string has no end");
}

bool JsonCursor::word(std::string_view text) {
  if (!m_text.substr(m_at).starts_with(text)) return false;
  m_at += text.size();
  return true;
}

bool JsonCursor::null() { return peek() == 'n' && word("null"); }

Result<bool> JsonCursor::boolean() {
  if (peek() == 't' && word("true")) return true;
  if (peek() == 'f' && word("false")) return false;
  return failHere("true or false expected");
}

Result<std::int64_t> JsonCursor::integer() {
  (void)peek();
  std::int64_t value = 0;
  const char* from = m_text.data() + m_at;
  const char* last = m_text.data() + m_text.size();
  const auto [end, problem] = std::from_chars(from, last, value);
  if (problem != std::errc() || (end != last && isNumberChar(*end))) return failHere("an integer of 64 bits expected");
  m_at += std::size_t(end - from);
  return value;
}

Result<double> JsonCursor::number() {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const bool quoted = peek() == '"';
  if (quoted) ++m_at;
  double value = 0;
  if (word("Infinity")) {
    value = infinity;
  } else if (word("-Infinity")) {
    value = -infinity;
  } else if (word("NaN")) {
    value = std::numeric_limits<double>::quiet_NaN();
  } else {
    const char* from = m_text.data() + m_at;
    const char* last = m_text.data() + m_text.size();
    const auto [end, problem] = std::from_chars(from, last, value);
    if (quoted || problem == std::errc::invalid_argument || (end != last && isNumberChar(*end)))
      return failHere("a number expected");
    if (problem == std::errc::result_out_of_range) value = *from == '-' ? -infinity : infinity;
    m_at += std::size_t(end - from);
  }
  if (quoted) KERF_CHECK(expect('"'));
  return value;
}

Result<std::string_view> JsonCursor::skip() {
  (void)peek();
  const std::size_t start = m_at;
  const int depth = m_depth;
  do {
    const char c = peek();
    if (c == '"') {
      KERF_CHECK(skipString());
    } else if (c == '{' || c == '[') {
      KERF_CHECK(open(c));
    } else if (c == '}' || c == ']') {
      if (m_depth == depth) return failHere("a value expected");
      ++m_at;
      --m_depth;
    } else if ((c == ',' || c == ':') && m_depth > depth) {
      ++m_at;
    } else if (isNumberChar(c) && !word("-Infinity")) {
      while (m_at < m_text.size() && isNumberChar(m_text[m_at])) ++m_at;
    } else if (c != '-' && !word("null") && !word("true") && !word("false") && !word("NaN") && !word("Infinity")) {
      return failHere("a value expected");
    }
  } while (m_depth > depth);
  return m_text.substr(start, m_at - start);
}

Result<void> JsonCursor::end() {
  (void)peek();
  if (m_at < m_text.size()) return failHere("more text follows the end");
  return {};
}

std::string jsonString(std::string_view text) {
  std::string out = "\"";
  while (!text.empty()) {
    const auto [length, code] = decodeUtf8(text);
    text.remove_prefix(length);
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
