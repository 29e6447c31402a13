// Sensitivity: how far the result of a step may be apart because what it took is. It follows from the inputs' differences,
// each by its own share: what is small beside the result moves it little, however noisy it is.
#pragma once

#include <vector>

#include "engine/align/run_recording.h"

namespace kerf::inline align {

/// An input of both runs: what each recorded of it, and how far they are apart, relative.
struct InputGap {
  const StepValue *a = nullptr, *b = nullptr;
  double relative = 0;
};
using InputGaps = std::vector<InputGap>;

/// A relative difference of figures over a tensor of this dtype beyond which it is noise: only sums that cancel are so far
/// apart. Numbers of 16 bits and others are from a tenth on.
double noiseFrom(std::string_view dtype);

/// The difference of the result's sums, relative to the result, that the inputs' make where none is amplified. An addition
/// has its operands' differences, weighed by their magnitudes; products have the sum of them; of other steps, and of
/// magnitudes that are not recorded, the largest counts.
double expectedApart(const RunStep& step, const StepValue& result, const InputGaps& inputs);

/// The same relative to what the step sums, for sums that cancel: an addition's operands weighed by their magnitudes, a
/// product's two matrices.
double apartOfSummed(const RunStep& step, const StepValue& result, const InputGaps& inputs);

/// Whether the step hands on the values that it takes, or each times one number: its result is exactly as far apart as
/// its input is.
bool handsOnDistance(const RunStep& step);

/// Whether the results' magnitudes are apart as noise in the inputs makes them; inputs that are no noise do not count. What
/// is added moves a result by no more than its own magnitude. Of a step that is linear in each, b / a is that of the
/// inputs, within a factor of two; of others it is at most the square of theirs, within the same.
bool followsNoise(const RunStep& step, const StepValue& a, const StepValue& b, const InputGaps& inputs);

}  // namespace kerf::inline align
