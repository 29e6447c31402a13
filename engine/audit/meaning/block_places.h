// blockPlaces(): the elements that a block pointer stands for.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "engine/audit/meaning/lanes.h"

namespace kerf::inline audit {

struct BlockShape {
  std::vector<double> sizes, strides, block, offsets;
};

/// Places and which of them lie inside the sizes, row after row.
std::optional<std::pair<KernelLanes, KernelLanes>> blockPlaces(const KernelLanes& base, const BlockShape& shape);

}  // namespace kerf::inline audit
