#include "engine/capture/common/json.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "engine/support/utf8.h"

namespace kerf::inline capture {
namespace {

bool isNumberChar(char c) { return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E'; }

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
  return tooDeep();
}

std::unexpected<Error> JsonCursor::tooDeep() const {
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

Result<std::string_view> JsonCursor::stringText() {
  if (peek() != '"') return failHere("'\"' expected");
  const std::size_t length = jsonValueLength(m_text.substr(m_at));
  if (length == 0) return failHere("a string has no end");
  m_at += length;
  return m_text.substr(m_at - length, length);
}

Result<std::string> JsonCursor::string() {
  KERF_TRY(const std::string_view text, stringText());
  if (!isUtf8(text)) return failHere("the text is not UTF-8");
  return *jsonString(text);
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
  const std::string_view rest = m_text.substr(std::min(m_at, m_text.size()));
  const std::size_t length = jsonValueLength(rest, m_nesting - m_depth);
  if (length == jsonTooDeep) return tooDeep();
  if (length == 0) return failHere("a value expected");
  m_at += length;
  return rest.substr(0, length);
}

Result<void> JsonCursor::end() {
  (void)peek();
  if (m_at < m_text.size()) return failHere("more text follows the end");
  return {};
}

bool JsonWalker::step(char bracket, char closing) {
  if (m_state == State::Done || m_state == State::Broken) return false;
  const bool first = m_state == State::Fresh;
  m_state = State::Broken;
  if (first && !m_json.open(bracket)) return false;
  const auto more = m_json.next(closing, first);
  if (!more) return false;
  m_state = *more ? State::Inside : m_json.end() ? State::Done : State::Broken;
  return *more;
}

bool JsonWalker::keep(Result<std::string_view> text, std::string_view& into) {
  if (!text) m_state = State::Broken;
  into = text.value_or("");
  return text.has_value();
}

bool JsonWalker::nextMember() {
  if (!step('{', '}') || !keep(m_json.stringText(), m_key)) return false;
  if (m_json.expect(':')) return keep(m_json.skip(), m_value);
  m_state = State::Broken;
  return false;
}

bool JsonWalker::nextElement() { return step('[', ']') && keep(m_json.skip(), m_value); }

}  // namespace kerf::inline capture
