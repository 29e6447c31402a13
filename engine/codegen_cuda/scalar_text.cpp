#include "engine/codegen_cuda/scalar_text.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace kerf::inline codegen_cuda {

bool isHalfType(DType dtype) { return dtype == DType::Float16 || dtype == DType::BFloat16; }

namespace {

bool isUnsigned(DType dtype) { return dtype >= DType::UInt64 && dtype <= DType::UInt8; }

struct TypeName {
  DType dtype;
  std::string_view name;
};
constexpr TypeName typeNames[] = {
    {DType::Float64, "double"},
    {DType::Float32, "float"},
    {DType::Float16, "unsigned short"},
    {DType::BFloat16, "unsigned short"},
    {DType::Int64, "long long"},
    {DType::Int32, "int"},
    {DType::Int16, "short"},
    {DType::Int8, "signed char"},
    {DType::UInt64, "unsigned long long"},
    {DType::UInt32, "unsigned int"},
    {DType::UInt16, "unsigned short"},
    {DType::UInt8, "unsigned char"},
    {DType::Bool, "unsigned char"},
};

struct FunctionName {
  ExprOp op;
  std::string_view name;  ///< float64's; float32's has an f behind it
};
constexpr FunctionName functions[] = {
    {ExprOp::Abs, "fabs"},    {ExprOp::Exp, "exp"},     {ExprOp::Exp2, "exp2"},   {ExprOp::Expm1, "expm1"},
    {ExprOp::Log, "log"},     {ExprOp::Log2, "log2"},   {ExprOp::Log10, "log10"}, {ExprOp::Log1p, "log1p"},
    {ExprOp::Sqrt, "sqrt"},   {ExprOp::Sin, "sin"},     {ExprOp::Cos, "cos"},     {ExprOp::Tan, "tan"},
    {ExprOp::Asin, "asin"},   {ExprOp::Acos, "acos"},   {ExprOp::Atan, "atan"},   {ExprOp::Sinh, "sinh"},
    {ExprOp::Cosh, "cosh"},   {ExprOp::Tanh, "tanh"},   {ExprOp::Asinh, "asinh"}, {ExprOp::Acosh, "acosh"},
    {ExprOp::Atanh, "atanh"}, {ExprOp::Erf, "erf"},     {ExprOp::Erfc, "erfc"},   {ExprOp::Floor, "floor"},
    {ExprOp::Ceil, "ceil"},   {ExprOp::Trunc, "trunc"}, {ExprOp::Pow, "pow"},     {ExprOp::RoundEven, "rint"},
    {ExprOp::Fmod, "fmod"},   {ExprOp::Atan2, "atan2"}, {ExprOp::Hypot, "hypot"}, {ExprOp::CopySign, "copysign"},
};

struct Sign {
  ExprOp op;
  std::string_view text;
};
constexpr Sign comparisons[] = {{ExprOp::Eq, "=="}, {ExprOp::Ne, "!="}, {ExprOp::Lt, "<"},
                                {ExprOp::Le, "<="}, {ExprOp::Gt, ">"},  {ExprOp::Ge, ">="}};
constexpr Sign arithmetic[] = {{ExprOp::Add, "+"}, {ExprOp::Sub, "-"}, {ExprOp::Mul, "*"}, {ExprOp::Div, "/"},
                               {ExprOp::And, "&"}, {ExprOp::Or, "|"},  {ExprOp::Xor, "^"}};
/// What arithmetic of one bit is.
constexpr Sign ofBools[] = {{ExprOp::Add, "|"}, {ExprOp::Sub, "^"}, {ExprOp::Mul, "&"},
                            {ExprOp::And, "&"}, {ExprOp::Or, "|"},  {ExprOp::Xor, "^"}};

template <std::size_t N>
std::string_view signOf(const Sign (&table)[N], ExprOp op) {
  const auto* row = std::ranges::find(table, op, &Sign::op);
  return row == std::end(table) ? std::string_view() : row->text;
}

std::string call(ExprOp op, DType dtype, const std::string& arguments) {
  const auto* row = std::ranges::find(functions, op, &FunctionName::op);
  if (row == std::end(functions)) return {};
  return fmt::format("{}{}({})", row->name, dtype == DType::Float32 ? "f" : "", arguments);
}

/// Overflow wraps around, which only unsigned types do in C++.
std::string wrapping(std::string_view sign, const std::string& a, const std::string& b, DType dtype) {
  const std::string_view wide = itemSize(dtype) == 8 ? "unsigned long long" : "unsigned int";
  return fmt::format("({0})(({1}){2} {3} ({1}){4})", registerType(dtype), wide, a, sign, b);
}

std::string floatText(double value, bool isSingle) {
  if (!std::isfinite(value)) {
    if (isSingle) return fmt::format("__uint_as_float(0x{:08x}u)", std::bit_cast<std::uint32_t>(float(value)));
    return fmt::format("__longlong_as_double(0x{:016x}ll)", std::bit_cast<std::uint64_t>(value));
  }
  std::string text = isSingle ? fmt::format("{}", float(value)) : fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return isSingle ? text + "f" : text;
}

std::string integerText(std::int64_t value, DType dtype) {
  if (dtype == DType::Bool) return value != 0 ? "true" : "false";
  if (dtype == DType::UInt64) return fmt::format("{}ull", std::uint64_t(value));
  if (value == std::numeric_limits<std::int64_t>::min()) return "(-9223372036854775807ll - 1)";
  if (dtype == DType::Int64) return fmt::format("{}ll", value);
  return fmt::format("({}){}ll", registerType(dtype), value);
}

std::string floatToInteger(const std::string& value, DType to) {
  if (to == DType::UInt64) return fmt::format("kerf_to_u64({})", value);
  const bool narrow = to == DType::Int32 || to == DType::Int16 || to == DType::Int8;
  const std::string whole = fmt::format("{}({})", narrow ? "kerf_to_i32" : "kerf_to_i64", value);
  return to == DType::Int32 || to == DType::Int64 ? whole : fmt::format("({}){}", registerType(to), whole);
}

}  // namespace

std::string_view memoryType(DType dtype) {
  const auto* row = std::ranges::find(typeNames, dtype, &TypeName::dtype);
  return row == std::end(typeNames) ? std::string_view() : row->name;
}

std::string_view registerType(DType dtype) { return dtype == DType::Bool ? "bool" : memoryType(dtype); }

std::string constantText(const Expr& e) {
  return isFloating(e.dtype) ? floatText(e.real, e.dtype == DType::Float32) : integerText(e.integer, e.dtype);
}

std::string convertText(const std::string& value, DType from, DType to) {
  if (from == to) return value;
  if (isHalfType(from)) {
    const std::string wide = fmt::format("{}({})", from == DType::Float16 ? "kerf_from_half" : "kerf_from_bf16", value);
    return convertText(wide, DType::Float32, to);
  }
  if (isHalfType(to)) {
    const std::string single = convertText(value, from, DType::Float32);
    return fmt::format("{}({})", to == DType::Float16 ? "kerf_to_half" : "kerf_to_bf16", single);
  }
  if (to == DType::Bool) return fmt::format("({} != {})", value, isFloating(from) ? "0.0f" : "0");
  if (isFloating(from) && !isFloating(to)) return floatToInteger(value, to);
  return fmt::format("({}){}", registerType(to), value);
}

std::string unaryText(ExprOp op, const std::string& a, DType dtype) {
  if (op == ExprOp::Not) return dtype == DType::Bool ? "!" + a : fmt::format("({})~{}", registerType(dtype), a);
  if (op == ExprOp::IsNan) return fmt::format("({0} != {0})", a);
  if (op == ExprOp::Neg) return isFloating(dtype) ? fmt::format("(-{})", a) : wrapping("-", "0", a, dtype);
  if (op == ExprOp::Abs && !isFloating(dtype))
    return isUnsigned(dtype) ? a : fmt::format("({0} < 0 ? {1} : {0})", a, wrapping("-", "0", a, dtype));
  return call(op, dtype, a);
}

std::string binaryText(ExprOp op, const std::string& a, const std::string& b, DType dtype) {
  if (const auto sign = signOf(comparisons, op); !sign.empty()) return fmt::format("({} {} {})", a, sign, b);
  if (op == ExprOp::Maximum || op == ExprOp::Minimum)
    return fmt::format("{}({}, {})", op == ExprOp::Maximum ? "kerf_max" : "kerf_min", a, b);
  if (dtype == DType::Bool) {
    const auto sign = signOf(ofBools, op);
    return sign.empty() ? std::string() : fmt::format("(bool)({} {} {})", a, sign, b);
  }
  const auto sign = signOf(arithmetic, op);
  if (!isFloating(dtype)) return sign.empty() || op == ExprOp::Div ? std::string() : wrapping(sign, a, b, dtype);
  if (!sign.empty() && op < ExprOp::And) return fmt::format("({} {} {})", a, sign, b);
  return call(op, dtype, fmt::format("{}, {}", a, b));
}

std::string combineText(const Expr& reduction, const std::string& a, const std::string& b) {
  switch (reduction.op) {
    case ExprOp::ReduceSum:
      return binaryText(ExprOp::Add, a, b, reduction.dtype);
    case ExprOp::ReduceProd:
      return binaryText(ExprOp::Mul, a, b, reduction.dtype);
    case ExprOp::ReduceMax:
      return binaryText(ExprOp::Maximum, a, b, reduction.dtype);
    case ExprOp::ReduceMin:
      return binaryText(ExprOp::Minimum, a, b, reduction.dtype);
    default:
      return binaryText(reduction.op == ExprOp::ReduceAny ? ExprOp::Or : ExprOp::And, a, b, reduction.dtype);
  }
}

std::string identityText(const Expr& reduction) {
  Expr start{.op = ExprOp::Constant, .dtype = reduction.dtype};
  const bool one = reduction.op == ExprOp::ReduceProd || reduction.op == ExprOp::ReduceAll;
  if (one) start.real = 1, start.integer = reduction.op == ExprOp::ReduceAll && reduction.dtype != DType::Bool ? -1 : 1;
  if (reduction.op != ExprOp::ReduceMax && reduction.op != ExprOp::ReduceMin) return constantText(start);
  const bool maximum = reduction.op == ExprOp::ReduceMax;
  const double infinity = std::numeric_limits<double>::infinity();
  if (isFloating(start.dtype)) {
    start.real = maximum ? -infinity : infinity;
    return constantText(start);
  }
  const int bits = start.dtype == DType::Bool ? 1 : int(itemSize(start.dtype)) * 8;
  if (isUnsigned(start.dtype) || start.dtype == DType::Bool)
    start.integer = maximum ? 0 : std::int64_t(~std::uint64_t{0} >> (64 - bits));
  else
    start.integer =
        maximum ? std::int64_t(~std::uint64_t{0} << (bits - 1)) : std::int64_t(~std::uint64_t{0} >> (65 - bits));
  return constantText(start);
}

}  // namespace kerf::inline codegen_cuda
