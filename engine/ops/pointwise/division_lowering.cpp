// Rounded quotients, remainders and shifts. Loops divide floats alone: whole numbers of up to 32 bits are divided as
// float64, which has the exact quotient's floor, by a number that is not zero; others are not generated.
#include <cmath>
#include <optional>

#include "engine/ops/core/lowering_calls.h"
#include "engine/ops/core/op_registration.h"
#include "engine/ops/core/type_promotion.h"
#include "engine/ops/pointwise/division.h"

namespace kerf::inline ops {
namespace {

using Call = const PointwiseCall&;
using enum ExprOp;
using enum OperandTypes;

std::optional<DType> operandType(const BoundArguments& args, std::size_t i) {
  const Tensor* tensor = args.tensorIf(i);
  return tensor ? std::optional(tensor->dtype()) : std::nullopt;
}
std::optional<double> numberOf(const Value& value) {
  if (const auto* integer = value.as<std::int64_t>()) return double(*integer);
  if (const auto* real = value.as<double>()) return *real;
  return {};
}
bool isNarrow(DType dtype) { return dtype != DType::Bool && dtype != DType::Int64 && dtype != DType::UInt64; }

/// Floats, or small whole numbers by a number of their type other than zero and -1, over which the lowest one wraps.
bool dividesSafely(const BoundArguments& args) {
  const auto self = operandType(args, 0), other = operandType(args, 1);
  if (!self) return other && isFloating(*other);
  if (isFloating(*self) || (other && isFloating(*other))) return true;
  const auto divisor = numberOf(args.values[1]);
  if (other || !isNarrow(*self) || !divisor) return false;
  const double largest = std::ldexp(1, 8 * int(itemSize(*self)) - 1) - 1;  // of the signed type of that size
  return *divisor != 0 && *divisor != -1 && std::abs(*divisor) <= largest;
}

/// PyTorch's vector kernel gives NaN where a float32 quotient overflows, in whole vectors alone: a loop does not know
/// which.
bool leavesRest(const BoundArguments& args) {
  const DType type = resultType(std::vector<Value>{args.values[0], args.values[1]});
  return dividesSafely(args) && (!isFloating(type) || type == DType::Float64);
}

bool isFloor(const BoundArguments& args) { return args.text(args.position("rounding_mode")) == "floor"; }
bool dividesByMode(const BoundArguments& args) {
  const std::size_t mode = args.position("rounding_mode");
  return args.none(mode) || dividesSafely(args);
}

/// Whole numbers as what has their quotients' floors.
struct Operands {
  int x, y;
  DType type;
};
Operands divided(Call c) {
  if (isFloating(c.compute)) return {c.x(0), c.x(1), c.compute};
  return {c.b.convert(c.x(0), DType::Float64), c.b.convert(c.x(1), DType::Float64), DType::Float64};
}

int zeroOf(Call c, DType type) { return c.b.constant(0, type); }
int isNegative(Call c, int value) { return c.b.binary(Lt, value, zeroOf(c, c.b.dtype(value))); }
int isNotZero(Call c, int value) { return c.b.binary(Ne, value, zeroOf(c, c.b.dtype(value))); }

/// Whether a remainder with the sign of the dividend has to be moved to the divisor's.
int turns(Call c, int rest, int divisor) {
  return c.b.binary(And, isNotZero(c, rest), c.b.binary(Xor, isNegative(c, divisor), isNegative(c, rest)));
}

/// Python's //: for floats the floor of the exact quotient.
int floorQuotient(Call c) {
  const auto [x, y, type] = divided(c);
  const int rest = c.b.binary(Fmod, x, y), plain = c.b.binary(Div, x, y);
  const int even = c.b.binary(Div, c.b.binary(Sub, x, rest), y);
  const int lower = c.b.binary(Sub, even, c.b.constant(1, type));
  const int quotient = c.b.select(turns(c, rest, y), lower, even);
  const int floored = c.b.unary(Floor, quotient);
  const int isNearNext = c.b.binary(Gt, c.b.binary(Sub, quotient, floored), c.b.constant(0.5, type));
  const int whole = c.b.select(isNearNext, c.b.binary(Add, floored, c.b.constant(1, type)), floored);
  const int signedZero = c.b.binary(CopySign, zeroOf(c, type), plain);
  const int ofOthers = c.b.select(isNotZero(c, quotient), whole, signedZero);
  return c.b.convert(c.b.select(isNotZero(c, y), ofOthers, plain), c.compute);
}

/// 16-bit floats round the quotient before it is truncated, unless one number divides them.
int truncQuotient(Call c) {
  const auto [x, y, type] = divided(c);
  const int quotient = c.b.binary(Div, x, y);
  const bool isHalf = (c.dtype == DType::BFloat16 || c.dtype == DType::Float16) && !dividesByOne(c.bound);
  const int rounded = isHalf ? c.b.convert(c.b.convert(quotient, c.dtype), c.compute) : quotient;
  return c.b.convert(c.b.unary(Trunc, rounded), c.compute);
}

int byMode(Call c) {
  if (c.bound.none(c.bound.position("rounding_mode"))) return c.b.binary(Div, c.x(0), c.x(1));
  return isFloor(c.bound) ? floorQuotient(c) : truncQuotient(c);
}

int truncRemainder(Call c) {
  const auto [x, y, type] = divided(c);
  return c.b.convert(c.b.binary(Fmod, x, y), c.compute);
}
/// Python's %: the sign of the divisor.
int floorRemainder(Call c) {
  const auto [x, y, type] = divided(c);
  const int rest = c.b.binary(Fmod, x, y);
  return c.b.convert(c.b.select(turns(c, rest, y), c.b.binary(Add, rest, y), rest), c.compute);
}

std::int64_t shiftOf(const BoundArguments& args) { return std::int64_t(args.number(1)); }
bool shiftsByNumber(const BoundArguments& args) {
  const auto* bits = args.values[1].as<std::int64_t>();
  return operandType(args, 0) && bits != nullptr && *bits >= 0 && *bits < 63;
}
bool shiftsNarrowByNumber(const BoundArguments& args) {
  return shiftsByNumber(args) && isNarrow(args.tensor(0).dtype());
}

/// x * 2^n, which wraps; bits beyond the type's are lost.
int shiftLeft(Call c) {
  const std::int64_t bits = 8 * itemSize(c.compute), n = shiftOf(c.bound);
  if (n >= bits) return c.b.integer(0, c.compute);
  const auto factor = std::int64_t(std::uint64_t{1} << n);
  return c.b.binary(Mul, c.x(0), c.b.integer(factor, c.compute));
}
/// floor(x / 2^n): exact in float32 for up to 16 bits, in float64 for 32.
int shiftRight(Call c) {
  const DType wide = itemSize(c.compute) <= 2 ? DType::Float32 : DType::Float64;
  const int scaled =
      c.b.binary(Mul, c.b.convert(c.x(0), wide), c.b.constant(std::ldexp(1, -int(shiftOf(c.bound))), wide));
  return c.b.convert(c.b.unary(Floor, scaled), c.compute);
}

constexpr OpFacts divisionLoweringsRows[] = {
    loweringWhere(dividesByMode, pointwiseLowering("aten::div.Tensor_mode", Numbers, byMode, 30)),
    loweringWhere(dividesByMode, pointwiseLowering("aten::div.Scalar_mode", Numbers, byMode, 30)),
    loweringWhere(dividesSafely, pointwiseLowering("aten::floor_divide", Numbers, floorQuotient, 30)),
    loweringWhere(leavesRest, pointwiseLowering("aten::fmod", Numbers, truncRemainder, 30)),
    loweringWhere(leavesRest, pointwiseLowering("aten::remainder", Numbers, floorRemainder, 30)),
    loweringWhere(shiftsByNumber, pointwiseLowering("aten::bitwise_left_shift", Integers, shiftLeft, 1)),
    loweringWhere(shiftsByNumber, pointwiseLowering("aten::__lshift__", Integers, shiftLeft, 1)),
    loweringWhere(shiftsNarrowByNumber, pointwiseLowering("aten::bitwise_right_shift", Integers, shiftRight, 3)),
    loweringWhere(shiftsNarrowByNumber, pointwiseLowering("aten::__rshift__", Integers, shiftRight, 3)),
};

const OpRegistration divisionLowerings({.facts = divisionLoweringsRows});

}  // namespace

}  // namespace kerf::inline ops
