// TextLines: pasted text cut into lines, freed from what logs and chats put around them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kerf::inline capture {

/// Line i is line firstLine + i of the file. Removed: TORCH_LOGS prefixes ("[rank0]:V1206 15:18:15.925000 1500233
/// torch/…/output_graph.py:1288] [0/0] [__graph_code] "), "> " of quotes, Markdown fences, a byte order mark, colours.
std::vector<std::string> graphTextLines(std::string_view text);

/// Number of leading spaces (a tab counts as eight).
std::size_t leadingSpaces(std::string_view line);

/// A graph's text within the lines.
struct GraphTextPiece {
  enum class Form { Readable, GraphText, Tabular };
  Form form = Form::Readable;
  std::string text;       ///< dedented; a readable keeps one line per line of the file
  std::size_t line = 0;   ///< index of its first line
  std::string className;  ///< Readable with a class
};

/// The graphs in the lines, in order. A class that a later class makes in its __init__ belongs to that one.
std::vector<GraphTextPiece> graphTextPieces(const std::vector<std::string>& lines);

}  // namespace kerf::inline capture
