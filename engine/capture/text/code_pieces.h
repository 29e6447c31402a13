// The three forms of a graph's text, each from its first line on. Private to engine/capture/text.
#pragma once

#include "engine/capture/text/line_content.h"
#include "engine/capture/text/piece_rows.h"
#include "engine/capture/text/pieces.h"

namespace kerf::inline capture {

/// Reads the piece whose first line is `first`; marks the lines that belong to it in `taken`.
class PieceReader {
 public:
  PieceReader(const std::vector<TextLine>& lines, std::vector<bool>& taken, std::size_t first,
              const LineContent& content);

  /// A class or function, up to the next line that is indented no deeper; false if it has no forward method.
  bool readable();
  /// One node per line of the piece; lines that a terminal or a printer wrapped are joined.
  void graphText();
  void table();
  /// Statements without a function around them: they get one, whose parameters are what nothing defines.
  void statements();

  GraphTextPiece take() { return std::move(m_piece); }

 private:
  void giveBack();
  void addRow(std::size_t index, std::string_view text);
  std::string_view head() const;
  std::string renamedHead();

  const std::vector<TextLine>& m_lines;
  std::vector<bool>& m_taken;
  std::size_t m_first;
  LineContent m_content;
  PieceRows m_rows;
  GraphTextPiece m_piece;
  std::vector<std::size_t> m_added;  ///< lines of a Readable
  std::size_t m_count = 0;           ///< rows of a Readable
};

}  // namespace kerf::inline capture
