// bisectInTorch(): which backend, pass or option of the user's PyTorch makes a graph fail.
#pragma once

#include "app/workbench/captures/graph_source.h"
#include "app/workbench/protocol/runs.h"
#include "minifier/core/minify.h"
#include "minifier/oracle/warm_torch.h"

namespace kerf::workbench {

/// `request.by` is Pass or Subsystem (CompilerBisector) or Config. BadUsage for another, and for Config where the
/// capture sets no options and none is given. Errors: TorchOracle::start's.
Result<Bisection> bisectInTorch(const BisectRequest& request, const GraphSource& source, const Candidate& candidate,
                                const Job& job, WarmTorch& torch);

}  // namespace kerf::workbench
