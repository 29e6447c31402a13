// JSON read in place: values come as they stand in the text and no tree is built, so size costs no memory. That is why
// importers have a reader of their own: a .pt2's graph may have hundreds of megabytes of JSON and a log a million
// records. Everything else reads JSON with nlohmann's library.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/support/result.h"

namespace kerf::inline capture {

/// Deepest nesting of a record's JSON; deeper is malformed.
inline constexpr int maxJsonDepth = 200;

/// Reads what Python's json.dumps writes (also Infinity and NaN), value after value. Errors name the place in the text.
/// A callback given to forEach must consume exactly one value.
class JsonCursor {
 public:
  /// `name` is the member that the text comes from, for messages.
  JsonCursor(std::string_view text, std::string_view name, int nesting)
      : m_text(text), m_name(name), m_nesting(nesting) {}

  /// Calls visit(std::string key) for each member of the object at the cursor.
  template <class Visit>
  Result<void> forEachMember(Visit&& visit) {
    KERF_CHECK(open('{'));
    for (bool first = true;; first = false) {
      KERF_TRY(const bool more, next('}', first));
      if (!more) return {};
      KERF_TRY(std::string key, string());
      KERF_CHECK(expect(':'));
      KERF_CHECK(visit(std::move(key)));
    }
  }
  /// Calls visit() for each element of the array at the cursor.
  template <class Visit>
  Result<void> forEachElement(Visit&& visit) {
    KERF_CHECK(open('['));
    for (bool first = true;; first = false) {
      KERF_TRY(const bool more, next(']', first));
      if (!more) return {};
      KERF_CHECK(visit());
    }
  }

  Result<std::string> string();
  Result<std::int64_t> integer();
  /// Any number; also the strings "Infinity", "-Infinity" and "NaN", as torch.export writes them.
  Result<double> number();
  Result<bool> boolean();
  /// Consumes a null; false and nothing consumed if something else follows.
  bool null();
  /// Passes over one value and returns its text.
  Result<std::string_view> skip();
  /// Fails unless only white space follows.
  Result<void> end();

  /// The first character of the next value: one of {["tfnIN-0123456789, or 0 at the end.
  char peek();
  std::size_t position() const { return m_at; }
  /// Goes to a place that position() gave before a value of the same nesting.
  void seek(std::size_t position) { m_at = position; }
  /// The text between a place that position() gave and the cursor.
  std::string_view textFrom(std::size_t start) const { return m_text.substr(start, m_at - start); }
  /// An error at the cursor: member, line and column are part of it.
  std::unexpected<Error> failHere(std::string message) const;

 private:
  friend class JsonWalker;
  std::unexpected<Error> tooDeep() const;
  Result<void> open(char bracket);
  Result<bool> next(char close, bool first);
  Result<void> expect(char wanted);
  /// Passes over a string; its text, quotes included.
  Result<std::string_view> stringText();
  bool word(std::string_view text);
  void space();

  std::string_view m_text;
  std::string_view m_name;
  int m_nesting;
  int m_depth = 0;
  std::size_t m_at = 0;
};

/// Walks one object or array and gives keys and values as written: `"a\n"`, `{"b": 1}`.
class JsonWalker {
 public:
  /// `text` must be one value with nothing but blanks around it.
  explicit JsonWalker(std::string_view text) : m_json(text, "", maxJsonDepth) {}

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
  bool step(char bracket, char closing);
  bool keep(Result<std::string_view> text, std::string_view& into);

  JsonCursor m_json;
  std::string_view m_key, m_value;
  State m_state = State::Fresh;
};

/// Stands for the length of a value that is nested too deeply.
inline constexpr std::size_t jsonTooDeep = std::string_view::npos;
/// Length of the value at the start of `text` (no blanks before it); 0 if it is malformed, jsonTooDeep if brackets nest
/// deeper than `depth`.
std::size_t jsonValueLength(std::string_view text, int depth = maxJsonDepth);
/// The value of a member by name, compared as written; empty if absent.
std::string_view jsonMember(std::string_view object, std::string_view name);
/// True if the quoted `key` is exactly `name`.
inline bool jsonKeyIs(std::string_view key, std::string_view name) {
  return key.size() == name.size() + 2 && key.substr(1, name.size()) == name;
}

/// A string value without quotes and escapes, always valid UTF-8 (U+FFFD for what is malformed); none if the value is
/// no string.
std::optional<std::string> jsonString(std::string_view value);
std::optional<std::int64_t> jsonInteger(std::string_view value);
/// Finite numbers only.
std::optional<double> jsonNumber(std::string_view value);

/// A JSON string literal of `text` (UTF-8 in, ASCII out, as json.dumps writes).
std::string quotedJson(std::string_view text);
/// A number as json.dumps writes a float; infinities and NaN as the strings that torch.export uses.
std::string jsonFloat(double value);

}  // namespace kerf::inline capture
