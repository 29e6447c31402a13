// torch.sym_*, math.* and aten.sym_* on numbers, and the constraints that exported graphs put on data-dependent sizes.
#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/ops/core/composite.h"
#include "engine/ops/core/empty_output.h"
#include "engine/ops/core/op_registration.h"
#include "engine/ops/core/strides.h"
#include "engine/ops/core/symbolic_numbers.h"
#include "engine/symbolic/shape_env.h"
#include "engine/tensor/copy.h"

namespace kerf::inline ops {
namespace {

std::optional<double> numberOf(const Value& value) {
  if (const auto* real = value.as<double>()) return *real;
  if (const auto* whole = value.as<std::int64_t>()) return double(*whole);
  if (const auto* flag = value.as<bool>()) return *flag ? 1.0 : 0.0;
  return {};
}
std::optional<std::int64_t> integerOf(const Value& value) {
  if (const auto* whole = value.as<std::int64_t>()) return *whole;
  if (const auto* flag = value.as<bool>()) return *flag ? 1 : 0;
  return {};
}

/// torch.sym_sum(numbers)
Result<Value> symSum(const BoundArguments& args) {
  if (!args.values[0].isList()) return mismatch(args, "expects a list of numbers");
  std::int64_t whole = 0;
  double real = 0;
  bool exact = true;
  for (const Value& item : args.values[0].list()) {
    const auto number = numberOf(item);
    if (!number) return mismatch(args, "expects numbers");
    real += *number;
    const auto integer = integerOf(item);
    exact = exact && integer.has_value();
    if (exact && __builtin_add_overflow(whole, *integer, &whole)) return mismatch(args, "the sum overflows");
  }
  return exact ? Value(whole) : Value(real);
}

/// torch.sym_ite(condition, a, b)
Result<Value> symIfElse(const BoundArguments& args) {
  const auto condition = numberOf(args.values[0]);
  if (!condition) return mismatch(args, "the condition must be a bool");
  return args.values[*condition != 0 ? 1 : 2];
}

/// A double as Python's int; numbers that are integers already stay.
Result<Value> rounded(const BoundArguments& args, double (*round)(double)) {
  if (const auto whole = integerOf(args.values[0])) return Value(*whole);
  const auto number = numberOf(args.values[0]);
  if (!number) return mismatch(args, "expects a number");
  const double value = round(*number);
  if (!(std::abs(value) < 9.2e18)) return mismatch(args, "{} is no 64-bit integer", value);
  return Value(std::int64_t(value));
}
Result<Value> mathFloor(const BoundArguments& args) { return rounded(args, std::floor); }
Result<Value> mathCeil(const BoundArguments& args) { return rounded(args, std::ceil); }
Result<Value> roundToEven(const BoundArguments& args) {
  if (args.none(1) || !args.values[0].as<double>()) return rounded(args, std::nearbyint);
  const auto digits = integerOf(args.values[1]);
  if (!digits || std::abs(*digits) > 300) return mismatch(args, "the number of digits must be an int");
  const double scale = std::pow(10.0, double(*digits));
  return Value(std::nearbyint(*args.values[0].as<double>() * scale) / scale);
}

template <double (*function)(double)>
Result<Value> mathUnary(const BoundArguments& args) {
  const auto number = numberOf(args.values[0]);
  if (!number) return mismatch(args, "expects a number");
  const double value = function(*number);
  if (std::isnan(value) && !std::isnan(*number)) return mismatch(args, "math domain error at {}", *number);
  return Value(value);
}

Result<Value> mathPow(const BoundArguments& args) {
  const auto base = numberOf(args.values[0]), exponent = numberOf(args.values[1]);
  if (!base || !exponent) return mismatch(args, "expects numbers");
  return Value(std::pow(*base, *exponent));
}

Result<Value> absolute(const BoundArguments& args) {
  if (args.values[0].isTensor()) return callOp("aten.abs.default"_op, args.values);
  if (const auto whole = integerOf(args.values[0])) {
    if (*whole == INT64_MIN) return mismatch(args, "the absolute value overflows");
    return Value(std::abs(*whole));
  }
  const auto number = numberOf(args.values[0]);
  if (!number) return mismatch(args, "expects a number");
  return Value(std::abs(*number));
}

/// The ATen op of ^, << and >> on tensors; none for numbers.
OpId bitwiseOp(const BoundArguments& args) {
  if (!args.values[0].isTensor() && !args.values[1].isTensor()) return {};
  const std::string name = args.opName();
  if (name.find("xor") != std::string::npos) return "aten.bitwise_xor.Tensor"_op;
  return name.find("rshift") != std::string::npos ? "aten.bitwise_right_shift.Tensor"_op
                                                  : "aten.bitwise_left_shift.Tensor"_op;
}

/// ^, << and >> on integers.
Result<Value> integersOnly(const BoundArguments& args) {
  const auto a = integerOf(args.values[0]), b = integerOf(args.values[1]);
  if (!a || !b) return mismatch(args, "expects integers");
  const std::string name = args.opName();
  if (name.find("xor") != std::string::npos) {
    const bool flags = args.values[0].as<bool>() && args.values[1].as<bool>();
    return flags ? Value((*a ^ *b) != 0) : Value(*a ^ *b);
  }
  if (*b < 0 || *b > 62) return mismatch(args, "the shift {} is out of range", *b);
  if (name.find("rshift") != std::string::npos) return Value(*a >> *b);
  std::int64_t result = 0;
  if (__builtin_mul_overflow(*a, std::int64_t{1} << *b, &result)) return mismatch(args, "the result overflows");
  return Value(result);
}

Result<Value> bitwise(const BoundArguments& args, const OpRunner& run) {
  const OpId op = bitwiseOp(args);
  return op ? run.value(op, args.values) : integersOnly(args);
}

Result<Value> allSizes(const BoundArguments& args) { return intList(args.tensor(0).symSizes()); }
Result<Value> allStrides(const BoundArguments& args) { return intList(args.tensor(0).symStrides()); }

/// A data-dependent size within [min, max].
Result<Value> constrainRange(const BoundArguments& args) {
  const auto value = numberOf(args.values[0]);
  if (!value) return mismatch(args, "expects a number");
  const double low = args.numberIf(args.position("min")).value_or(-std::numeric_limits<double>::infinity());
  const double high = args.numberIf(args.position("max")).value_or(std::numeric_limits<double>::infinity());
  if (*value < low || *value > high)
    return fail(ErrorCode::RuntimeFailed, "{}: {} is outside [{}, {}]", args.opName(), *value, low, high);
  return Value();
}
/// The token is cloned: a value of its own, as every functional op's.
Result<Value> constrainThrough(const BoundArguments& args) {
  KERF_CHECK(constrainRange(args));
  KERF_TRY(Tensor out, makeEmptyOutput(args));
  KERF_CHECK(copyElements(args.tensor(args.position("dep_token")), out));
  return Value(std::move(out));
}
Result<Value> noneShape(const BoundArguments&) { return Value(); }
Result<Value> tokenShape(const BoundArguments& args) {
  const Tensor& token = args.tensor(args.position("dep_token"));
  KERF_TRY(SymSizes strides, likeStrides(token, {}));
  return Value(metaTensor(token.dtype(), token.symSizes(), std::move(strides)));
}

/// torch._check(condition), torch._check_is_size(size)
Result<Value> checkHolds(const BoundArguments& args) {
  const auto value = numberOf(args.values[0]);
  const bool isSize = args.opName().find("is_size") != std::string::npos;
  const bool holds = value && (isSize ? *value >= 0 : *value != 0);
  if (holds || args.values[0].isNone()) return Value();
  return fail(ErrorCode::RuntimeFailed, "{}: the condition does not hold", args.opName());
}

constexpr OpTrait none = OpTrait::None;
constexpr OpTrait impure = OpTrait::Impure;
/// Numbers are computed, symbolic ones as expressions.
Result<Value> numberShape(const BoundArguments& args) {
  if (ShapeEnv::current() == nullptr || !holdsSymbolic(args.values)) return args.op->kernel(args);
  ValueList given = args.values;
  while (!given.empty() && given.back().isNone()) given.pop_back();
  if (auto result = callOnSymbols(args.opName(), given, {})) return std::move(*result);
  return fail(ErrorCode::UnsupportedOp, "{}: not possible with symbolic numbers", args.opName());
}

Result<Value> absoluteShape(const BoundArguments& args) {
  if (args.values[0].isTensor()) return inferShapes("aten.abs.default"_op, args.values, {});
  return numberShape(args);
}

constexpr OpRow number(const char* schema, Kernel kernel) { return {schema, none, numberShape, kernel}; }

constexpr OpRow symbolRows[] = {
    number("torch::sym_sum(Any args) -> Any", symSum),
    number("torch::sym_ite(Any b, Any t, Any f) -> Any", symIfElse),
    number("math::floor(Any a) -> Any", mathFloor),
    number("math::ceil(Any a) -> Any", mathCeil),
    number("builtins::round(Any a, Any ndigits=None) -> Any", roundToEven),
    number("math::sqrt(Any a) -> Any", mathUnary<std::sqrt>),
    number("math::exp(Any a) -> Any", mathUnary<std::exp>),
    number("math::log(Any a) -> Any", mathUnary<std::log>),
    number("math::log2(Any a) -> Any", mathUnary<std::log2>),
    number("math::sin(Any a) -> Any", mathUnary<std::sin>),
    number("math::cos(Any a) -> Any", mathUnary<std::cos>),
    number("math::tanh(Any a) -> Any", mathUnary<std::tanh>),
    number("math::pow(Any a, Any b) -> Any", mathPow),
    {"builtins::abs(Any a) -> Any", none, absoluteShape, absolute},
    compositeRow(bitwise, "operator::xor(Any a, Any b) -> Any"),
    compositeRow(bitwise, "operator::lshift(Any a, Any b) -> Any"),
    compositeRow(bitwise, "operator::rshift(Any a, Any b) -> Any"),
    {"aten::sym_size(Tensor self) -> SymInt[]", none, allSizes, allSizes},
    {"aten::sym_stride(Tensor self) -> SymInt[]", none, allStrides, allStrides},
    {"aten::sym_constrain_range(Scalar size, *, int? min=None, int? max=None) -> ()", impure, noneShape,
     constrainRange},
    {"aten::sym_constrain_range_for_size(Scalar size, *, int? min=None, int? max=None) -> ()", impure, noneShape,
     constrainRange},
    {"aten::_functional_sym_constrain_range(Scalar size, int? min, int? max, Tensor dep_token) -> Tensor", none,
     tokenShape, constrainThrough},
    {"aten::_functional_sym_constrain_range_for_size(Scalar size, int? min, int? max, Tensor dep_token) -> Tensor",
     none, tokenShape, constrainThrough},
    {"torch::_check(Any cond, Any message=None) -> ()", impure, noneShape, checkHolds},
    {"torch::_check_is_size(Any i, Any message=None, *, Any max=None) -> ()", impure, noneShape, checkHolds},
};

const OpRegistration symbolOps({.rows = symbolRows});

}  // namespace

}  // namespace kerf::inline ops
