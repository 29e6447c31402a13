// Planted faults: the passes that put them into a graph, as ops of kerf:: that the compiled side runs like any other.
//
//     relu=accuracy         r = relu(x); y = neg(r)      →      r = relu(x); p = kerf.planted_accuracy(r); y = neg(p)
//     relu=runtime_error    r = relu(x)                  →      kerf.planted_runtime_error("r"); r = relu(x)
#pragma once

#include <span>

#include "engine/passes/fault_plan.h"
#include "engine/passes/pass.h"

namespace kerf::inline passes {

/// `passes` and what plants the faults of `plan`: those of ops at the end of post_grad, in nested graphs too; that of a
/// pass in what the pass leaves of the outermost graph. A planted compile error ends the compilation in the lowering
/// stage (of a pass: in the pass) with CompileFailed.
std::vector<Pass> withFaults(std::vector<Pass> passes, const FaultPlan& plan);

/// A pass of the lowering stage that leaves what it gets with the fault in its result, as a pass that `fault` is of.
Pass breakingPass(const Fault& fault);

/// BadUsage naming a fault that would hit nothing: no call of `module`, as `passes` left it, or none of `passes`.
Result<void> checkFaults(const FaultPlan& plan, const GraphModule& module, std::span<const Pass> passes);

}  // namespace kerf::inline passes
