// Comparing against the rounding of fused kernels, in a process of its own.
#pragma once

#include <stop_token>
#include <string>

#include "engine/capture/common/capture.h"
#include "engine/pipeline/fusion_verdict.h"
#include "engine/process/isolation.h"

namespace kerf::inline pipeline {

/// Whose fusion groups are emulated, and what is compared with that.
struct EmulatedSide {
  const Capture& capture;  ///< with the recorded groups
  std::size_t graph = 0;   ///< index in it
  std::string emulate;     ///< "inductor": the groups that the capture recorded; "kerf": those of the compiled side
  CompileOptions compile;
  CompareOptions compare;
  std::string results =
      {};  ///< a .safetensors with "out0", "out1", … to judge in place of the compiled side; empty: none
};

/// `plain` is as without an emulation, but that kernels of the compiled side keep float32. BadUsage for another name and
/// where the capture has no groups; errors of the references. A crash or an error of the compiled side is
/// `plain.failure`.
Result<FusionReport> compareEmulated(const GraphModule& module, const ValueList& inputs, const EmulatedSide& side,
                                     const IsolationLimits& limits, std::stop_token stop);

}  // namespace kerf::inline pipeline
