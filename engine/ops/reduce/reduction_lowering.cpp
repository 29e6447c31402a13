// Reductions. Float sums accumulate in float64 and round once, which is at least as exact as eager's cascade sum.
#include <limits>

#include "engine/ops/core/lowering_calls.h"
#include "engine/ops/core/op_registration.h"

namespace kerf::inline ops {
namespace {

using Call = const ReductionCall&;
using enum ExprOp;
using enum OperandTypes;

/// The type in which sums and products accumulate.
DType accumulator(Call c) { return isFloating(c.dtype) ? DType::Float64 : c.dtype; }

/// The element as eager sees it after `dtype=`: rounded to the result's type first.
int sumElement(Call c) { return c.b.convert(c.b.convert(c.element, c.dtype), accumulator(c)); }

template <ExprOp Op>
int accumulate(Call c) {
  return c.reduce(Op, sumElement(c));
}
int mean(Call c) { return c.b.binary(Div, accumulate<ReduceSum>(c), c.elements()); }

template <ExprOp Op>
int extremum(Call c) {
  return c.reduce(Op, c.b.convert(c.element, computeType(c.b.dtype(c.element))));
}
template <ExprOp Op>
int truth(Call c) {
  return c.reduce(Op, c.b.convert(c.element, DType::Bool));
}

int meanOf(Call c, int wide) { return c.b.binary(Div, c.reduce(ReduceSum, wide), c.elements()); }
/// The count less `correction`.
int atLeastZero(Call c, double correction) {
  const auto wide = [&](double number) { return c.b.constant(number, DType::Float64); };
  if (!c.count.isSymbolic()) return wide(std::max(0.0, double(c.count.bits()) - correction));
  return c.b.binary(Maximum, c.b.binary(Sub, c.elements(), wide(correction)), wide(0));
}
/// Two passes: the mean, then the squared distances from it.
int variance(Call c) {
  const int wide = c.b.convert(c.element, DType::Float64);
  const int distance = c.b.binary(Sub, wide, meanOf(c, wide));
  const int squares = c.reduce(ReduceSum, c.b.binary(Mul, distance, distance));
  const std::size_t position = c.bound.position("correction");
  const double correction = c.bound.none(position) ? 1 : c.bound.number(position);
  return c.b.binary(Div, squares, atLeastZero(c, correction));
}
int standardDeviation(Call c) { return c.b.unary(Sqrt, variance(c)); }
template <int (*Spread)(Call)>
int spreadAndMean(Call c) {
  return c.item == 0 ? Spread(c) : meanOf(c, c.b.convert(c.element, DType::Float64));
}

/// prepare_softmax_online: the maximum, and the sum of exp(x - maximum).
int onlineSoftmax(Call c) {
  const int element = c.b.convert(c.element, computeType(c.b.dtype(c.element)));
  const int maximum = c.reduce(ReduceMax, element);
  if (c.item == 0) return maximum;
  const bool isWide = isFloating(c.b.dtype(element));  // a difference of integers may not fit
  const auto widened = [&](int value) { return isWide ? value : c.b.convert(value, DType::Float64); };
  const int term = c.b.unary(Exp, c.b.binary(Sub, widened(element), widened(maximum)));
  return c.reduce(ReduceSum, c.b.convert(term, DType::Float64));
}

/// The first place of the extremum; of the first NaN where there is one, which the extremum then is.
template <ExprOp Op>
int position(Call c) {
  const int element = c.b.convert(c.element, computeType(c.b.dtype(c.element)));
  const int extremum = c.reduce(Op, element);
  int isThere = c.b.binary(Eq, element, extremum);
  if (isFloating(c.b.dtype(element)))
    isThere = c.b.select(c.b.unary(IsNan, extremum), c.b.unary(IsNan, element), isThere);
  const int nowhere = c.b.integer(std::numeric_limits<std::int64_t>::max(), DType::Int64);
  return c.reduce(ReduceMin, c.b.select(isThere, c.b.index(c.index), nowhere));
}
template <ExprOp Op>
int extremumAndPosition(Call c) {
  return c.item == 0 ? extremum<Op>(c) : position<Op>(c);
}
int bothExtrema(Call c) { return c.item == 0 ? extremum<ReduceMin>(c) : extremum<ReduceMax>(c); }
int sumOfNumbers(Call c) {
  const int element = sumElement(c);
  if (!isFloating(c.b.dtype(element))) return c.reduce(ReduceSum, element);
  const int zero = c.b.constant(0, c.b.dtype(element));
  return c.reduce(ReduceSum, c.b.select(c.b.unary(IsNan, element), zero, element));
}

/// Positions along one dimension of several. Over everything a second reduction would wait for the first, which threads
/// do not divide.
bool alongOneOfSeveral(const BoundArguments& args) { return !args.none(1) && args.tensor(0).dim() > 1; }

constexpr OpFacts reductionLoweringsRows[] = {
    reductionLowering("prims::prepare_softmax_online", Numbers, onlineSoftmax, 2, true),
    reductionLowering("aten::sum", Any, accumulate<ReduceSum>, 1),
    reductionLowering("aten::prod", Any, accumulate<ReduceProd>, 1),
    reductionLowering("aten::mean", Any, mean, 1),
    reductionLowering("aten::amax", Numbers, extremum<ReduceMax>, 1),
    reductionLowering("aten::amin", Numbers, extremum<ReduceMin>, 1),
    reductionLowering("aten::aminmax", Numbers, bothExtrema, 2),
    loweringWhere(alongOneOfSeveral, reductionLowering("aten::max.dim", Numbers, extremumAndPosition<ReduceMax>, 2)),
    loweringWhere(alongOneOfSeveral, reductionLowering("aten::min.dim", Numbers, extremumAndPosition<ReduceMin>, 2)),
    loweringWhere(alongOneOfSeveral, reductionLowering("aten::argmax", Numbers, position<ReduceMax>, 1)),
    loweringWhere(alongOneOfSeveral, reductionLowering("aten::argmin", Numbers, position<ReduceMin>, 1)),
    reductionLowering("aten::nansum", Numbers, sumOfNumbers, 1),
    reductionLowering("aten::any", Any, truth<ReduceAny>, 1),
    reductionLowering("aten::all", Any, truth<ReduceAll>, 1),
    reductionLowering("aten::var.correction", Any, variance, 1),
    reductionLowering("aten::std.correction", Any, standardDeviation, 1),
    reductionLowering("aten::var_mean.correction", Any, spreadAndMean<variance>, 2),
    reductionLowering("aten::std_mean.correction", Any, spreadAndMean<standardDeviation>, 2),
};

const OpRegistration reductionLowerings({.facts = reductionLoweringsRows});

}  // namespace

}  // namespace kerf::inline ops
