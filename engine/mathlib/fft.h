// Fft: discrete Fourier transforms of any length in double precision.
#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <vector>

namespace kerf::inline mathlib {

/// Transform of one length: mixed radix for lengths with small prime factors, Bluestein's chirp otherwise. Unscaled.
class Fft {
 public:
  using Z = std::complex<double>;

  explicit Fft(std::int64_t length);
  std::int64_t length() const { return m_length; }
  /// x[k] = Σ x[j] exp(∓2πi jk / n), minus for `forward`; in place, `length()` elements.
  void run(Z* x, bool forward) const;

 private:
  void mixedRadix(const Z* in, std::int64_t step, Z* out, std::int64_t n, std::size_t level, Z* scratch) const;
  void chirp(Z* x) const;

  std::int64_t m_length;
  std::vector<std::int64_t> m_factors;
  std::vector<Z> m_roots;        ///< exp(-2πi k / n)
  std::vector<Z> m_chirp;        ///< exp(-πi k² / n)
  std::vector<Z> m_kernel;       ///< transform of the conjugate chirp, divided by its length
  std::shared_ptr<Fft> m_inner;  ///< power of two for Bluestein
};

}  // namespace kerf::inline mathlib
