#include "engine/capture/trace/log_text.h"

#include <array>

#include "engine/support/utf8.h"

namespace kerf::inline capture::trace {

std::string clippedText(std::string_view text, std::size_t bytes) {
  if (text.size() <= bytes) return std::string(text);
  while (bytes > 0 && (static_cast<unsigned char>(text[bytes]) & 0xc0) == 0x80) --bytes;
  return std::string(text.substr(0, bytes)) + "…";
}

std::string_view trimmedText(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first == std::string_view::npos ? std::string_view()
                                         : text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

std::string_view firstLineOf(std::string_view text) { return text.substr(0, text.find('\n')); }

std::string_view lastLineOf(std::string_view text) {
  text = trimmedText(text);
  return trimmedText(text.substr(text.rfind('\n') + 1));  // npos + 1 is 0
}

std::vector<std::string_view> fits(std::string_view pattern, std::string_view text) {
  std::vector<std::string_view> holes;
  std::size_t at = pattern.find("{}");
  if (!text.starts_with(pattern.substr(0, at))) return {};
  if (at == std::string_view::npos) return text == pattern ? std::vector{text} : holes;
  text.remove_prefix(at);
  while (at != std::string_view::npos) {
    pattern.remove_prefix(at + 2);
    at = pattern.find("{}");
    const std::string_view literal = pattern.substr(0, at);
    const std::size_t found = literal.empty() ? text.size() : text.find(literal);
    if (found == std::string_view::npos) return {};
    holes.push_back(text.substr(0, found));
    text.remove_prefix(found + literal.size());
  }
  return text.empty() ? holes : std::vector<std::string_view>();
}

std::string plainSource(std::string_view source) {
  std::string plain;
  while (!source.empty()) {
    const bool local = source.starts_with("L['") || source.starts_with("G['");
    const bool inside = !plain.empty() && (std::isalnum(static_cast<unsigned char>(plain.back())) != 0);
    const std::size_t end = local && !inside ? source.find("']") : std::string_view::npos;
    if (end == std::string_view::npos) {
      plain += source.front();
      source.remove_prefix(1);
      continue;
    }
    plain += source.substr(3, end - 3);
    source.remove_prefix(end + 2);
  }
  return plain;
}

}  // namespace kerf::inline capture::trace
