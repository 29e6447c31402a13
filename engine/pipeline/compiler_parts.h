// Parts of the compiler that are no passes: their names, which of them a compilation uses, and faults planted in them.
//
//     pass:memory_plan=accuracy      →      results are wrong wherever intermediate results share memory
#pragma once

#include <vector>

#include "engine/passes/pass.h"
#include "engine/pipeline/compile_fx.h"

namespace kerf::inline pipeline {

/// Passes behind all others that break the result, for each fault of `options` in a part that is used: "codegen",
/// "fusion", "memory_plan" or "optimisation".
std::vector<Pass> brokenParts(const CompileOptions& options);

/// The faults of `options` that are not of such a part. BadUsage where one is of a part that is not used.
Result<FaultPlan> checkPartFaults(const CompileOptions& options);

}  // namespace kerf::inline pipeline
