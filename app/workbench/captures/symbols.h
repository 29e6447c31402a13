// Values for the symbolic sizes of a graph, as users write them.
#pragma once

#include <string>
#include <vector>

#include "engine/capture/common/capture.h"
#include "engine/support/result.h"
#include "engine/symbolic/symbolic.h"

namespace kerf::workbench {

/// {"s0=8", "s1=3"} → values. BadUsage for another form, a name given twice, or a negative value.
Result<SymbolBindings> parseSymbols(const std::vector<std::string>& texts);
/// BadUsage naming a symbol that the graph does not have, and listing those it has.
Result<void> checkSymbols(const CapturedGraph& graph, const SymbolBindings& symbols);

/// Values of the graph's symbols: the given ones, else those that were recorded.
std::vector<std::pair<std::string, std::int64_t>> symbolValues(const CapturedGraph& graph, const SymbolBindings& given);

}  // namespace kerf::workbench
