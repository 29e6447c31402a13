// ValuePrint: a few numbers that stand for a tensor, small enough to keep one for every node of a graph: two prints
// tell how far apart their tensors are.
#pragma once

#include <array>
#include <cstdint>

#include "engine/support/result.h"
#include "engine/tensor/value.h"

namespace kerf::inline verification {

struct ValuePrint {
  DType dtype = DType::Float32;
  std::int64_t numel = -1;  ///< of a tensor; -1: the value is none
  std::int64_t nans = 0, infs = 0;
  std::uint64_t specials = 0;          ///< where the NaNs and infinities are
  double norm = 0;                     ///< root of the sum of squares of the finite elements
  double sum = 0;                      ///< whatever their order
  std::array<double, 4> signedSums{};  ///< of the elements in logical order, each with a fixed random sign

  bool known() const { return numel >= 0; }
};

/// Complex elements count as two numbers, bool and integers as floats.
Result<ValuePrint> printOf(const Value& value);

/// Estimate of |a - b| / max(|a|, |b|): the difference of random signed sums has the difference's norm as its expected
/// size. Exactly 0 for equal tensors; infinity where sizes differ or NaNs and infinities stand elsewhere.
double distance(const ValuePrint& a, const ValuePrint& b);
/// Whether `a` could be `b` with its elements in another order, to `tolerance`.
bool mayBeReordered(const ValuePrint& a, const ValuePrint& b, double tolerance);

}  // namespace kerf::inline verification
