#include "engine/verification/slot_verdict.h"

#include <algorithm>
#include <cmath>

#include "engine/accuracy/bit_distance.h"

#include "engine/verification/value_difference.h"

namespace kerf::inline verification {
namespace {

double epsilonOf(DType dtype) {
  struct Precision {
    DType dtype;
    double epsilon;
  };
  constexpr Precision precisions[] = {{DType::Float64, 0x1p-52},    {DType::Float32, 0x1p-23},
                                      {DType::Float16, 0x1p-10},    {DType::BFloat16, 0x1p-7},
                                      {DType::Complex128, 0x1p-52}, {DType::Complex64, 0x1p-23}};
  const auto found = std::ranges::find(precisions, dtype, &Precision::dtype);
  return found == std::end(precisions) ? 0.25 : found->epsilon;
}

bool isExact(const Value& value) {
  return value.isTensor() && !isFloating(value.tensor().dtype()) && !isComplex(value.tensor().dtype());
}

}  // namespace

Result<SlotVerdict> judge(const Slot& slot, const SlotValuesOf& before, const SlotValuesOf& after, double tolerance) {
  SlotVerdict verdict{.slot = slot};
  KERF_TRY(const auto meaning, differenceOf(*before.wide, *after.wide));
  verdict.relativeError = meaning.relativeError;
  verdict.finite = meaning.finite;
  verdict.elements = meaning.elements;
  verdict.reason = meaning.reason;
  verdict.ratio =
      meaning.comparable() ? meaning.relativeError / (isExact(*before.wide) ? 1e-300 : tolerance) : HUGE_VAL;
  if (verdict.reason.empty() && verdict.ratio > 1)
    verdict.reason = fmt::format("relative error {:.2g} in fp64", meaning.relativeError);
  if (before.recorded != nullptr && after.recorded != nullptr && verdict.reason.empty()) {
    KERF_TRY(const auto rounded, differenceOf(*before.recorded, *after.recorded));
    KERF_TRY(const auto first, differenceOf(*before.wide, *before.recorded));
    KERF_TRY(const auto second, differenceOf(*after.wide, *after.recorded));
    if (!rounded.reason.empty() && first.reason.empty() != second.reason.empty()) {
      verdict.rounds = true;
      verdict.ratio = HUGE_VAL;
      verdict.reason = "in the recorded dtypes " + rounded.reason;
    }
    verdict.maxAbsError = rounded.maxAbsError;
    verdict.errorBefore = first.relativeError;
    verdict.errorAfter = second.relativeError;
    const bool tensors = before.recorded->isTensor() && after.recorded->isTensor();
    if (tensors && before.recorded->tensor().dtype() != after.recorded->tensor().dtype()) {
      verdict.rounds = true;
      verdict.reason = fmt::format("dtype {} and {}", dtypeInfo(before.recorded->tensor().dtype()).shortCode,
                                   dtypeInfo(after.recorded->tensor().dtype()).shortCode);
    } else if (tensors && !isExact(*before.wide)) {
      const double floor = 8 * epsilonOf(before.recorded->tensor().dtype());
      const double low = std::max(std::min(first.relativeError, second.relativeError), floor);
      const double rounding = std::max(first.relativeError, second.relativeError) / (roundingFactor * low);
      verdict.ratio = std::max(verdict.ratio, rounding);
      if (rounding > 1 && verdict.reason.empty())
        verdict.reason = fmt::format(
            "equal in fp64, but {:.2g} from it in the recorded dtypes where the other stage is {:.2g}",
            std::max(first.relativeError, second.relativeError), std::min(first.relativeError, second.relativeError));
      verdict.rounds = verdict.rounds || rounding > 1;
    }
  }
  verdict.same = verdict.reason.empty();
  return verdict;
}

Result<void> judgeBits(const SlotValuesOf& before, const SlotValuesOf& after, SlotVerdict& verdict) {
  if (!verdict.same || before.recorded == nullptr || after.recorded == nullptr) return {};
  if (!before.recorded->isTensor() || !after.recorded->isTensor()) return {};
  KERF_TRY(const BitDistance distance, bitDistance(before.recorded->tensor(), after.recorded->tensor()));
  if (distance.same()) return {};
  verdict.same = false;
  verdict.rounds = true;
  verdict.ratio = HUGE_VAL;
  verdict.maxAbsError = distance.maxAbsError;
  verdict.reason = bitDistanceText(distance);
  return {};
}

}  // namespace kerf::inline verification
