// reducedLanes(): what Triton's reductions and their helpers give.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "engine/audit/meaning/kernel_machine.h"

namespace kerf::inline audit {

/// Of "sum", "max_with_index", "welford", …; none if `name` is no reduction. `extent`: lanes of a block of the reduced axis.
std::optional<Lanes> reducedLanes(std::string_view name, const std::vector<Lanes>& given, std::size_t extent);

/// Sum, product, … of all lanes.
Lanes foldLanes(const Lanes& value, LaneType type, double (*step)(double, double));
/// Largest or smallest element and its index: of equal ones the one with the smallest index; NaN before all others.
Lanes bestLanes(const Lanes& value, const Lanes& index, bool isLargest);
/// The same of two values, lane by lane.
Lanes betterLanes(const Lanes& value, const Lanes& index, const Lanes& otherValue, const Lanes& otherIndex,
                  bool isLargest);
/// Mean, sum of squared deviations and weight of two groups, lane by lane.
Lanes joinWelford(const std::vector<Lanes>& a, const std::vector<Lanes>& b);
/// Of all lanes.
Lanes foldWelford(const std::vector<Lanes>& groups);

}  // namespace kerf::inline audit
