// SourceText: a Python file cut into lines by one linear pass that also refuses what no Python file may hold.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "engine/capture/common/capture.h"

namespace kerf::inline capture {

/// Lines [first, last), 0-based.
struct LineRange {
  std::size_t first = 0;
  std::size_t last = 0;
  bool empty() const { return first >= last; }
};

struct SourceText {
  std::string_view text;
  std::vector<std::string_view> lines;  ///< without '\n' and a '\r' before it; joined by '\n' they give the text back
  std::vector<std::uint8_t> inString;   ///< line i begins inside a triple-quoted string
  std::vector<std::uint8_t> inBracket;  ///< line i begins inside an open bracket

  /// Line begins a statement: not blank, not a comment, not inside a string or bracket.
  bool startsStatement(std::size_t line) const;
  /// First line after `line` that begins another statement or, if none, `end`.
  std::size_t statementEnd(std::size_t line, std::size_t end) const;
  /// The text of these lines, line breaks included, without the last one.
  std::string_view slice(LineRange range) const;
};

/// Lines that a file may have per node: its header, load_args and main stand beside one line per node.
constexpr std::int64_t linesPerNode = 4;

/// BadInput for NUL bytes, invalid UTF-8, strings or brackets that never close; TooLarge for files, lines and nesting
/// beyond the limits. Errors carry the line.
Result<SourceText> scanSource(std::string_view text, const ImportLimits& limits);

/// Number of spaces (tabs count as eight) that a line starts with.
std::size_t indentation(std::string_view line);
/// Without white space at both ends.
std::string_view trimmed(std::string_view text);

}  // namespace kerf::inline capture
