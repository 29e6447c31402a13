// What a placeholder is for, read off its users: an index into something, a weight, a variance. Private to
// engine/capture.
#pragma once

#include <optional>

#include "engine/ir/graph_module.h"

namespace kerf::inline capture {

struct InputPurpose {
  enum class Kind {
    Plain,      ///< nothing special
    Index,      ///< integers in [0, bound)
    Unbounded,  ///< integers that reach an indexing op in an unknown way: only zero is safe
    Positive,   ///< floats that must be positive (variances, what goes into a root or logarithm)
    Weight,     ///< floats that multiply in a matmul or convolution: scaled by `fanIn`
  };
  Kind kind = Kind::Plain;
  std::int64_t bound = 0;
  std::int64_t fanIn = 1;
};

/// Follows the placeholder through views and conversions to the ops that decide. Sizes come from annotations; a bound
/// whose size is unknown is Unbounded.
InputPurpose purposeOf(const GraphModule& module, NodeId placeholder);

}  // namespace kerf::inline capture
