// Between which of several installed versions of PyTorch a graph begins to fail.
#pragma once

#include "app/workbench/captures/graph_source.h"
#include "app/workbench/protocol/runs.h"
#include "minifier/core/minify.h"

namespace kerf::workbench {

/// Every version runs in a process of its own, as the oracle torch does. BadUsage for fewer than two versions.
Result<Bisection> bisectByVersion(const BisectRequest& request, const GraphSource& source, const Candidate& candidate,
                                  const Job& job);

}  // namespace kerf::workbench
