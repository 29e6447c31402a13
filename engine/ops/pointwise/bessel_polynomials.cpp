// torch.special's Bessel and Airy functions and orthogonal polynomials.
#include <cmath>

#include "engine/ops/core/composite.h"
#include "engine/ops/core/op_registration.h"
#include "engine/ops/pointwise/engine.h"
#include "engine/ops/pointwise/special_functions.h"

namespace kerf::inline ops {
namespace {

constexpr double endless = std::numeric_limits<double>::infinity();
constexpr double undefined = std::numeric_limits<double>::quiet_NaN();

/// Second kind: -inf at 0, undefined below.
template <double (*function)(double)>
double besselY(double x) {
  if (std::isnan(x) || x < 0) return undefined;
  return x == 0 ? -endless : function(x);
}

/// K of order 0 or 1; near 0 by its first term (DLMF 10.30), where the C++ library's series does not end.
double besselK(double order, double x) {
  constexpr double eulerGamma = 0.57721566490153286, small = 1e-9;
  if (x >= small) return std::cyl_bessel_k(order, x);
  return order == 0 ? -std::log(x / 2) - eulerGamma : 1 / x;
}

/// exp(x)·K_order(x) by its asymptotic series where K underflows.
double scaledK(double order, double x) {
  if (std::isnan(x) || x < 0) return undefined;
  if (x == 0) return endless;
  if (std::isinf(x)) return 0;
  if (x < 600) return std::exp(x) * besselK(order, x);
  const double m = 4 * order * order;
  double term = 1, sum = 1;
  for (int k = 1; k < 12; ++k) {
    term *= (m - (2 * k - 1) * (2 * k - 1)) / (k * 8 * x);
    sum += term;
  }
  return std::sqrt(M_PI / (2 * x)) * sum;
}
double modifiedK(double order, double x) {
  if (std::isnan(x) || x < 0) return undefined;
  if (x == 0) return endless;
  return x > 700 ? scaledK(order, x) * std::exp(-x) : besselK(order, x);
}

/// Ai through Bessel functions of order 1/3 (DLMF 9.6); PyTorch gives NaN at infinity and 0 beyond 103.892.
double airyAi(double x) {
  if (!std::isfinite(x)) return undefined;
  if (x > 103.892) return 0;
  if (std::abs(x) < 1e-8) return 0.355028053887817239 - 0.258819403792806798 * x;
  const double z = std::abs(x), argument = 2.0 / 3 * z * std::sqrt(z);
  if (x > 0) return std::sqrt(z / 3) / M_PI * std::cyl_bessel_k(1.0 / 3, argument);
  const double j = std::cyl_bessel_j(1.0 / 3, argument), y = std::cyl_neumann(1.0 / 3, argument);
  return std::sqrt(z) / 3 * (j + 0.5 * j - std::sqrt(3.0) / 2 * y);
}

double sphericalJ0(double x) {
  if (std::isinf(x)) return 0;
  const double square = x * x;
  if (std::abs(x) < 0.5) return 1 - square / 6 * (1 - square / 20 * (1 - square / 42 * (1 - square / 72)));
  return std::sin(x) / x;
}

// Orthogonal polynomials of degree n (truncated to an integer; 0 below degree 0)

enum class Polynomial : std::uint8_t {
  ChebyshevT,
  ChebyshevU,
  ChebyshevV,
  ChebyshevW,
  HermiteH,
  HermiteHe,
  Laguerre,
  Legendre
};

template <class T>
T firstDegree(Polynomial kind, T x) {
  switch (kind) {
    case Polynomial::ChebyshevU:
    case Polynomial::HermiteH:
      return x + x;
    case Polynomial::ChebyshevV:
      return x + x - 1;
    case Polynomial::ChebyshevW:
      return x + x + 1;
    case Polynomial::Laguerre:
      return 1 - x;
    default:
      return x;
  }
}

/// Degree k + 1 from degrees k and k - 1, rounded as PyTorch's kernels round: the first product is fused with the
/// difference.
template <class T>
T nextDegree(Polynomial kind, T x, T k, T own, T before) {
  switch (kind) {
    case Polynomial::HermiteH:
      return std::fma(x + x, own, -(2 * k * before));
    case Polynomial::HermiteHe:
      return std::fma(x, own, -(k * before));
    case Polynomial::Laguerre:
      return std::fma(k + k + (1 - x), own, -(k * before)) / (k + 1);
    case Polynomial::Legendre:
      return std::fma((k + k + 1) * x, own, -(k * before)) / (k + 1);
    default:
      return std::fma(x + x, own, -before);
  }
}

/// Chebyshev polynomials of high degree inside of (-1, 1) by their cosines; NaN where that does not apply.
template <class T>
T chebyshevByAngle(Polynomial kind, T x, T n, bool shifted) {
  const int recurrence = shifted ? (kind == Polynomial::ChebyshevW ? 4 : 6) : kind == Polynomial::ChebyshevT ? 6 : 8;
  if (!(std::abs(x) < 1) || n <= recurrence) return T(undefined);
  const T angle = std::acos(x), half = angle / 2;
  if (kind == Polynomial::ChebyshevT) return std::cos(n * angle);
  if (kind == Polynomial::ChebyshevU) return std::sin((n + 1) * angle) / std::sin(angle);
  if (kind == Polynomial::ChebyshevV) return std::cos((n + T(0.5)) * angle) / std::cos(half);
  if (kind == Polynomial::ChebyshevW) return std::sin((n + T(0.5)) * angle) / std::sin(half);
  return T(undefined);
}

/// Degrees above this are not summed (PyTorch's own Hermite limits are lower: 512, or 128 in float).
constexpr double mostDegrees = 100000;

/// `shifted`: x has been moved from [0, 1] to [-1, 1].
template <class T>
T polynomial(Polynomial kind, T x, T degree, bool shifted) {
  if (std::isnan(degree)) return T(undefined);
  const T n = std::trunc(degree);
  if (n < 0) return 0;
  if (n == 0) return 1;
  const bool hermite = kind == Polynomial::HermiteH || kind == Polynomial::HermiteHe;
  if (hermite && n > (std::is_same_v<T, float> ? 128 : 512)) return T(undefined);
  if (kind == Polynomial::Laguerre && x == 0) return 1;
  if (const T value = chebyshevByAngle(kind, x, n, shifted); !std::isnan(value)) return value;
  if (n > mostDegrees) return T(undefined);
  T before = 1, own = firstDegree(kind, x);
  for (T k = 1; k < n && !std::isnan(own); ++k) {
    const T next = nextDegree(kind, x, k, own, before);
    before = own;
    own = next;
  }
  return own;
}

KERF_ELEMENT1(BesselJ0, ::j0(double(x)));
KERF_ELEMENT1(BesselJ1, ::j1(double(x)));
KERF_ELEMENT1(BesselY0, besselY<::y0>(double(x)));
KERF_ELEMENT1(BesselY1, besselY<::y1>(double(x)));
KERF_ELEMENT1(ModifiedI0, special::growing(special::besselI0(double(x)), x));
KERF_ELEMENT1(ModifiedI1, special::growing(special::besselI1(double(x)), x, true));
KERF_ELEMENT1(ModifiedK0, modifiedK(0, double(x)));
KERF_ELEMENT1(ModifiedK1, modifiedK(1, double(x)));
KERF_ELEMENT1(ScaledK0, scaledK(0, double(x)));
KERF_ELEMENT1(ScaledK1, scaledK(1, double(x)));
KERF_ELEMENT1(AiryAi, airyAi(double(x)));
KERF_ELEMENT1(SphericalJ0, sphericalJ0(double(x)));

template <Polynomial kind, bool shifted>
struct PolynomialElement {
  static constexpr int arity = 2;
  template <class T>
  static T apply(T x, T n) {
    return polynomial(kind, shifted ? x + x - 1 : x, n, shifted);
  }
};

template <class F>
constexpr PointwiseSpec toFloat = floatSpec<F>();
template <Polynomial kind, bool shifted>
constexpr PointwiseSpec polynomialSpec = floatSpec<PolynomialElement<kind, shifted>>();

/// The base row with a number for x or n.
Result<Value> withNumber(const BoundArguments& args, const OpRunner& run) {
  return run.value(args.op->base, args.values);
}
constexpr OpRow numberForm(const char* schema, const char* base) {
  return compositeRow(withNumber, schema, OpTrait::None, base);
}

#define KERF_SPECIAL(name, F) pointwiseRow("aten::special_" name "(Tensor self) -> Tensor", toFloat<F>)
#define KERF_POLYNOMIAL(name, kind, shifted)                                                                        \
  pointwiseRow("aten::special_" name "(Tensor x, Tensor n) -> Tensor", polynomialSpec<Polynomial::kind, shifted>),  \
      numberForm("aten::special_" name ".x_scalar(Scalar x, Tensor n) -> Tensor", "aten.special_" name ".default"), \
      numberForm("aten::special_" name ".n_scalar(Tensor x, Scalar n) -> Tensor", "aten.special_" name ".default")

constexpr OpRow specialFunctionRows[] = {
    KERF_SPECIAL("bessel_j0", BesselJ0),
    KERF_SPECIAL("bessel_j1", BesselJ1),
    KERF_SPECIAL("bessel_y0", BesselY0),
    KERF_SPECIAL("bessel_y1", BesselY1),
    KERF_SPECIAL("modified_bessel_i0", ModifiedI0),
    KERF_SPECIAL("modified_bessel_i1", ModifiedI1),
    KERF_SPECIAL("modified_bessel_k0", ModifiedK0),
    KERF_SPECIAL("modified_bessel_k1", ModifiedK1),
    pointwiseRow("aten::special_scaled_modified_bessel_k0(Tensor x) -> Tensor", toFloat<ScaledK0>),
    pointwiseRow("aten::special_scaled_modified_bessel_k1(Tensor x) -> Tensor", toFloat<ScaledK1>),
    pointwiseRow("aten::special_airy_ai(Tensor x) -> Tensor", toFloat<AiryAi>),
    pointwiseRow("aten::special_spherical_bessel_j0(Tensor x) -> Tensor", toFloat<SphericalJ0>),
    KERF_POLYNOMIAL("chebyshev_polynomial_t", ChebyshevT, false),
    KERF_POLYNOMIAL("chebyshev_polynomial_u", ChebyshevU, false),
    KERF_POLYNOMIAL("chebyshev_polynomial_v", ChebyshevV, false),
    KERF_POLYNOMIAL("chebyshev_polynomial_w", ChebyshevW, false),
    KERF_POLYNOMIAL("shifted_chebyshev_polynomial_t", ChebyshevT, true),
    KERF_POLYNOMIAL("shifted_chebyshev_polynomial_u", ChebyshevU, true),
    KERF_POLYNOMIAL("shifted_chebyshev_polynomial_v", ChebyshevV, true),
    KERF_POLYNOMIAL("shifted_chebyshev_polynomial_w", ChebyshevW, true),
    KERF_POLYNOMIAL("hermite_polynomial_h", HermiteH, false),
    KERF_POLYNOMIAL("hermite_polynomial_he", HermiteHe, false),
    KERF_POLYNOMIAL("laguerre_polynomial_l", Laguerre, false),
    KERF_POLYNOMIAL("legendre_polynomial_p", Legendre, false),
};

const OpRegistration specialFunctionOps({.rows = specialFunctionRows});

}  // namespace

}  // namespace kerf::inline ops
