// Aligned columns: straight links where possible. After Brandes and Köpf, "Fast and simple horizontal coordinate
// assignment" (2001): four extreme placements, and the mean of the two in the middle.
#pragma once

#include <vector>

#include "ui/layout/layering.h"

namespace kerf::ui::inline layout {

/// Middles of the vertices, in the order of their layers and at least `spacing` apart. Linear.
std::vector<double> alignColumns(const LayerGraph& graph, const FlatSpacing& spacing);

/// Least distance between the middles of two neighbours of a layer.
double leastApart(const LayerGraph& graph, const FlatSpacing& spacing, int left, int right);

}  // namespace kerf::ui::inline layout
