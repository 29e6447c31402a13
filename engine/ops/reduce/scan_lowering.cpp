// Running sums, products and extrema as loops that carry a value along one dimension. Accumulated in float64 and int64,
// as the ops' own kernels do, element after element.
//
//   before: cumsum = aten.cumsum(x: f32[4, 8], 1)
//   after:  for i0 < 4: s = -0.0; for i1 < 8: s = s + load x[8*i0 + i1]; store cumsum[8*i0 + i1] = s
#include <limits>

#include "engine/ops/core/lowering_calls.h"
#include "engine/ops/core/op_registration.h"

namespace kerf::inline ops {
namespace {

using Scan = const ReductionCall&;
using enum ExprOp;

DType wideOf(DType dtype) { return isFloating(dtype) ? DType::Float64 : DType::Int64; }

/// A constant of the type in which scans accumulate.
int wideNumber(Scan c, DType wide, double real, std::int64_t whole) {
  return wide == DType::Float64 ? c.b.constant(real, wide) : c.b.integer(whole, wide);
}

/// `combined(before, element)` for each element; `first` is before the first one.
template <class Combine>
int scanned(Scan c, int first, Combine&& combined) {
  const int before = c.reduces ? c.b.carry(first) : first;
  const int next = combined(before);
  if (c.reduces) c.b.setNext(before, next);
  return next;
}

/// Elements are rounded to the result's type first, as `dtype=` asks for.
template <ExprOp Op>
int accumulated(Scan c) {
  const DType wide = wideOf(c.dtype);
  const int element = c.b.convert(c.b.convert(c.element, c.dtype), wide);
  const int first = Op == Mul ? wideNumber(c, wide, 1, 1) : wideNumber(c, wide, -0.0, 0);  // -0.0 + x is x
  return scanned(c, first, [&](int before) { return c.b.binary(Op, before, element); });
}

/// log(exp(a) + exp(b)), and the larger one where that is not finite.
int logAddExp(ExprBuilder& b, int x, int y) {
  const int larger = b.binary(Maximum, x, y), smaller = b.binary(Minimum, x, y);
  const int sum = b.binary(Add, larger, b.unary(Log1p, b.unary(Exp, b.binary(Sub, smaller, larger))));
  const int infinity = b.constant(std::numeric_limits<double>::infinity(), DType::Float64);
  return b.select(b.binary(Lt, b.unary(Abs, larger), infinity), sum, larger);  // not where it is NaN either
}

int logAccumulated(Scan c) {
  const int element = c.b.convert(c.element, DType::Float64);
  const int first = c.b.constant(-std::numeric_limits<double>::infinity(), DType::Float64);
  return scanned(c, first, [&](int before) { return logAddExp(c.b, before, element); });
}

/// The latest of equal extrema counts; a NaN stays once seen, the latest of them.
template <ExprOp Compare>
int runningExtremum(Scan c) {
  constexpr bool largest = Compare == Ge;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  using Whole = std::numeric_limits<std::int64_t>;
  const bool isUnsigned = c.b.dtype(c.element) == DType::UInt64;
  const DType wide = isUnsigned ? DType::UInt64 : wideOf(c.b.dtype(c.element));
  const int element = c.b.convert(c.element, wide);
  const std::int64_t lowest = isUnsigned ? 0 : Whole::min(), highest = isUnsigned ? -1 : Whole::max();  // -1: all bits
  const int first = wideNumber(c, wide, largest ? -infinity : infinity, largest ? lowest : highest);
  int isBetter = -1;
  const int value = scanned(c, first, [&](int before) {
    isBetter = c.b.binary(Compare, element, before);
    if (wide == DType::Float64) {
      isBetter = c.b.binary(And, isBetter, c.b.unary(Not, c.b.unary(IsNan, before)));
      isBetter = c.b.binary(Or, isBetter, c.b.unary(IsNan, element));
    }
    return c.b.select(isBetter, element, before);
  });
  if (c.item == 0) return value;
  return scanned(c, c.b.integer(0, DType::Int64),
                 [&](int before) { return c.b.select(isBetter, c.b.index(c.index), before); });
}

constexpr OpFacts scanLoweringsRows[] = {
    scanLowering("aten::cumsum", OperandTypes::Any, accumulated<Add>, 1),
    scanLowering("aten::cumprod", OperandTypes::Any, accumulated<Mul>, 1),
    scanLowering("aten::logcumsumexp", OperandTypes::Any, logAccumulated, 1),
    scanLowering("aten::cummax", OperandTypes::Any, runningExtremum<Ge>, 2),
    scanLowering("aten::cummin", OperandTypes::Any, runningExtremum<Le>, 2),
};

const OpRegistration scanLowerings({.facts = scanLoweringsRows});

}  // namespace

}  // namespace kerf::inline ops
