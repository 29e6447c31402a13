// A matrix that is read transposed: t(w), permute(w, [1, 0]).
#pragma once

#include <optional>

#include "engine/ir/graph.h"

namespace kerf::inline passes {

/// What a transposition of a matrix turns; none for other calls.
std::optional<NodeId> turnedMatrix(const Node& node);

}  // namespace kerf::inline passes
