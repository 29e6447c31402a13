// GraphTextPieces: where graphs begin and end in pasted text.
#pragma once

#include <string>
#include <vector>

#include "engine/capture/text/graph_label.h"
#include "engine/capture/text/lines.h"

namespace kerf::inline capture {

/// A graph's text within the lines.
struct GraphTextPiece {
  enum class Form { Readable, GraphText, Tabular };
  Form form = Form::Readable;
  std::string text;          ///< freed of prefixes, dedented; a readable keeps one line per line of the file
  std::size_t line = 0;      ///< index of its first line in the file
  std::size_t lastLine = 0;  ///< of its last one
  std::string className;     ///< Readable with a class
  GraphLabel label;
  bool fragment = false;       ///< nodes without a header: a Readable's `text` has one that was added above `line`
  std::size_t statements = 0;  ///< of a fragment
};

/// The graphs in the lines, in order. A class that a later class makes in its __init__ belongs to that one. Lines
/// between a log's lines that are not the same writer's are passed over. Statements without a function around them count
/// only where the text has nothing else.
std::vector<GraphTextPiece> graphTextPieces(const std::vector<TextLine>& lines);

}  // namespace kerf::inline capture
