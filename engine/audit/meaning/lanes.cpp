#include "engine/audit/meaning/lanes.h"

#include <array>
#include <cmath>
#include <limits>

namespace kerf::inline audit {
namespace {

struct LaneName {
  std::string_view element;
  LaneType type;
};

constexpr std::array<LaneName, 13> laneNames = {{{"bool", LaneType::Bool},
                                                 {"uint8", LaneType::UInt8},
                                                 {"int8", LaneType::Int8},
                                                 {"uint16", LaneType::UInt16},
                                                 {"int16", LaneType::Int16},
                                                 {"uint32", LaneType::UInt32},
                                                 {"int32", LaneType::Int32},
                                                 {"uint64", LaneType::UInt64},
                                                 {"int64", LaneType::Int64},
                                                 {"float16", LaneType::Float16},
                                                 {"bfloat16", LaneType::BFloat16},
                                                 {"float32", LaneType::Float32},
                                                 {"float64", LaneType::Float64}}};

double floorDivision(double a, double b) { return b == 0 ? 0 : std::floor(a / b); }
double truncDivision(double a, double b) { return b == 0 ? 0 : std::trunc(a / b); }
double remainder(double a, double b) { return b == 0 ? 0 : std::fmod(a, b); }
/// As fmod, of whole numbers that a quotient is exact for.
double wholeRemainder(double a, double b) {
  if (b == 0) return 0;
  constexpr double most = 4294967296.0;
  return a > -most && a < most && b > -most && b < most ? a - b * double(std::int64_t(a / b)) : std::fmod(a, b);
}
double atLeast(double a, double b) { return std::isnan(a) || std::isnan(b) ? NAN : std::max(a, b); }
double atMost(double a, double b) { return std::isnan(a) || std::isnan(b) ? NAN : std::min(a, b); }

struct Unary {
  std::string_view name;
  UnaryNumber function;
};

constexpr double rootOfTwo = 1.4142135623730950488;

const std::array<Unary, 49> unaries = {{
    {"exp", [](double x) { return std::exp(x); }},
    {"exp_u20", [](double x) { return std::exp(x); }},
    {"exp2", [](double x) { return std::exp2(x); }},
    {"expm1", [](double x) { return std::expm1(x); }},
    {"log", [](double x) { return std::log(x); }},
    {"log2", [](double x) { return std::log2(x); }},
    {"log10", [](double x) { return std::log10(x); }},
    {"log1p", [](double x) { return std::log1p(x); }},
    {"sqrt", [](double x) { return std::sqrt(x); }},
    {"sqrt_rn", [](double x) { return std::sqrt(x); }},
    {"rsqrt", [](double x) { return 1 / std::sqrt(x); }},
    {"sin", [](double x) { return std::sin(x); }},
    {"cos", [](double x) { return std::cos(x); }},
    {"tan", [](double x) { return std::tan(x); }},
    {"asin", [](double x) { return std::asin(x); }},
    {"acos", [](double x) { return std::acos(x); }},
    {"atan", [](double x) { return std::atan(x); }},
    {"sinh", [](double x) { return std::sinh(x); }},
    {"cosh", [](double x) { return std::cosh(x); }},
    {"tanh", [](double x) { return std::tanh(x); }},
    {"asinh", [](double x) { return std::asinh(x); }},
    {"acosh", [](double x) { return std::acosh(x); }},
    {"atanh", [](double x) { return std::atanh(x); }},
    {"erf", [](double x) { return std::erf(x); }},
    {"erfc", [](double x) { return std::erfc(x); }},
    {"lgamma", [](double x) { return std::lgamma(x); }},
    {"floor", [](double x) { return std::floor(x); }},
    {"ceil", [](double x) { return std::ceil(x); }},
    {"trunc", [](double x) { return std::trunc(x); }},
    {"nearbyint", [](double x) { return std::nearbyint(x); }},
    {"rint", [](double x) { return std::nearbyint(x); }},
    {"round", [](double x) { return std::nearbyint(x); }},
    {"abs", [](double x) { return std::abs(x); }},
    {"abs_", [](double x) { return std::abs(x); }},
    {"fabs", [](double x) { return std::abs(x); }},
    {"neg", [](double x) { return -x; }},
    {"reciprocal", [](double x) { return 1 / x; }},
    {"sigmoid", [](double x) { return 1 / (1 + std::exp(-x)); }},
    {"frac", [](double x) { return x - std::trunc(x); }},
    {"isnan", [](double x) { return double(std::isnan(x)); }},
    {"isinf", [](double x) { return double(std::isinf(x)); }},
    {"isinfinite", [](double x) { return double(std::isinf(x)); }},
    {"isfinite", [](double x) { return double(std::isfinite(x)); }},
    {"signbit", [](double x) { return double(std::signbit(x)); }},
    {"ndtr", [](double x) { return 0.5 * std::erfc(-x / rootOfTwo); }},
    {"isnanf", [](double x) { return double(std::isnan(x)); }},
    {"sgn", [](double x) { return std::isnan(x) ? x : double(x > 0) - double(x < 0); }},
    {"llrint", [](double x) { return std::nearbyint(x); }},
    {"double", [](double x) { return x; }},
}};

struct Binary {
  std::string_view name;
  BinaryNumber function;
};

const std::array<Binary, 24> binaries = {{
    {"pow", [](double a, double b) { return std::pow(a, b); }},
    {"atan2", [](double a, double b) { return std::atan2(a, b); }},
    {"hypot", [](double a, double b) { return std::hypot(a, b); }},
    {"fmod", [](double a, double b) { return std::fmod(a, b); }},
    {"copysign", [](double a, double b) { return std::copysign(a, b); }},
    {"nextafter", nullptr},
    {"maximum", atLeast},
    {"minimum", atMost},
    {"max_propagate_nan", atLeast},
    {"min_propagate_nan", atMost},
    {"clamp_min", atLeast},
    {"clamp_max", atMost},
    {"div_rn", [](double a, double b) { return a / b; }},
    {"fdiv", [](double a, double b) { return a / b; }},
    {"div_floor_integer", floorDivision},
    {"div_floor_floating_vec", floorDivision},
    {"div_floor_floating", floorDivision},
    {"remainder_integer", [](double a, double b) { return b == 0 ? 0 : a - b * std::floor(a / b); }},
    {"modulus", [](double a, double b) { return b == 0 ? 0 : std::fmod(a, b); }},
    {"mod", [](double a, double b) { return b == 0 ? 0 : std::fmod(a, b); }},
    {"rand", drawnNumber},
    {"normalized_rand_cpu", drawnNumber},
    {"randn", [](double seed, double offset) { return 4 * drawnNumber(seed, offset) - 2; }},
    {"randn_cpu", [](double seed, double offset) { return 4 * drawnNumber(seed, offset) - 2; }},
}};

double shifted(double a, double b, bool isLeft) {
  if (b < 0 || b > 63) return 0;
  return isLeft ? double(std::int64_t(std::uint64_t(std::int64_t(a)) << int(b))) : double(std::int64_t(a) >> int(b));
}

}  // namespace

LaneType laneTypeOf(std::string_view element) {
  const auto found = std::ranges::find(laneNames, element, &LaneName::element);
  return found == laneNames.end() ? LaneType::Float32 : found->type;
}

double wrappedLane(LaneType type, double value) {
  if (!std::isfinite(value)) return 0;
  const LaneRange row = laneRanges[std::size_t(type)];
  const double whole = std::trunc(value), range = row.high - row.low + 1;
  if (!std::isfinite(range)) return whole;
  const double rest = whole - range * std::floor(whole / range);
  return rest > row.high ? rest - range : rest;
}

KernelLanes KernelLanes::spread(std::size_t count) const {
  if (!isOne() || isUnknown || count <= 1) return *this;
  NumberArray many(count);
  std::fill_n(many.edit(), count, m_number);
  KernelLanes lanes(std::move(many), type);
  lanes.memory = memory;
  return lanes;
}

KernelLanes tupleOf(std::vector<KernelLanes> parts) {
  KernelLanes tuple;
  for (const KernelLanes& part : parts) tuple.isUnknown = tuple.isUnknown || part.isUnknown;
  tuple.parts = std::make_shared<const std::vector<KernelLanes>>(std::move(parts));
  return tuple;
}

KernelLanes castLanes(const KernelLanes& value, LaneType type) {
  if (value.type == type || (isFloatLane(type) && !value.parts)) {
    KernelLanes same = value;
    same.type = type;
    return same;
  }
  return mapLanes(value, type, [&](double x) { return asLane(type, x); });
}

KernelLanes chooseLanes(const KernelLanes& condition, const KernelLanes& a, const KernelLanes& b) {
  const LaneType type = commonLane(a, b);
  if (condition.isUnknown) return KernelLanes::unknown(type);
  if (condition.isOne()) {
    KernelLanes chosen = condition.at(0) != 0 ? a : b;
    chosen.type = type;
    const KernelLanes& other = condition.at(0) != 0 ? b : a;
    return chosen.isOne() && !other.isOne() ? chosen.spread(other.size()) : chosen;
  }
  if (a.isUnknown || b.isUnknown) {
    // Where no lane asks for what is not known, it does not matter.
    bool takesA = false, takesB = false;
    for (std::size_t i = 0; i < condition.size(); ++i) (condition.at(i) != 0 ? takesA : takesB) = true;
    if ((a.isUnknown && takesA) || (b.isUnknown && takesB)) return KernelLanes::unknown(type);
  }
  const auto fits = [&](const KernelLanes& lanes) { return lanes.isUnknown || lanes.fits(condition.size()); };
  if (!fits(a) || !fits(b)) return KernelLanes::unknown(type);
  NumberArray result(condition.size());
  double* const to = result.edit();
  const double *const asked = condition.data(), *const first = a.data(), *const second = b.data();
  const std::size_t stepA = a.isOne() ? 0 : 1, stepB = b.isOne() ? 0 : 1;
  for (std::size_t i = 0; i < result.size(); ++i) to[i] = asked[i] != 0 ? first[i * stepA] : second[i * stepB];
  return {std::move(result), type};
}

LaneType commonLane(const KernelLanes& a, const KernelLanes& b) {
  if (a.type == b.type) return a.type;
  const bool isMixed = (a.type == LaneType::Float16 && b.type == LaneType::BFloat16) ||
                       (b.type == LaneType::Float16 && a.type == LaneType::BFloat16);
  return isMixed ? LaneType::Float32 : std::max(a.type, b.type);
}

KernelLanes operateLanes(std::string_view sign, const KernelLanes& a, const KernelLanes& b) {
  const LaneType type = commonLane(a, b);
  const auto number = [&](const auto& function) {
    if (isFloatLane(type)) return zipLanes(a, b, type, function);
    // Of whole numbers all of these are whole.
    return zipLanes(a, b, type, [range = laneRanges[std::size_t(type)], type, &function](double x, double y) {
      const double whole = function(x, y);
      return whole >= range.low && whole <= range.high ? whole : asLane(type, whole);
    });
  };
  const auto truth = [&](const auto& function) {
    return zipLanes(a, b, LaneType::Bool, [&](double x, double y) { return function(x, y) ? 1.0 : 0.0; });
  };
  if (sign == "+") return number([](double x, double y) { return x + y; });
  if (sign == "-") return number([](double x, double y) { return x - y; });
  if (sign == "*") return number([](double x, double y) { return x * y; });
  if (sign == "/") return isFloatLane(type) ? number([](double x, double y) { return x / y; }) : number(truncDivision);
  if (sign == "//") return number(isFloatLane(type) ? floorDivision : truncDivision);
  if (sign == "%") return number(isFloatLane(type) ? remainder : wholeRemainder);
  if (sign == "<") return truth([](double x, double y) { return x < y; });
  if (sign == "<=") return truth([](double x, double y) { return x <= y; });
  if (sign == ">") return truth([](double x, double y) { return x > y; });
  if (sign == ">=") return truth([](double x, double y) { return x >= y; });
  if (sign == "==") return truth([](double x, double y) { return x == y; });
  if (sign == "!=") return truth([](double x, double y) { return x != y; });
  if (sign == "&&" || sign == "and") return truth([](double x, double y) { return x != 0 && y != 0; });
  if (sign == "||" || sign == "or") return truth([](double x, double y) { return x != 0 || y != 0; });
  if (isFloatLane(type)) return KernelLanes::unknown(type);
  if (sign == "&") return number([](double x, double y) { return double(std::int64_t(x) & std::int64_t(y)); });
  if (sign == "|") return number([](double x, double y) { return double(std::int64_t(x) | std::int64_t(y)); });
  if (sign == "^") return number([](double x, double y) { return double(std::int64_t(x) ^ std::int64_t(y)); });
  if (sign == "<<") return number([](double x, double y) { return shifted(x, y, true); });
  if (sign == ">>") return number([](double x, double y) { return shifted(x, y, false); });
  return KernelLanes::unknown(type);
}

bool isDecidedByRounding(std::string_view name, const KernelLanes& value) {
  static constexpr std::array<std::string_view, 4> steps = {"floor", "ceil", "trunc", "frac"};
  if (value.isUnknown || std::ranges::find(steps, name) == steps.end()) return false;
  for (std::size_t i = 0; i < value.size(); ++i) {
    const double x = value.at(i), apart = std::abs(x - std::nearbyint(x));
    if (apart != 0 && apart < 1e-11 * std::max(1.0, std::abs(x))) return true;
  }
  return false;
}

double drawnNumber(double seed, double offset) {
  std::uint64_t mixed = std::uint64_t(std::int64_t(seed)) * 0x9e3779b97f4a7c15ULL + std::uint64_t(std::int64_t(offset));
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9ULL;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebULL;
  return double((mixed ^ (mixed >> 31)) >> 11) * 0x1p-53;
}

UnaryNumber unaryNumber(std::string_view name) {
  const auto found = std::ranges::find(unaries, name, &Unary::name);
  return found == unaries.end() ? nullptr : found->function;
}

BinaryNumber binaryNumber(std::string_view name) {
  const auto found = std::ranges::find(binaries, name, &Binary::name);
  return found == binaries.end() ? nullptr : found->function;
}

}  // namespace kerf::inline audit
