// reducedLanes(): what Triton's reductions and their helpers give.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "engine/audit/meaning/kernel_machine.h"

namespace kerf::inline audit {

/// Of "sum", "max_with_index", "welford", …; none if `name` is no reduction. `extent`: lanes of a block of the reduced axis.
std::optional<KernelLanes> reducedLanes(std::string_view name, const std::vector<KernelLanes>& given,
                                        std::size_t extent);

/// Sum, product, … of all lanes.
KernelLanes foldLanes(const KernelLanes& value, LaneType type, double (*step)(double, double));
/// Largest or smallest element and its index: of equal ones the one with the smallest index; NaN before all others.
KernelLanes bestLanes(const KernelLanes& value, const KernelLanes& index, bool isLargest);
/// The same of two values, lane by lane.
KernelLanes betterLanes(const KernelLanes& value, const KernelLanes& index, const KernelLanes& otherValue,
                        const KernelLanes& otherIndex, bool isLargest);
/// Mean, sum of squared deviations and weight of two groups, lane by lane.
KernelLanes joinWelford(const std::vector<KernelLanes>& a, const std::vector<KernelLanes>& b);
/// Of all lanes.
KernelLanes foldWelford(const std::vector<KernelLanes>& groups);

}  // namespace kerf::inline audit
