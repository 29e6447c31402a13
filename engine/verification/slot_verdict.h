// Whether two stages agree on a value.
#pragma once

#include <string>

#include "engine/verification/stage_plan.h"

namespace kerf::inline verification {

/// Rounding is the stages' own affair while neither is this much further from fp64 than the other: a cast that one of
/// them has and the other has not is worth factors of 2^8 and more.
constexpr double roundingFactor = 32;

/// One value that both stages give.
struct SlotVerdict {
  Slot slot;  ///< "out:0", "grad:3", "mutates:1", "saved:relu"
  bool same = true;
  bool rounds = false;                     ///< differs in the recorded dtypes only
  std::string reason;                      ///< empty when same
  double relativeError = 0;                ///< in fp64: what the stages mean
  double maxAbsError = 0;                  ///< in the recorded dtypes
  double errorBefore = 0, errorAfter = 0;  ///< of either stage in the recorded dtypes against fp64, relative
  double ratio = 0;                        ///< error over what is accepted; above 1 differs
  std::int64_t elements = 0, finite = 0;   ///< finite: in both stages, so that they were compared
};

/// A value of one stage in both arithmetics; null where the stage does not give it or did not run.
struct SlotValuesOf {
  const Value *wide = nullptr, *recorded = nullptr;
};

/// `tolerance` is that of the relative error in fp64; integers and bool must be equal. Values in the recorded dtypes
/// must have equal dtypes and be about as far from fp64 as each other.
Result<SlotVerdict> judge(const Slot& slot, const SlotValuesOf& before, const SlotValuesOf& after, double tolerance);
/// Values in the recorded dtypes must be equal in their bits as well.
Result<void> judgeBits(const SlotValuesOf& before, const SlotValuesOf& after, SlotVerdict& verdict);

}  // namespace kerf::inline verification
