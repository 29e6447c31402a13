// Cancellation: a sum that is small beside what is summed is mostly rounding. The gradient of a bias before a softmax is
// zero, and what a run gives for it is noise.
#pragma once

#include <unordered_map>
#include <vector>

#include "engine/align/run_recording.h"

namespace kerf::inline align {

/// How far rounding may move the sum of magnitudes of a result.
struct RoundingNoise {
  double own = 0;      ///< by rounding in the step itself
  double ofInput = 0;  ///< for each unit of relative difference of its inputs' sums

  double allowed(double inputsApart) const { return own + ofInput * inputsApart; }
};

/// Of a step that adds (sum, mean, the means of a layer norm, add, sub, products of matrices), where its result is at least eight times smaller than
/// sums of random signs are; zeros for others, and where sums of magnitudes are not recorded. Let n values of relative
/// error e be summed to m results: the sum of the values' magnitudes, S, is then off by e S / sqrt(n), and the results'
/// by up to e S sqrt(m / n).
RoundingNoise roundingNoise(const RunStep& step, const StepValue& result);

/// By result, of those that have any.
using NoiseTable = std::unordered_map<const StepValue*, RoundingNoise>;
NoiseTable noiseTable(const std::vector<RunStep>& steps);

}  // namespace kerf::inline align
