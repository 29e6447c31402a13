// LostIndentation: code that a web page or a chat freed of its indentation: the statements up to `return` are those of
// the `def forward` above them. Private to engine/capture/text.
#pragma once

#include <string>
#include <string_view>

namespace kerf::inline capture {

class LostIndentation {
 public:
  /// `inForward`: the text begins with the method itself, without a class.
  LostIndentation(bool inForward, bool hasClass);

  /// Whether the line belongs to the text although it is no deeper than the text's first line. `text`: what is taken.
  bool takes(std::string_view line, bool shallow, bool outside, std::string_view text);
  /// Blanks in front of the line.
  std::size_t columns(std::string_view line) const;
  /// The line is taken.
  void took(std::string_view line, bool outside);

 private:
  enum class Place { Class, Forward, Behind };

  bool m_hasClass;
  bool m_lost = false;
  std::size_t m_depth = 0;  ///< of nested classes
  Place m_place;
};

}  // namespace kerf::inline capture
