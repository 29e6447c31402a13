// UTF-8: the one place that knows how characters become bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace kerf::inline support {

/// What stands for bytes that are no UTF-8.
inline constexpr std::uint32_t replacementCharacter = 0xfffd;

struct CodePoint {
  std::uint32_t value = replacementCharacter;
  std::size_t bytes = 0;  ///< 0: the text begins with no UTF-8 (overlong forms and surrogates are none)
};

/// Halves of surrogate pairs are no characters, but Python's strings may hold them.
enum class Surrogates { Refused, Allowed };

/// The character at the front of a text that is not empty.
CodePoint firstCodePoint(std::string_view text, Surrogates surrogates = Surrogates::Refused);
void appendUtf8(std::string& text, std::uint32_t code);

bool isUtf8(std::string_view text);
/// The text with every byte that is no UTF-8 replaced by U+FFFD.
std::string validUtf8(std::string_view text);

}  // namespace kerf::inline support
