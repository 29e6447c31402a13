// Functions of Python itself that only compute.
#include "engine/capture/audit/call_tables.h"

namespace kerf::inline capture {

/// Behind "operator.".
const CallNames& operatorFunctions() {
  static const CallNames names(R"(
    getitem setitem add sub mul truediv div floordiv mod pow neg pos invert not_ abs index eq ne lt le gt ge and_
    or_ xor lshift rshift matmul is_ is_not contains truth iadd isub imul itruediv ifloordiv imod ipow iand ior ixor
    ilshift irshift imatmul concat countOf indexOf inv delitem length_hint iconcat)");
  return names;
}

/// Behind "math.".
const CallNames& mathFunctions() {
  static const CallNames names(R"(
    acos acosh asin asinh atan atan2 atanh ceil comb copysign cos cosh degrees dist erf erfc exp expm1 fabs
    factorial floor fmod frexp fsum gamma gcd hypot isclose isfinite isinf isnan isqrt ldexp lgamma log log10 log1p
    log2 pow prod radians remainder sin sinh sqrt tan tanh trunc)");
  return names;
}

/// Behind "builtins.", which no file writes. Of those that call what they are given (iter, map, filter) none.
const CallNames& builtinFunctions() {
  static const CallNames names(R"(
    abs all any bool complex dict divmod enumerate float int isinstance len list max min next pow print range
    reversed round set slice sorted str sum tuple zip)");
  return names;
}

/// Names that captures import or define themselves.
const CallNames& boundNames() {
  static const CallNames names(R"(
    device tensor slice complex float rand_strided einops.rearrange)");
  return names;
}

}  // namespace kerf::inline capture
