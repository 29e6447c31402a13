// makeOracle(): who decides whether a graph still fails: Kerf's engine, a command, or the user's PyTorch.
#pragma once

#include <memory>

#include "app/workbench/graph_source.h"
#include "minifier/core/minify.h"

namespace kerf::workbench {

/// BadUsage when settings do not fit the oracle. `like` gives header and input names to the files an oracle writes.
Result<std::unique_ptr<Oracle>> makeOracle(const OracleSettings& settings, const GraphSource& like);

}  // namespace kerf::workbench
