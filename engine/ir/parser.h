// Readers of FX text: `graph():` dumps and the Python of a forward method. They parse; nothing is ever executed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/ir/graph_module.h"

namespace kerf::inline ir {

/// What a reader of a damaged text left out, and what it made up to keep the rest.
struct PartialReading {
  struct Skipped {
    int line = 0;
    std::string message;
  };
  std::vector<Skipped> skipped;      ///< statements that could not be read, in order
  std::vector<int> shortened;        ///< lines that somebody ended with "...": they are read as far as they are told
  std::vector<int> behindReturn;     ///< first lines of what stands behind a return, which no graph computes
  std::vector<std::string> inputs;   ///< names that nothing defines: placeholders now
  std::vector<std::string> outputs;  ///< where nothing is returned: the values that nothing uses are
  int endLine = 0;                   ///< last line of a text without a return; 0: it has one
};

/// Parses str(graph) text (also the old `[#users=1]` form). Errors carry the 1-based line; `firstLine` is the number of
/// the text's first line in its file.
/// `partial`, if given, hears of statements left out, of names that became placeholders, and of a missing return.
Result<Graph> parseGraphText(std::string_view text, int firstLine = 1, PartialReading* partial = nullptr);
/// Parses graph.print_tabular() (columns opcode, name, target, args, kwargs). Targets that the table shows only as
/// "<function relu at 0x…>" become the function of that name in torch.nn.functional; `guessed` lists them.
Result<Graph> parseTabular(std::string_view text, int firstLine = 1, std::vector<std::string>* guessed = nullptr,
                           PartialReading* partial = nullptr);
/// Parses a `class …(torch.nn.Module):` with its `def forward` as print_readable or a repro writes it.
/// `firstLine` is the line number of the text's first line in its file.
Result<GraphModule> parseReadable(std::string_view text, int firstLine = 1);
/// The same of a text that is cut, has ellipses or statements of another kind, or mentions names that nothing defines:
/// the statements that can be read make the graph, `partial` says the rest. TooLarge where most of it is no graph.
Result<GraphModule> parsePartialReadable(std::string_view text, int firstLine, PartialReading& partial);

}  // namespace kerf::inline ir
