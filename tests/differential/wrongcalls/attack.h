// The attack: many fresh wrong calls of one class, as kerf_wrong_calls --attack makes them.
#pragma once

#include <span>
#include <string_view>

#include "tests/differential/wrongcalls/campaign.h"

namespace kerf::wrongcalls {

struct AttackClass {
  std::string_view name;
  std::string_view ops;  ///< parts of overloads' names, with spaces between; empty: views by numbers
};
std::span<const AttackClass> attackClasses();

/// At least `count` calls of the class: wrong ones at one size, and valid ones that are run at sizes that do not fit. BadUsage,
/// listing the classes, for a name that is none.
Result<WrongCallReport> attack(std::string_view name, std::uint64_t seed, std::int64_t count);

}  // namespace kerf::wrongcalls
