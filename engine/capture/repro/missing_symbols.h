// Symbols that load_args mentions and nothing defines: PyTorch writes `reader.symint(64)` without the symbol's name.
#pragma once

#include <string>
#include <vector>

#include "engine/capture/common/call_syntax.h"
#include "engine/capture/repro/sections.h"

namespace kerf::inline capture {

struct MissingSymbol {
  std::string name;
  std::int64_t value = 0;
  bool isGuess = false;  ///< no reader.symint was left for it
};

/// The names ("s0", "u3") in these lines that `symbols` lacks, each with a value, in the order in which they are first
/// mentioned; those that only sizes of storages mention come last. AOTAutograd passes a symbol before or with the first tensor that has it: the values of reader.symint are
/// given to the names in order. 8 where none is left.
std::vector<MissingSymbol> missingSymbols(const SourceText& source, LineRange lines, const Symbols& symbols);

}  // namespace kerf::inline capture
