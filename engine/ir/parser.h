// Readers of FX text: `graph():` dumps and the Python of a forward method. They parse; nothing is ever executed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/ir/graph_module.h"

namespace kerf::inline ir {

/// Parses str(graph) text (also the old `[#users=1]` form). Errors carry the 1-based line; `firstLine` is the number of
/// the text's first line in its file.
Result<Graph> parseGraphText(std::string_view text, int firstLine = 1);
/// Parses graph.print_tabular() (columns opcode, name, target, args, kwargs). Targets that the table shows only as
/// "<function relu at 0x…>" become the function of that name in torch.nn.functional; `guessed` lists them.
Result<Graph> parseTabular(std::string_view text, int firstLine = 1, std::vector<std::string>* guessed = nullptr);
/// Parses a `class …(torch.nn.Module):` with its `def forward` as print_readable or a repro writes it.
/// `firstLine` is the line number of the text's first line in its file.
Result<GraphModule> parseReadable(std::string_view text, int firstLine = 1);

}  // namespace kerf::inline ir
