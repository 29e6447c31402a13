// PieceRows: the lines of one graph, one after another, behind the prefix that they share.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "engine/capture/text/line_prefix.h"
#include "engine/capture/text/lines.h"

namespace kerf::inline capture {

struct PieceRow {
  std::size_t index = 0;  ///< of its line
  std::string_view text;  ///< behind the prefix
};

class PieceRows {
 public:
  /// From lines[first], before whose content stands `before`. What stands there only once is no prefix.
  PieceRows(const std::vector<TextLine>& lines, const std::vector<bool>& taken, std::size_t first,
            std::string_view before);

  /// The next line of this writer; nothing at a fence, at the end, and where the writer is gone for long.
  std::optional<PieceRow> next();
  /// The first line, behind the prefix or, where it has none, from its content on.
  std::string_view first() const { return m_first; }

 private:
  std::optional<std::string_view> rest(std::string_view line) const;
  bool standsOnMore(std::size_t first) const;

  const std::vector<TextLine>& m_lines;
  const std::vector<bool>& m_taken;
  LinePrefix m_prefix;
  bool m_isDiff = false;
  std::size_t m_at;
  std::string_view m_first;
};

}  // namespace kerf::inline capture
