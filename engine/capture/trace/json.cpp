#include "engine/capture/trace/json.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>

namespace kerf::inline capture::trace {
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

/// Position after the bracket that closes the one at `at`; 0 if unbalanced or too deep.
std::size_t nestedEnd(std::string_view text, std::size_t at) {
  std::array<char, maxJsonDepth> closing{};
  int depth = 0;
  while (at < text.size()) {
    const char character = text[at];
    if (character == '{' || character == '[') {
      if (depth == maxJsonDepth) return 0;
      closing[depth++] = character == '{' ? '}' : ']';
      ++at;
    } else if (character == '}' || character == ']') {
      if (character != closing[depth - 1]) return 0;
      ++at;
      if (--depth == 0) return at;
    } else if (isBlank(character) || character == ',' || character == ':') {
      ++at;
    } else {
      at = scalarEnd(text, at);
      if (at == 0) return 0;
    }
  }
  return 0;
}

void appendUtf8(std::uint32_t code, std::string& text) {
  if (code < 0x80) {
    text.push_back(char(code));
  } else if (code < 0x800) {
    text.push_back(char(0xC0 | (code >> 6)));
    text.push_back(char(0x80 | (code & 0x3F)));
  } else if (code < 0x10000) {
    text.push_back(char(0xE0 | (code >> 12)));
    text.push_back(char(0x80 | ((code >> 6) & 0x3F)));
    text.push_back(char(0x80 | (code & 0x3F)));
  } else {
    text.push_back(char(0xF0 | (code >> 18)));
    text.push_back(char(0x80 | ((code >> 12) & 0x3F)));
    text.push_back(char(0x80 | ((code >> 6) & 0x3F)));
    text.push_back(char(0x80 | (code & 0x3F)));
  }
}

/// The four hex digits at `at`; empty if they are not there.
std::optional<std::uint32_t> hexDigits(std::string_view text, std::size_t at) {
  if (at + 4 > text.size()) return std::nullopt;
  std::uint32_t code = 0;
  const auto [end, problem] = std::from_chars(text.data() + at, text.data() + at + 4, code, 16);
  if (problem != std::errc() || end != text.data() + at + 4) return std::nullopt;
  return code;
}

constexpr std::uint32_t replacement = 0xFFFD;

/// Reads the escape after `\u` at `at` (and a second half of a surrogate pair); moves `at` behind it.
std::uint32_t unicodeEscape(std::string_view text, std::size_t& at) {
  const auto first = hexDigits(text, at);
  if (!first) return replacement;
  at += 4;
  if (*first < 0xD800 || *first > 0xDFFF) return *first;
  if (*first > 0xDBFF || !text.substr(at).starts_with("\\u")) return replacement;
  const auto second = hexDigits(text, at + 2);
  if (!second || *second < 0xDC00 || *second > 0xDFFF) return replacement;
  at += 6;
  return 0x10000 + ((*first - 0xD800) << 10) + (*second - 0xDC00);
}

void appendEscape(std::string_view text, std::size_t& at, std::string& out) {
  constexpr std::string_view letters = "bfnrt";
  constexpr std::string_view meanings = "\b\f\n\r\t";
  const char letter = text[at++];
  if (letter == 'u') return appendUtf8(unicodeEscape(text, at), out);
  const std::size_t found = letters.find(letter);
  out.push_back(found == std::string_view::npos ? letter : meanings[found]);
}

/// Bytes of the well-formed UTF-8 sequence at `at`; 0 if there is none (overlong forms and surrogates are none).
std::size_t utf8Length(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[at + i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return 1;
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || at + length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xC0) != 0x80) return 0;
  if (lead == 0xE0 && byte(1) < 0xA0) return 0;
  if (lead == 0xED && byte(1) > 0x9F) return 0;
  if (lead == 0xF0 && byte(1) < 0x90) return 0;
  if (lead == 0xF4 && byte(1) > 0x8F) return 0;
  return length;
}

/// Position of the first byte from `at` on that is no ASCII.
std::size_t asciiEnd(std::string_view text, std::size_t at) {
  constexpr std::uint64_t highBits = 0x8080808080808080u;
  for (std::uint64_t word = 0; at + sizeof(word) <= text.size(); at += sizeof(word)) {
    std::memcpy(&word, text.data() + at, sizeof(word));
    if ((word & highBits) != 0) break;
  }
  while (at < text.size() && static_cast<unsigned char>(text[at]) < 0x80) ++at;
  return at;
}

}  // namespace

std::size_t jsonValueLength(std::string_view text) {
  if (text.empty()) return 0;
  return text[0] == '{' || text[0] == '[' ? nestedEnd(text, 0) : scalarEnd(text, 0);
}

void JsonWalker::skipBlanks() {
  while (m_at < m_text.size() && isBlank(m_text[m_at])) ++m_at;
}

bool JsonWalker::broken() {
  m_state = State::Broken;
  return false;
}

bool JsonWalker::open(char bracket, char closing) {
  skipBlanks();
  if (m_at >= m_text.size() || m_text[m_at] != bracket) return broken();
  ++m_at;
  skipBlanks();
  if (m_at < m_text.size() && m_text[m_at] == closing) return closeOrSeparate(closing);
  m_state = State::Inside;
  return true;
}

/// After a value: true behind a comma; false behind the closing bracket or when neither is there.
bool JsonWalker::closeOrSeparate(char closing) {
  skipBlanks();
  if (m_at >= m_text.size()) return broken();
  const char character = m_text[m_at++];
  if (character == ',') {
    skipBlanks();
    return true;
  }
  if (character != closing) return broken();
  skipBlanks();
  m_state = m_at == m_text.size() ? State::Done : State::Broken;
  return false;
}

bool JsonWalker::readValue() {
  const std::size_t length = jsonValueLength(m_text.substr(m_at));
  if (length == 0) return broken();
  m_value = m_text.substr(m_at, length);
  m_at += length;
  return true;
}

bool JsonWalker::nextMember() {
  if (m_state == State::Done || m_state == State::Broken) return false;
  if (m_state == State::Fresh ? !open('{', '}') : !closeOrSeparate('}')) return false;
  if (m_at >= m_text.size() || m_text[m_at] != '"') return broken();
  const std::size_t end = stringEnd(m_text, m_at);
  if (end == 0) return broken();
  m_key = m_text.substr(m_at, end - m_at);
  m_at = end;
  skipBlanks();
  if (m_at >= m_text.size() || m_text[m_at] != ':') return broken();
  ++m_at;
  skipBlanks();
  return readValue();
}

bool JsonWalker::nextElement() {
  if (m_state == State::Done || m_state == State::Broken) return false;
  if (m_state == State::Fresh ? !open('[', ']') : !closeOrSeparate(']')) return false;
  return readValue();
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

std::string validUtf8(std::string_view text) {
  std::string out;
  std::size_t clean = 0;
  for (std::size_t at = asciiEnd(text, 0); at < text.size(); at = asciiEnd(text, at)) {
    const std::size_t length = utf8Length(text, at);
    if (length == 0) {
      out.append(text, clean, at - clean);
      appendUtf8(replacement, out);
      clean = ++at;
    } else {
      at += length;
    }
  }
  out.append(text, clean, std::string_view::npos);
  return out;
}

}  // namespace kerf::inline capture::trace
