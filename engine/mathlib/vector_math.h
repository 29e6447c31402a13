// Elementary functions over runs of doubles with vector instructions. Errors stay below 4 units in the last place (most
// below 1.5), so a float result that is rounded from them is the nearest float in all but a few of 10^8 cases.
#pragma once

#include <cstdint>

namespace kerf::inline mathlib {

enum class VectorFunction : std::uint8_t {
  Exp,
  Exp2,
  Expm1,
  Log,
  Log2,
  Log10,
  Log1p,
  Sin,
  Cos,
  Tan,
  Asin,
  Acos,
  Atan,
  Sinh,
  Cosh,
  Tanh,
  Asinh,
  Acosh,
  Atanh,
  Erf,
  Erfc,
  Pow,    ///< two operands
  Atan2,  ///< two operands
  Hypot,  ///< two operands
};

/// y[i] = function(x[i]); y may be x. Zeros, infinities, NaNs and subnormals as the C library gives them.
void vectorMath(VectorFunction function, const double* x, double* y, std::int64_t count);
/// out[i] = function(x[i], y[i]) for the functions of two operands; out may be x or y.
void vectorMath(VectorFunction function, const double* x, const double* y, double* out, std::int64_t count);

/// y[i] = e^x[i], within 1 unit in the last place; the fastest of all.
void vectorExp(const double* x, double* y, std::int64_t count);
/// The same for floats, computed in double and rounded once.
void vectorExp(const float* x, float* y, std::int64_t count);

}  // namespace kerf::inline mathlib
