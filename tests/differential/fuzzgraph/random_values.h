// Tensors of seeded random numbers in any dtype and layout.
#pragma once

#include "engine/tensor/tensor.h"
#include "tests/differential/fuzzgraph/dice.h"

namespace kerf::fuzzgraph {

/// How a tensor lies in its storage.
enum class Arrangement { RowMajor, Transposed, ChannelsLast, Expanded, Offset, Stepped };

struct Interval {
  double low = -2, high = 2;
};

/// A new tensor; integers come from the whole numbers of the range, bools are coins. Now and then a floating one holds
/// a corner value (infinity, zero, the smallest number) where `corners` says so.
Tensor randomTensor(Dice& dice, DType dtype, const Sizes& sizes, Interval range, Arrangement arrangement,
                    bool corners = false);

/// RowMajor mostly.
Arrangement randomArrangement(Dice& dice, std::size_t rank);

/// What decides whether later ops can do something sensible with a value.
struct Spread {
  double greatest = 0;  ///< magnitude among the finite elements
  bool allFinite = true;
};
Spread spreadOf(const Tensor& tensor);

}  // namespace kerf::fuzzgraph
