// Values for the symbolic sizes of a graph, as users write them.
#pragma once

#include <string>
#include <vector>

#include "engine/capture/common/capture.h"
#include "engine/symbolic/symbolic.h"
#include "engine/support/result.h"

namespace kerf::workbench {

/// {"s0=8", "s1=3"} → values. BadUsage for another form, a name given twice, or a negative value.
Result<SymbolBindings> parseSymbols(const std::vector<std::string>& texts);
/// BadUsage naming a symbol that the graph does not have, and listing those it has.
Result<void> checkSymbols(const CapturedGraph& graph, const SymbolBindings& symbols);

}  // namespace kerf::workbench
