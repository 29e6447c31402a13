#include "engine/support/utf8.h"

#include <array>
#include <cstring>

namespace kerf::inline support {
namespace {

/// Position of the first byte from `at` on that is no ASCII.
std::size_t asciiEnd(std::string_view text, std::size_t at) {
  constexpr std::uint64_t highBits = 0x8080808080808080;
  for (std::uint64_t word = 0; at + sizeof(word) <= text.size(); at += sizeof(word)) {
    std::memcpy(&word, text.data() + at, sizeof(word));
    if ((word & highBits) != 0) break;
  }
  while (at < text.size() && static_cast<unsigned char>(text[at]) < 0x80) ++at;
  return at;
}

std::size_t lengthByLead(unsigned char lead) {
  if (lead < 0x80) return 1;
  if (lead < 0xc2 || lead > 0xf4) return 0;
  return lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
}

}  // namespace

CodePoint firstCodePoint(std::string_view text, Surrogates surrogates) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const std::size_t length = lengthByLead(byte(0));
  if (length == 1) return {byte(0), 1};
  if (length == 0 || length > text.size()) return {};
  std::uint32_t code = byte(0) & (0x7fu >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    code = code << 6 | (byte(i) & 0x3fu);
  }
  constexpr std::array<std::uint32_t, 5> least{0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = surrogates == Surrogates::Refused && code >= 0xd800 && code < 0xe000;
  if (code < least[length] || code > 0x10ffff || surrogate) return {};
  return {code, length};
}

void appendUtf8(std::string& text, std::uint32_t code) {
  if (code < 0x80) {
    text += char(code);
    return;
  }
  const int following = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  constexpr std::array<std::uint32_t, 4> lead{0, 0xc0, 0xe0, 0xf0};
  text += char(lead[std::size_t(following)] | code >> (6 * following));
  for (int i = following - 1; i >= 0; --i) text += char(0x80u | (code >> (6 * i) & 0x3fu));
}

bool isUtf8(std::string_view text) {
  for (std::size_t at = asciiEnd(text, 0); at < text.size(); at = asciiEnd(text, at)) {
    const std::size_t bytes = firstCodePoint(text.substr(at)).bytes;
    if (bytes == 0) return false;
    at += bytes;
  }
  return true;
}

std::string validUtf8(std::string_view text) {
  std::string out;
  std::size_t clean = 0;
  for (std::size_t at = asciiEnd(text, 0); at < text.size(); at = asciiEnd(text, at)) {
    const std::size_t bytes = firstCodePoint(text.substr(at)).bytes;
    if (bytes == 0) {
      out.append(text, clean, at - clean);
      appendUtf8(out, replacementCharacter);
      clean = ++at;
    } else {
      at += bytes;
    }
  }
  out.append(text, clean, std::string_view::npos);
  return out;
}

}  // namespace kerf::inline support
