// Tells apart what fusion's rounding explains and what it does not: the compiled side against eager rounding, and
// against the same graph with the rounding of fused kernels.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "engine/accuracy/same_two_models.h"
#include "engine/capture/common/details.h"
#include "engine/pipeline/compile_fx.h"

namespace kerf::inline pipeline {

enum class FusionVerdict : unsigned char {
  Same,         ///< as eager
  Expected,     ///< another value than eager's, and the one that fused kernels give
  NotExplained  ///< neither
};
/// "same", "expected from fusion", "not explained".
std::string_view fusionVerdictName(FusionVerdict verdict);

struct FusionReport {
  ComparisonReport plain;     ///< reference: the graph, rounded after every op
  ComparisonReport emulated;  ///< reference: emulateFusion's graph; its `failure` is that of `plain`
  std::int64_t kernels = 0, fused = 0, unrounded = 0, missing = 0;  ///< of EmulatedGraph

  KERF_FIELDS(plain, emulated, kernels, fused, unrounded, missing)
};

struct FusionCompareOptions {
  CompileOptions compile;  ///< of the compiled side, whose rounding follows the groups
  CompareOptions compare;
  std::optional<Value> results;  ///< what to judge in place of running the compiled side
};

/// Runs and compares as sameTwoModels does, against both references. Without groups those of Kerf's own kernels count.
/// BadInput where no group names a node of the graph; errors of the references.
Result<FusionReport> compareFused(const GraphModule& module, std::span<const RecordedFusionGroup> groups,
                                  const ValueList& inputs, const FusionCompareOptions& options,
                                  std::stop_token stop = {});

/// The row of one result in both reports; `emulated` may be null. A difference is expected where the result is the same
/// as the emulation's by same(), or where the emulation takes away at least half of the largest difference: reductions
/// in another order then still turn single roundings over.
FusionVerdict fusionVerdict(const OutputVerdict& plain, const OutputVerdict* emulated);
/// The row of that name; null if there is none.
const OutputVerdict* rowNamed(const ComparisonReport& report, std::string_view name);

}  // namespace kerf::inline pipeline
