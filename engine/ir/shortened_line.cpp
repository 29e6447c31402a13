#include "engine/ir/shortened_line.h"

#include <algorithm>
#include <cctype>

namespace kerf::inline ir {
namespace {

constexpr std::string_view ellipsis = "...";

std::string_view withoutBlanks(std::string_view text) {
  const std::size_t last = text.find_last_not_of(" \t\r");
  return text.substr(0, last == std::string_view::npos ? 0 : last + 1);
}

/// The brackets that are open at the end of the text, outermost first.
std::string openBrackets(std::string_view text) {
  std::string open;
  for (const char c : text) {
    if (c == '(' || c == '[' || c == '{') open += c == '(' ? ')' : c == '[' ? ']' : '}';
    if (!open.empty() && c == open.back()) open.pop_back();
  }
  return open;
}

/// What stands in front of the dots, without a name or number that they cut.
std::optional<std::string_view> toldPart(std::string_view line) {
  line = withoutBlanks(line);
  if (line.ends_with(')')) {  // "(args = (%x, ...), kwargs = {})" says itself where it ends
    return std::nullopt;
  }
  if (!line.ends_with(ellipsis)) return std::nullopt;
  while (line.ends_with('.')) line.remove_suffix(1);
  const std::string_view told = withoutBlanks(line);
  const bool isCut =
      told.size() == line.size() && !told.empty() && std::string_view(",([{").find(told.back()) == told.npos;
  if (!isCut) return told;
  const std::size_t end = told.find_last_of(",([{");
  return end == std::string_view::npos ? told : told.substr(0, end + 1);
}

/// Closes brackets down to `keep` of them; a tuple of one needs its comma.
void close(std::string& text, std::string& open, std::size_t keep) {
  while (open.size() > keep) {
    while (text.ends_with(' ')) text.pop_back();
    const bool isEmpty = text.ends_with('(') || text.ends_with('[') || text.ends_with('{');
    if (open.back() == ')' && !isEmpty && !text.ends_with(',')) text += ',';
    if (open.back() != ')' && text.ends_with(',')) text.pop_back();
    text += open.back();
    open.pop_back();
  }
}

/// "(args = (%x, ...), kwargs = {})" without the dots; nothing where there are none between brackets and commas.
std::optional<std::string> withoutDots(std::string_view line) {
  std::string text(line);
  bool found = false;
  for (std::size_t at = text.find(ellipsis); at != std::string::npos; at = text.find(ellipsis, at + 1)) {
    const std::size_t end = at + ellipsis.size();
    if (at == 0 || end >= text.size()) return std::nullopt;
    const bool first = std::string_view("([{").find(text[at - 1]) != std::string_view::npos;
    const bool later = at > 1 && text[at - 1] == ' ' && text[at - 2] == ',';
    const bool closes = std::string_view(")]}").find(text[end]) != std::string_view::npos;
    if (!(first || later) || !(closes || text[end] == ',')) continue;
    if (first)
      text.erase(at, closes ? ellipsis.size() : ellipsis.size() + 2);
    else if (text[end] == ')')
      text.erase(at - 1, ellipsis.size() + 1);  // a tuple of one keeps its comma
    else
      text.erase(at - 2, ellipsis.size() + 2);
    found = true;
    --at;
  }
  return found ? std::optional(text) : std::nullopt;
}

}  // namespace

bool isEllipsis(std::string_view line) {
  const std::size_t first = line.find_first_not_of(" \t\r|");
  if (first == std::string_view::npos) return false;
  const std::string_view content = withoutBlanks(line.substr(first));
  return content.size() >= ellipsis.size() && content.find_first_not_of(". |") == std::string_view::npos;
}

std::optional<std::string> completedGraphLine(std::string_view line) {
  if (auto text = withoutBlanks(line).ends_with(')') ? withoutDots(line) : std::nullopt) return text;
  const auto told = toldPart(line);
  constexpr std::string_view arguments = "(args = ";
  if (!told || told->find(arguments) == std::string_view::npos) return std::nullopt;
  std::string text(*told);
  while (text.ends_with(' ') || text.ends_with(',')) text.pop_back();
  std::string open = openBrackets(text);
  const bool hasKeywords = text.find(", kwargs = ") != std::string::npos;
  close(text, open, 1);
  if (!hasKeywords) text += ", kwargs = {}";
  return text + ")";
}

std::optional<std::string> completedRow(std::string_view line) {
  const auto told = toldPart(line);
  if (!told || told->find('(') == std::string_view::npos) return std::nullopt;
  std::string text(*told);
  while (text.ends_with(' ') || text.ends_with(',')) text.pop_back();
  std::string open = openBrackets(text);
  close(text, open, 0);
  if (!text.ends_with('}')) text += "  {}";
  return text;
}

}  // namespace kerf::inline ir
