// What came from a file, on its way to a terminal: nothing in it is acted upon, and nothing misleads whoever reads it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace kerf::inline support {

/// Whether a terminal acts upon this character, or shows what stands beside it in another place: control characters,
/// and those that turn the direction of writing, begin a line of their own, or are tags that nobody sees.
bool isUnprintable(std::uint32_t character);

/// escapedText() with newlines and tabs left as they are; "\r\n" becomes "\n".
std::string printableText(std::string_view text);

/// The same for text that comes in pieces, which may end within a character.
class PrintableStream {
 public:
  std::string next(std::string_view piece);
  /// What was held back because nothing followed it yet.
  std::string rest();

 private:
  std::string m_held;
};

}  // namespace kerf::inline support
