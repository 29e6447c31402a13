// TextLines: pasted text cut into lines, freed from what browsers, terminals and chats put into them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kerf::inline capture {

struct TextLine {
  std::string text;
  std::size_t number = 0;  ///< index of its line in the text: several where a line holds escaped line breaks
  bool fence = false;      ///< of Markdown: no graph goes across it; `text` is empty
};

/// Removed: terminal colours, a byte order mark, HTML tags and entities, Markdown fences, the signs of a diff together
/// with the lines that it takes away. Non-breaking spaces and typographic quotes become plain ones; a text that is one
/// string with escaped line breaks is cut at them. Annotations get their quotes. What logs write before each line stays
/// (LinePrefix).
/// Whether a merge left both its sides in the text, between "<<<<<<<", "=======" and ">>>>>>>".
bool hasMergeConflict(std::string_view text);
std::vector<TextLine> textLines(std::string_view text);

/// Number of leading spaces (a tab counts as eight).
std::size_t leadingSpaces(std::string_view line);
/// Without white space at both ends.
std::string_view strippedLine(std::string_view line);

}  // namespace kerf::inline capture
