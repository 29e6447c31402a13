// Reductions. Float sums accumulate in float64 and round once, which is at least as exact as eager's cascade sum.
#include "engine/lower/lowerings.h"

namespace kerf::inline lower {
namespace {

using Call = const ReductionCall&;
using enum ExprOp;

/// The type in which sums and products accumulate.
DType accumulator(Call c) { return isFloating(c.info.dtype) ? DType::Float64 : c.info.dtype; }

/// The element as eager sees it after `dtype=`: rounded to the result's type first.
int sumElement(Call c) { return c.b.convert(c.b.convert(c.element, c.info.dtype), accumulator(c)); }

template <ExprOp Op>
int accumulate(Call c) {
  return c.reduce(Op, sumElement(c));
}
int mean(Call c) { return c.b.binary(Div, accumulate<ReduceSum>(c), c.b.constant(c.count, DType::Float64)); }

template <ExprOp Op>
int extremum(Call c) {
  return c.reduce(Op, c.b.convert(c.element, computeType(c.b.dtype(c.element))));
}
template <ExprOp Op>
int truth(Call c) {
  return c.reduce(Op, c.b.convert(c.element, DType::Bool));
}

int meanOf(Call c, int wide) {
  return c.b.binary(Div, c.reduce(ReduceSum, wide), c.b.constant(c.count, DType::Float64));
}
/// Two passes: the mean, then the squared distances from it.
int variance(Call c) {
  const int wide = c.b.convert(c.element, DType::Float64);
  const int distance = c.b.binary(Sub, wide, meanOf(c, wide));
  const int squares = c.reduce(ReduceSum, c.b.binary(Mul, distance, distance));
  const std::size_t position = c.info.bound.position("correction");
  const double correction = c.info.bound.none(position) ? 1 : c.info.bound.number(position);
  return c.b.binary(Div, squares, c.b.constant(std::max(0.0, c.count - correction), DType::Float64));
}
int standardDeviation(Call c) { return c.b.unary(Sqrt, variance(c)); }
template <int (*Spread)(Call)>
int spreadAndMean(Call c) {
  return c.info.item == 0 ? Spread(c) : meanOf(c, c.b.convert(c.element, DType::Float64));
}

constexpr ReductionLowering rows[] = {
    {"aten::sum", accumulate<ReduceSum>, 1},
    {"aten::prod", accumulate<ReduceProd>, 1},
    {"aten::mean", mean, 1},
    {"aten::amax", extremum<ReduceMax>, 1},
    {"aten::amin", extremum<ReduceMin>, 1},
    {"aten::any", truth<ReduceAny>, 1},
    {"aten::all", truth<ReduceAll>, 1},
    {"aten::var", variance, 1},
    {"aten::std", standardDeviation, 1},
    {"aten::var_mean", spreadAndMean<variance>, 2},
    {"aten::std_mean", spreadAndMean<standardDeviation>, 2},
};

}  // namespace

std::span<const ReductionLowering> reductionLowerings() { return rows; }

}  // namespace kerf::inline lower
