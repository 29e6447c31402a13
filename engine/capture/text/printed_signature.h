// What a printed ExportedProgram says below its graph: its signature, and the ranges of its symbols.
#pragma once

#include <optional>
#include <vector>

#include "engine/capture/common/capture.h"
#include "engine/capture/text/lines.h"

namespace kerf::inline capture {

struct PrintedSignature {
  std::optional<GraphSignature> signature;
  std::vector<SymbolRange> ranges;
};

/// Reads the lines from `first` up to the next graph: "Graph signature:" with a line for each input and output, or
/// "Graph signature: ExportGraphSignature(…)" of older versions, and "Range constraints: {…}".
PrintedSignature printedSignature(const std::vector<TextLine>& lines, std::size_t first);

/// Gives them to the graph. A signature whose names are not the graph's own is left out, and a note says so.
void applyPrintedSignature(PrintedSignature printed, CapturedGraph& graph, std::vector<std::string>* notes);

}  // namespace kerf::inline capture
