// Reads the one-line JSON of trace records without building a document: members and elements as text ranges.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace kerf::inline capture::trace {

/// Deepest nesting of a record's JSON; deeper is malformed.
inline constexpr int maxJsonDepth = 200;

/// Walks one object or array. Keys and values are ranges of the text as written: `"a\n"`, `{"b": 1}`.
class JsonWalker {
 public:
  /// `text` must be one value with nothing but blanks around it.
  explicit JsonWalker(std::string_view text) : m_text(text) {}

  /// Steps to the next member of the object; false at its end, or when it is malformed.
  bool nextMember();
  /// Steps to the next element of the array; false at its end, or when it is malformed.
  bool nextElement();
  std::string_view key() const { return m_key; }  ///< with its quotes
  std::string_view value() const { return m_value; }
  /// True when the walk ended at the closing bracket and nothing follows it.
  bool complete() const { return m_state == State::Done; }

 private:
  enum class State { Fresh, Inside, Done, Broken };
  bool open(char bracket, char closing);
  bool closeOrSeparate(char closing);
  bool readValue();
  void skipBlanks();
  bool broken();

  std::string_view m_text, m_key, m_value;
  std::size_t m_at = 0;
  State m_state = State::Fresh;
};

/// Length of the value at the start of `text` (no blanks before it); 0 if it is malformed or too deep.
std::size_t jsonValueLength(std::string_view text);

/// The value of a member by name, compared as written; empty if absent.
std::string_view jsonMember(std::string_view object, std::string_view name);

/// A string value without quotes and escapes, always valid UTF-8 (U+FFFD for what is not); empty optional if the value
/// is no string.
std::optional<std::string> jsonString(std::string_view value);
std::optional<std::int64_t> jsonInteger(std::string_view value);
/// Finite numbers only.
std::optional<double> jsonNumber(std::string_view value);
/// True if the quoted `key` is exactly `name`.
inline bool jsonKeyIs(std::string_view key, std::string_view name) {
  return key.size() == name.size() + 2 && key.substr(1, name.size()) == name;
}

/// The text with every byte that is no UTF-8 replaced by U+FFFD.
std::string validUtf8(std::string_view text);

}  // namespace kerf::inline capture::trace
