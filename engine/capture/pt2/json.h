// JsonCursor: walks JSON text in place and hands out values as they come; no tree is built, so size costs no memory.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/support/result.h"

namespace kerf::inline capture {

/// Reads what Python's json.dumps writes (also Infinity and NaN). Errors name the place in the text. A callback given
/// to forEach must consume exactly one value.
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
  Result<void> open(char bracket);
  Result<bool> next(char close, bool first);
  Result<void> expect(char wanted);
  Result<void> escape(std::string& out);
  Result<std::uint32_t> hex4();
  Result<void> skipString();
  bool word(std::string_view text);
  void space();

  std::string_view m_text;
  std::string_view m_name;
  int m_nesting;
  int m_depth = 0;
  std::size_t m_at = 0;
};

/// A JSON string literal of `text` (UTF-8 in, ASCII out, as json.dumps writes).
std::string jsonString(std::string_view text);
/// A number as json.dumps writes a float; infinities and NaN as the strings that torch.export uses.
std::string jsonFloat(double value);

}  // namespace kerf::inline capture
