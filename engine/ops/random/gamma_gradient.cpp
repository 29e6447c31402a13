// How a gamma draw changes with its shape while its probability stays what it is (implicit reparameterization):
// dx/dα = -∂P(α, x)/∂α / p(x; α), with P the distribution and p its density.
#include <cmath>

#include "engine/ops/core/op_registration.h"
#include "engine/ops/pointwise/engine.h"
#include "engine/ops/pointwise/special_functions.h"

namespace kerf::inline ops {
namespace {

/// Where x is not above α: P is Σ xᵏ⁺ᵅ e⁻ˣ / Γ(α+k+1), whose terms all fall with α.
double belowMean(double alpha, double x) {
  double ratio = 1, digamma = special::digamma(alpha + 1), sum = 0;
  const double logarithm = std::log(x);
  for (int k = 0; k < 1000000; ++k) {
    const double term = ratio * (digamma - logarithm);
    sum += term;
    const double next = alpha + k + 1;
    ratio *= x / next;
    digamma += 1 / next;
    if (std::abs(term) < 1e-17 * std::abs(sum) || ratio < 1e-300) break;
  }
  return x / alpha * sum;
}

constexpr double nodes[] = {0.1834346424956498, 0.5255324099163290, 0.7966664774136267, 0.9602898564975363};
constexpr double weights[] = {0.3626837833783620, 0.3137066458778873, 0.2223810344533745, 0.1012285362903763};

/// Above: 1 - P is p · x ∫ exp(αu - x(eᵘ - 1)) du over u > 0, whose slope by α is a sum of two positive parts. By
/// Gauss's rule on panels.
double aboveMean(double alpha, double x) {
  const auto exponent = [&](double u) { return alpha * u - x * std::expm1(u); };
  double end = 1;
  while (exponent(end) > -45) end *= 1.25;
  while (end > 1e-12 && exponent(end / 1.25) < -45) end /= 1.25;
  const double slope = std::log(x) - special::digamma(alpha);
  constexpr int panels = 96;
  const double half = end / panels / 2;
  double sum = 0;
  for (int panel = 0; panel < panels; ++panel)
    for (int i = 0; i < 4; ++i)
      for (const double side : {-1.0, 1.0}) {
        const double u = half * (2 * panel + 1 + side * nodes[i]);
        sum += weights[i] * (slope + u) * std::exp(exponent(u));
      }
  return x * half * sum;
}

double gammaGradient(double alpha, double x) {
  if (!(alpha > 0) || !(x >= 0) || std::isinf(alpha) || std::isinf(x)) return std::nan("");
  if (x == 0) return 0;
  return x <= alpha ? belowMean(alpha, x) : aboveMean(alpha, x);
}

KERF_ELEMENT2(StandardGammaGrad, gammaGradient(double(x), double(y)));

constexpr PointwiseSpec gammaGradientSpec = floatSpec<StandardGammaGrad>();

constexpr OpRow gammaGradientRows[] = {
    pointwiseRow("aten::_standard_gamma_grad(Tensor self, Tensor output) -> Tensor", gammaGradientSpec),
};

const OpRegistration gammaGradientOps({.rows = gammaGradientRows});

}  // namespace

}  // namespace kerf::inline ops
