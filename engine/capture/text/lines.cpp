#include "engine/capture/text/lines.h"

#include <algorithm>
#include <array>

#include "engine/capture/text/bare_annotations.h"
#include "engine/capture/text/characters.h"

namespace kerf::inline capture {
namespace {

constexpr std::string_view blanks = " \t\r\f\v";

/// "```python", "~~~", also quoted ("> ```"): the marks around code in Markdown.
bool isFence(std::string_view line) {
  const std::size_t first = line.find_first_not_of("> \t");
  if (first == std::string_view::npos) return false;
  const std::string_view content = line.substr(first);
  return content.starts_with("```") || content.starts_with("~~~");
}

/// Whether a fence says that what follows is a diff.
bool beginsDiff(std::string_view line) {
  const std::string_view content = strippedLine(line);
  return content.ends_with("```diff") || content.ends_with("~~~diff");
}

/// Follows the parts of the text that are diffs.
class DiffSigns {
 public:
  /// The line as it is after the change; empty where the change takes it away.
  std::string_view after(std::string_view line) {
    if (beginsDiff(line)) {
      m_inFence = m_inside = true;
      return line;
    }
    const bool isHunk = line.starts_with("@@ -");
    if (isHunk) {
      m_inside = true;
      const std::size_t end = line.find("@@", 2);
      return end == std::string_view::npos ? std::string_view() : line.substr(end + 2);
    }
    if (!m_inside || line.empty()) return line;
    const char sign = line.front();
    if (sign == '+' || sign == ' ') return line.substr(1);
    if (sign == '-') return {};
    m_inside = m_inFence && !isFence(line);
    m_inFence = m_inside;
    return line;
  }

 private:
  bool m_inside = false, m_inFence = false;
};

/// Offset of the line that begins with `mark`, at `from` or behind it.
std::size_t lineWith(std::string_view text, std::string_view mark, std::size_t from) {
  for (std::size_t at = text.find(mark, from); at != text.npos; at = text.find(mark, at + 1))
    if (at == 0 || text[at - 1] == '\n') return at;
  return text.npos;
}

/// Follows the places where a merge left both sides: the first side is the text.
class MergeConflicts {
 public:
  explicit MergeConflicts(bool any) : m_any(any) {}
  std::string_view firstSide(std::string_view line) {
    if (!m_any) return line;
    const bool begins = line.starts_with("<<<<<<< ");
    const bool ends = line.starts_with(">>>>>>> ");
    if (begins || ends) {
      m_place = begins ? Place::First : Place::Outside;
      return {};
    }
    if (m_place == Place::First && (line.starts_with("=======") || line.starts_with("||||||| ")))
      m_place = Place::Other;
    return m_place == Place::Other ? std::string_view() : line;
  }

 private:
  enum class Place { Outside, First, Other };
  bool m_any;
  Place m_place = Place::Outside;
};

}  // namespace

bool hasMergeConflict(std::string_view text) {
  const std::size_t begin = lineWith(text, "<<<<<<< ", 0);
  const std::size_t middle = begin == text.npos ? begin : lineWith(text, "=======\n", begin);
  return middle != text.npos && lineWith(text, ">>>>>>> ", middle) != text.npos;
}

std::string_view strippedLine(std::string_view line) {
  const std::size_t first = line.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return line.substr(first, line.find_last_not_of(blanks) - first + 1);
}

std::vector<TextLine> textLines(std::string_view text) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  const PlainCharacters plain(text);
  DiffSigns diff;
  MergeConflicts conflicts(hasMergeConflict(text));
  std::vector<TextLine> lines;
  for (std::size_t number = 0; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string whole = plain.line(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    std::string_view rest = whole;
    do {
      const std::size_t stop = std::min(rest.find('\n'), rest.size());
      const std::string_view line = diff.after(conflicts.firstSide(rest.substr(0, stop)));
      const bool fence = isFence(line);
      lines.push_back({fence ? std::string() : withQuotedAnnotations(line), number, fence});
      rest.remove_prefix(std::min(stop + 1, rest.size()));
    } while (!rest.empty());
  }
  return lines;
}

std::size_t leadingSpaces(std::string_view line) {
  std::size_t count = 0;
  for (const char c : line) {
    if (c != ' ' && c != '\t') break;
    count += c == '\t' ? 8 : 1;
  }
  return count;
}

}  // namespace kerf::inline capture
