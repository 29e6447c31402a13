// Timing the kernels of a compiled graph beside what the machine can do.
#pragma once

#include <stop_token>

#include "app/workbench/protocol/runs.h"
#include "engine/pipeline/compile_fx.h"

namespace kerf::workbench {

/// Runs the graph several times (up to about three seconds); where it writes into inputs, it does so each time.
Result<KernelProfile> profileKernels(CompiledGraph& graph, const ValueList& inputs, std::string_view backend,
                                     std::stop_token stop);

}  // namespace kerf::workbench
