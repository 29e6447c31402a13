#include "engine/codegen_llvm/runtime_symbols.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "engine/codegen_llvm/streams.h"
#include "engine/tensor/dtype.h"

namespace kerf::inline codegen_llvm {
namespace {

float halfToFloat(std::uint16_t bits) {
  Half half;
  half.bits = bits;
  return half;
}
std::uint16_t floatToHalf(float value) { return Half(value).bits; }

// The compiler's own helpers for 16-bit floats, which travel in vector registers: as _Float16, whatever their format.

using Register16 = _Float16;

Register16 inRegister(std::uint16_t bits) { return std::bit_cast<Register16>(bits); }
std::uint16_t bitsOf(Register16 value) { return std::bit_cast<std::uint16_t>(value); }

float extendHalf(Register16 value) { return halfToFloat(bitsOf(value)); }
double extendHalfToDouble(Register16 value) { return double(extendHalf(value)); }
Register16 truncateToHalf(float value) { return inRegister(floatToHalf(value)); }

/// The float between `value` and zero whose last bit tells that something was cut off: rounding it once more is then
/// rounding `value`.
float roundedToOdd(double value) {
  const float nearest = float(value);
  if (std::isnan(value) || double(nearest) == value) return nearest;
  const float towardsZero = std::abs(double(nearest)) > std::abs(value) ? std::nextafter(nearest, 0.0f) : nearest;
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(towardsZero) | 1u);
}

Register16 truncateDoubleToHalf(double value) { return truncateToHalf(roundedToOdd(value)); }
Register16 truncateToBfloat(float value) { return inRegister(BFloat16(value).bits); }
Register16 truncateDoubleToBfloat(double value) { return truncateToBfloat(roundedToOdd(value)); }
float extendBfloat(Register16 value) {
  BFloat16 wide;
  wide.bits = bitsOf(value);
  return wide;
}

/// A power by repeated squaring, as the compiler's run-time library does it.
template <class Real>
Real integerPower(Real base, int exponent) {
  Real result = 1;
  for (auto left = std::uint32_t(exponent < 0 ? -std::int64_t(exponent) : exponent); left != 0; left >>= 1) {
    if (left & 1) result *= base;
    base *= base;
  }
  return exponent < 0 ? 1 / result : result;
}

int compareBytes(const void* a, const void* b, std::size_t size) { return std::memcmp(a, b, size); }

void fillPattern16(void* to, const void* pattern, std::size_t size) {
  auto* bytes = static_cast<unsigned char*>(to);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<const unsigned char*>(pattern)[i % 16];
}

template <class R, class... A>
void* addressOf(R (*function)(A...)) {
  return reinterpret_cast<void*>(function);
}

template <class... T>
using F = float (*)(float, T...);
template <class... T>
using D = double (*)(double, T...);

#define KERF_MATH(name, ...) \
  {#name "f", addressOf(F<__VA_ARGS__>(::name##f))}, { #name, addressOf(D<__VA_ARGS__>(::name)) }
#define KERF_MATH2(name) \
  {#name "f", addressOf(F<float>(::name##f))}, { #name, addressOf(D<double>(::name)) }

const RuntimeSymbol symbols[] = {
    // called by name
    KERF_MATH(exp),
    KERF_MATH(exp2),
    KERF_MATH(expm1),
    KERF_MATH(log),
    KERF_MATH(log2),
    KERF_MATH(log10),
    KERF_MATH(log1p),
    KERF_MATH(sqrt),
    KERF_MATH(sin),
    KERF_MATH(cos),
    KERF_MATH(tan),
    KERF_MATH(asin),
    KERF_MATH(acos),
    KERF_MATH(atan),
    KERF_MATH(sinh),
    KERF_MATH(cosh),
    KERF_MATH(tanh),
    KERF_MATH(asinh),
    KERF_MATH(acosh),
    KERF_MATH(atanh),
    KERF_MATH(erf),
    KERF_MATH(erfc),
    KERF_MATH(floor),
    KERF_MATH(ceil),
    KERF_MATH(trunc),
    KERF_MATH(rint),
    KERF_MATH(nearbyint),
    KERF_MATH(fabs),
    KERF_MATH2(pow),
    KERF_MATH2(fmod),
    KERF_MATH2(atan2),
    KERF_MATH2(hypot),
    KERF_MATH2(copysign),
    KERF_MATH2(fmin),
    KERF_MATH2(fmax),
    {"kerf_half_to_float", addressOf(halfToFloat)},
    {"kerf_float_to_half", addressOf(floatToHalf)},
    {"kerf_finish_streams", addressOf(finishStreams)},
    // what the optimizer and the code generator make of those and of instructions
    {"sincosf", addressOf(::sincosf)},
    {"sincos", addressOf(::sincos)},
    KERF_MATH(exp10),
    KERF_MATH(cbrt),
    KERF_MATH(round),
    KERF_MATH(roundeven),
    KERF_MATH(tgamma),
    KERF_MATH(lgamma),
    KERF_MATH(ldexp, int),
    {"fma", addressOf(static_cast<double (*)(double, double, double)>(::fma))},
    {"fmaf", addressOf(static_cast<float (*)(float, float, float)>(::fmaf))},
    {"memset", addressOf(::memset)},
    {"memcpy", addressOf(::memcpy)},
    {"memmove", addressOf(::memmove)},
    {"memcmp", addressOf(compareBytes)},
    {"bcmp", addressOf(compareBytes)},
    {"memset_pattern16", addressOf(fillPattern16)},
    {"__powisf2", addressOf(integerPower<float>)},
    {"__powidf2", addressOf(integerPower<double>)},
    {"__extendhfsf2", addressOf(extendHalf)},
    {"__extendhfdf2", addressOf(extendHalfToDouble)},
    {"__truncsfhf2", addressOf(truncateToHalf)},
    {"__truncdfhf2", addressOf(truncateDoubleToHalf)},
    {"__extendbfsf2", addressOf(extendBfloat)},
    {"__truncsfbf2", addressOf(truncateToBfloat)},
    {"__truncdfbf2", addressOf(truncateDoubleToBfloat)},
    {"__gnu_h2f_ieee", addressOf(halfToFloat)},
    {"__gnu_f2h_ieee", addressOf(floatToHalf)},
};

}  // namespace

std::span<const RuntimeSymbol> runtimeSymbols() { return symbols; }

}  // namespace kerf::inline codegen_llvm
