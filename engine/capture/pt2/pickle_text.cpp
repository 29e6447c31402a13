// The opcodes of protocol 0: a letter, and a line of text that says the value as Python writes it.
#include <charconv>
#include <optional>

#include "engine/capture/pt2/pickle_machine.h"
#include "engine/support/utf8.h"

namespace kerf::inline capture::pt2 {
namespace {

constexpr std::size_t longestNumber = 64;
constexpr char32_t lastCharacter = 0x10ffff;

template <class Number>
Result<Number> numberIn(std::string_view line, const char* what) {
  Number number{};
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), number);
  if (line.size() <= longestNumber && error == std::errc() && end == line.data() + line.size()) return number;
  return fail(ErrorCode::BadInput, "the pickle holds \"{}\", which is no {}", line.substr(0, longestNumber), what);
}

/// The character that `count` digits of that base stand for; they are taken from `text`.
std::optional<char32_t> takeCode(std::string_view& text, std::size_t count, int base) {
  std::uint32_t code = 0;
  const std::string_view digits = text.substr(0, count);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), code, base);
  if (digits.size() < count || error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  text.remove_prefix(count);
  return char32_t(code);
}

struct EscapeRow {
  char letter;
  std::size_t digits;
  bool isRaw;  ///< of a unicode line too, where everything else stands for itself
};
constexpr EscapeRow codeEscapes[] = {{'x', 2, false}, {'u', 4, true}, {'U', 8, true}};

struct LetterRow {
  char letter, meaning;
};
constexpr LetterRow letterEscapes[] = {{'\\', '\\'}, {'\'', '\''}, {'"', '"'},  {'a', '\a'}, {'b', '\b'},
                                       {'f', '\f'},  {'n', '\n'},  {'r', '\r'}, {'t', '\t'}, {'v', '\v'}};

/// What follows a backslash, taken from `text`.
std::optional<char32_t> takeEscape(std::string_view& text, bool isRaw) {
  if (text.empty()) return isRaw ? std::optional(U'\\') : std::nullopt;
  const char letter = text.front();
  for (const EscapeRow& row : codeEscapes) {
    if (row.letter != letter || (isRaw && !row.isRaw)) continue;
    text.remove_prefix(1);
    return takeCode(text, row.digits, 16);
  }
  if (isRaw) return U'\\';
  if (letter >= '0' && letter <= '7') {
    std::size_t digits = 1;
    while (digits < 3 && digits < text.size() && text[digits] >= '0' && text[digits] <= '7') ++digits;
    return takeCode(text, digits, 8);
  }
  for (const LetterRow& row : letterEscapes)
    if (row.letter == letter) return text.remove_prefix(1), char32_t(row.meaning);
  return std::nullopt;
}

/// Latin-1 with escapes, as UTF-8.
Result<std::string> unescaped(std::string_view text, bool isRaw) {
  std::string out;
  while (!text.empty()) {
    auto code = char32_t(static_cast<unsigned char>(text.front()));
    text.remove_prefix(1);
    if (code == U'\\') {
      const auto escaped = takeEscape(text, isRaw);
      if (!escaped) return fail(ErrorCode::BadInput, "the pickle holds a text with an unknown escape");
      code = *escaped;
    }
    if (code > lastCharacter) return fail(ErrorCode::BadInput, "the pickle holds a text with no such character");
    appendUtf8(out, std::uint32_t(code));
  }
  return out;
}

PickleValue textValue(std::string text) {
  PickleValue value;
  value.kind = PickleValue::Kind::String;
  value.text = std::move(text);
  return value;
}

}  // namespace

/// "I01" and "I00" are true and false.
Result<void> PickleMachine::intLine() {
  KERF_TRY(const std::string text, line());
  if (text == "01" || text == "00") return pushKind(Kind::Bool, text == "01" ? 1 : 0);
  KERF_TRY(const auto number, numberIn<std::int64_t>(text, "integer of 64 bits"));
  return pushKind(Kind::Int, number);
}

Result<void> PickleMachine::longLine() {
  KERF_TRY(std::string text, line());
  if (text.ends_with('L')) text.pop_back();
  KERF_TRY(const auto number, numberIn<std::int64_t>(text, "integer of 64 bits"));
  return pushKind(Kind::Int, number);
}

Result<void> PickleMachine::floatLine() {
  KERF_TRY(const std::string text, line());
  PickleValue value;
  value.kind = Kind::Float;
  KERF_TRY(value.real, numberIn<double>(text, "number"));
  KERF_CHECK(push(std::move(value)));
  return {};
}

/// A text as repr() quotes it.
Result<void> PickleMachine::stringLine() {
  KERF_TRY(const std::string text, line());
  if (text.size() < 2 || text.front() != text.back() || (text.front() != '\'' && text.front() != '"'))
    return fail(ErrorCode::BadInput, "the pickle holds a text without quotes");
  KERF_TRY(std::string inner, unescaped(std::string_view(text).substr(1, text.size() - 2), false));
  KERF_CHECK(push(textValue(std::move(inner))));
  return {};
}

Result<void> PickleMachine::unicodeLine() {
  KERF_TRY(const std::string text, line());
  KERF_TRY(std::string inner, unescaped(text, true));
  KERF_CHECK(push(textValue(std::move(inner))));
  return {};
}

Result<std::uint64_t> PickleMachine::lineKey() {
  KERF_TRY(const std::string text, line());
  return numberIn<std::uint64_t>(text, "place of a value");
}

Result<void> PickleMachine::putLine() {
  KERF_TRY(const std::uint64_t key, lineKey());
  return memoize(key);
}

Result<void> PickleMachine::getLine() {
  KERF_TRY(const std::uint64_t key, lineKey());
  return recall(key);
}

Result<void> PickleMachine::list() {
  PickleValue value;
  value.kind = Kind::List;
  KERF_TRY(value.items, popToMark());
  KERF_CHECK(push(std::move(value)));
  return {};
}

Result<void> PickleMachine::dict() {
  PickleValue value;
  value.kind = Kind::Dict;
  KERF_TRY(value.items, popToMark());
  if (value.items.size() % 2 != 0) return fail(ErrorCode::BadInput, "the pickle gives a dict a key without a value");
  KERF_CHECK(push(std::move(value)));
  return {};
}

}  // namespace kerf::inline capture::pt2
