// IndexCheck: what must hold of a tensor of indices before a kernel reads or writes memory by it.
#pragma once

#include <string>

#include "engine/ir/graph.h"
#include "engine/tensor/tensor.h"

namespace kerf::inline lower {

/// Every element lies within a dimension of `size`: from 0, or from -size where it may be negative.
struct IndexCheck {
  NodeId node;
  std::string opName;  ///< for the error
  SymInt size;
  std::int64_t dim = 0;
  bool mayBeNegative = false;
};

}  // namespace kerf::inline lower
