// Shapes that have to agree: what shape rules ask before they refuse a call.
#pragma once

#include <algorithm>

#include "engine/symbolic/sym_sizes.h"

namespace kerf::inline ops {

/// Whether two shapes are equal. Sizes that depend on data count as equal where they are not known to differ: PyTorch
/// asserts them when the graph runs.
inline bool sameSizes(const SymSizes& a, const SymSizes& b) {
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(), [](SymInt x, SymInt y) { return guardOrTrue(x == y); });
}

}  // namespace kerf::inline ops
