#include "engine/mathlib/fft.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace kerf::inline mathlib {
namespace {

using Z = Fft::Z;
constexpr std::int64_t largestRadix = 31;

/// exp(-2πi k / n), by the octant so that the arguments of sin and cos stay small.
Z rootOfUnity(std::int64_t k, std::int64_t n) {
  const long double angle =
      2 * std::numbers::pi_v<long double> * static_cast<long double>(k) / static_cast<long double>(n);
  return {double(std::cos(angle)), double(-std::sin(angle))};
}

std::vector<std::int64_t> smallFactors(std::int64_t n) {
  std::vector<std::int64_t> factors;
  for (std::int64_t p : {std::int64_t{4}, std::int64_t{2}})
    for (; n % p == 0; n /= p) factors.push_back(p);
  for (std::int64_t p = 3; p <= largestRadix; p += 2)
    for (; n % p == 0; n /= p) factors.push_back(p);
  if (n > 1) factors.clear();
  return factors;
}

Z times(Z a, Z b) { return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()}; }

}  // namespace

Fft::Fft(std::int64_t length) : m_length(length) {
  if (length < 2) return;
  m_factors = smallFactors(length);
  if (!m_factors.empty()) {
    for (std::int64_t k = 0; k < length; ++k) m_roots.push_back(rootOfUnity(k, length));
    return;
  }
  std::int64_t padded = 1;
  while (padded < 2 * length - 1) padded *= 2;
  m_inner = std::make_shared<Fft>(padded);
  for (std::int64_t k = 0; k < length; ++k) {
    const auto square = std::int64_t(static_cast<unsigned __int128>(k) * static_cast<unsigned __int128>(k) %
                                     static_cast<unsigned __int128>(2 * length));
    m_chirp.push_back(rootOfUnity(square, 2 * length));
  }
  m_kernel.assign(std::size_t(padded), Z(0));
  for (std::size_t k = 0; k < m_chirp.size(); ++k) {
    const Z value = std::conj(m_chirp[k]) / double(padded);
    m_kernel[k] = value;
    if (k > 0) m_kernel[m_kernel.size() - k] = value;
  }
  m_inner->run(m_kernel.data(), true);
}

/// Decimation in time: the p interleaved sub-sequences of length n / p, then butterflies of radix p.
void Fft::mixedRadix(const Z* in, std::int64_t step, Z* out, std::int64_t n, std::size_t level, Z* scratch) const {
  if (n == 1) {
    out[0] = in[0];
    return;
  }
  const std::int64_t p = m_factors[level], m = n / p, rootStep = m_length / n;
  for (std::int64_t k = 0; k < p; ++k) mixedRadix(in + k * step, step * p, out + k * m, m, level + 1, scratch);
  for (std::int64_t j = 0; j < m; ++j) {
    for (std::int64_t k = 0; k < p; ++k) scratch[k] = times(out[k * m + j], m_roots[std::size_t(j * k * rootStep)]);
    if (p == 2) {
      out[j] = scratch[0] + scratch[1];
      out[j + m] = scratch[0] - scratch[1];
      continue;
    }
    if (p == 4) {
      const Z even = scratch[0] + scratch[2], odd = scratch[0] - scratch[2];
      const Z sum = scratch[1] + scratch[3], difference = scratch[1] - scratch[3];
      const Z turned{difference.imag(), -difference.real()};  // -i times it
      out[j] = even + sum;
      out[j + m] = odd + turned;
      out[j + 2 * m] = even - sum;
      out[j + 3 * m] = odd - turned;
      continue;
    }
    for (std::int64_t q = 0; q < p; ++q) {
      Z total = scratch[0];
      for (std::int64_t k = 1; k < p; ++k) total += times(scratch[k], m_roots[std::size_t(k * q % p * (m_length / p))]);
      out[j + q * m] = total;
    }
  }
}

/// Bluestein: jk = (j² + k² - (k - j)²) / 2 makes the transform a convolution, done with powers of two.
void Fft::chirp(Z* x) const {
  std::vector<Z> work(m_kernel.size(), Z(0));
  for (std::size_t k = 0; k < m_chirp.size(); ++k) work[k] = times(x[k], m_chirp[k]);
  m_inner->run(work.data(), true);
  for (std::size_t k = 0; k < work.size(); ++k) work[k] = times(work[k], m_kernel[k]);
  m_inner->run(work.data(), false);
  for (std::size_t k = 0; k < m_chirp.size(); ++k) x[k] = times(work[k], m_chirp[k]);
}

void Fft::run(Z* x, bool forward) const {
  if (m_length < 2) return;
  const auto conjugateAll = [&] {
    if (!forward) std::for_each(x, x + m_length, [](Z& z) { z = std::conj(z); });
  };
  conjugateAll();
  if (m_inner) {
    chirp(x);
  } else {
    const std::vector<Z> in(x, x + m_length);
    Z scratch[largestRadix + 1];
    mixedRadix(in.data(), 1, x, m_length, 0, scratch);
  }
  conjugateAll();
}

}  // namespace kerf::inline mathlib
