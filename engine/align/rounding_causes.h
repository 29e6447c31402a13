// Why two implementations of an op may give other bits for the same inputs.
#pragma once

#include <string_view>

#include "engine/align/run_recording.h"

namespace kerf::inline align {

/// What an op's results may differ by though nothing is wrong.
struct RoundingCause {
  std::string_view text;  ///< "another order of sums"; empty: its result is exact
  double relative = 0;    ///< how far figures of float32 results may be apart by it; 0: as rounding is
  bool random = false;    ///< it draws numbers
  bool products = false;  ///< it multiplies matrices, or convolves
};

/// Of the step, or of what a kernel says it computes.
RoundingCause roundingCause(const RunStep& step);

/// Whether a result's sum of magnitudes says little of its values, as that of a softmax, or of an average with its weights.
bool hidesItsValues(const RunStep& step);

/// Whether results behind its first may hold what nobody wrote: an attention's numbers for its gradient, with their
/// padding; a batch norm's reserve.
bool mayLeaveUnwritten(const RunStep& step);

/// Whether the op is an attention, which gives numbers that only its gradient needs; its gradient is none.
bool isAttention(std::string_view op);

/// Whether it gives what it takes, seen or laid out in another way: "detach", "view", "clone".
bool passesThrough(const RunStep& step);

}  // namespace kerf::inline align
