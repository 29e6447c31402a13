#include "engine/verification/pair_values.h"

#include <algorithm>
#include <cmath>

namespace kerf::inline verification {
namespace {

const Value* find(const SlotValues& values, const Slot& slot) {
  const auto found = values.find(slot);
  return found == values.end() ? nullptr : &found->second;
}

SlotValuesOf valuesOf(const StageOutcome& outcome, const Slot& slot) {
  return {find(outcome.wide().values, slot), find(outcome.recorded().values, slot)};
}

bool isMutation(const Slot& slot) { return slot.starts_with("mutates:"); }

/// Inputs that only one side writes into.
void addOneSided(const StageOutcome& before, const StageOutcome& after, PairVerdict& verdict) {
  for (const auto& [slot, value] : after.wide().values)
    if (isMutation(slot) && find(before.wide().values, slot) == nullptr)
      verdict.values.push_back(
          {.slot = slot, .same = false, .reason = "only the later stage changes this input", .ratio = HUGE_VAL});
  for (const Slot& slot : verdict.missing)
    if (isMutation(slot))
      verdict.values.push_back(
          {.slot = slot, .same = false, .reason = "only the earlier stage changes this input", .ratio = HUGE_VAL});
  std::erase_if(verdict.missing, isMutation);
}

void conclude(PairVerdict& verdict) {
  const auto bad = std::ranges::find(verdict.values, false, &SlotVerdict::same);
  const auto says = [](const SlotVerdict& row) { return row.finite > 0 || row.elements == 0; };
  if (bad != verdict.values.end()) {
    verdict.kind = PairVerdict::Kind::Different;
    verdict.why = fmt::format("{}: {}", bad->slot, bad->reason);
  } else if (verdict.values.empty()) {
    verdict.kind = PairVerdict::Kind::NotCompared;
    verdict.why = "the stages have no value in common";
  } else if (std::ranges::none_of(verdict.values, says)) {
    verdict.kind = PairVerdict::Kind::NotCompared;
    verdict.why = "no finite element was compared";
  }
}

}  // namespace

Result<void> compareOutcomes(const StageOutcome& before, const std::vector<StageOutcomePtr>& after, double tolerance,
                             bool exact, PairVerdict& verdict) {
  for (const auto& [slot, value] : before.wide().values) {
    SlotValuesOf other;
    for (const auto& outcome : after)
      if (other.wide == nullptr) other = valuesOf(*outcome, slot);
    if (other.wide == nullptr) {
      if (!before.lent.contains(slot)) verdict.missing.push_back(slot);
      continue;
    }
    KERF_TRY(verdict.values.emplace_back(), judge(slot, valuesOf(before, slot), other, tolerance));
    if (exact) KERF_CHECK(judgeBits(valuesOf(before, slot), other, verdict.values.back()));
  }
  for (const auto& outcome : after) addOneSided(before, *outcome, verdict);
  std::ranges::stable_sort(verdict.values, [](const SlotVerdict& a, const SlotVerdict& b) {
    return std::tuple(a.same, -a.ratio) < std::tuple(b.same, -b.ratio);
  });
  conclude(verdict);
  return {};
}

}  // namespace kerf::inline verification
