#include "engine/capture/text/bare_annotations.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace kerf::inline capture {
namespace {

/// What annotations begin with, before their bracket.
constexpr std::array<std::string_view, 24> heads = {
    "f64",        "f32",        "f16", "bf16", "f8e4m3fn", "f8e5m2", "f8e8m0fnu", "f8e4m3fnuz",
    "f8e5m2fnuz", "f4e2m1fnx2", "c32", "c64",  "c128",     "i8",     "i16",       "i32",
    "i64",        "u8",         "u16", "u32",  "u64",      "b8",     "b16",       "Sym"};
constexpr std::array<std::string_view, 6> devices = {"cuda:", "cuda", "cpu", "meta", "xpu:", "mps"};
constexpr std::string_view behind = ",);=\r";
constexpr std::size_t longestBracket = 600;

/// End of the bracket that opens at `at`; npos if the line ends before.
std::size_t closing(std::string_view text, std::size_t at) {
  int open = 0;
  for (const std::size_t last = std::min(text.size(), at + longestBracket); at < last; ++at) {
    if (text[at] == '(' || text[at] == '[') ++open;
    if ((text[at] == ')' || text[at] == ']') && --open == 0) return at + 1;
  }
  return std::string_view::npos;
}

std::size_t deviceLength(std::string_view text) {
  const auto device = std::ranges::find_if(devices, [&](std::string_view name) { return text.starts_with(name); });
  std::size_t end = device == devices.end() ? 0 : device->size();
  while (end > 0 && end < text.size() && std::isdigit(static_cast<unsigned char>(text[end])) != 0) ++end;
  return end;
}

/// Length of the annotation at the front of `text`; 0 if none stands there.
std::size_t annotationLength(std::string_view text) {
  std::size_t word = 0;
  while (word < text.size() && std::isalnum(static_cast<unsigned char>(text[word])) != 0) ++word;
  if (word == text.size() || std::ranges::find(heads, text.substr(0, word)) == heads.end()) return 0;
  const bool isSymbol = text.starts_with("Sym");
  if (text[word] != (isSymbol ? '(' : '[')) return 0;
  std::size_t end = closing(text, word);
  if (end != std::string_view::npos && !isSymbol && text.substr(end).starts_with('[')) end = closing(text, end);
  if (end == std::string_view::npos) return 0;
  end += deviceLength(text.substr(end));
  const std::size_t next = text.find_first_not_of(' ', end);
  return next == std::string_view::npos || behind.find(text[next]) != std::string_view::npos ? end : 0;
}

}  // namespace

std::string withQuotedAnnotations(std::string_view line) {
  std::string out;
  const std::string_view code = line.substr(0, line.find('#'));
  for (std::size_t at = 0;;) {
    const std::size_t colon = code.find(": ", at);
    if (colon == std::string_view::npos) return out += line.substr(at);
    const std::size_t begin = colon + 2;
    const std::size_t length = annotationLength(code.substr(begin));
    out += line.substr(at, begin - at);
    if (length > 0) out += "\"" + std::string(line.substr(begin, length)) + "\"";
    at = begin + length;
  }
}

}  // namespace kerf::inline capture
