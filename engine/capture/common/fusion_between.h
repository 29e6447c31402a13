// Fusion groups of kernels of which no comment tells anything, as C++ ones without a provenance map.
#pragma once

#include "engine/capture/common/details.h"
#include "engine/capture/common/fusion_pattern.h"
#include "engine/capture/common/wrapper_code.h"

namespace kerf::inline capture {

/// What is known of a program's values after its other calls have been placed.
struct KnownValues {
  std::unordered_map<std::string, NodeId> held;  ///< by buffer or input
  std::unordered_set<NodeId> externs;            ///< nodes that calls of existing functions compute
};

/// Fills groups of generated kernels that have no nodes yet: what the program returns and what calls of known functions
/// take names their results, and they compute what lies between those and the values that they are given.
void placeBetween(const WrapperCode& code, const SearchedGraph& graph, KnownValues known,
                  std::vector<RecordedFusionGroup>& groups);

}  // namespace kerf::inline capture
