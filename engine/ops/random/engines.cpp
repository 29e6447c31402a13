#include "engine/ops/random/engines.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace kerf::inline ops {

void CpuGenerator::reseed(std::uint64_t seed) {
  m_state[0] = std::uint32_t(seed);
  for (std::uint32_t i = 1; i < m_state.size(); ++i)
    m_state[i] = 1812433253u * (m_state[i - 1] ^ (m_state[i - 1] >> 30)) + i;
  m_next = m_state.size();
  m_normal.reset();
}

std::uint32_t CpuGenerator::random() {
  const std::size_t n = m_state.size();
  if (m_next == n) {
    for (std::size_t i = 0; i < n; ++i) {
      const std::uint32_t mixed = (m_state[i] & 0x80000000u) | (m_state[(i + 1) % n] & 0x7fffffffu);
      m_state[i] = m_state[(i + 397) % n] ^ (mixed >> 1) ^ (mixed & 1 ? 0x9908b0dfu : 0);
    }
    m_next = 0;
  }
  std::uint32_t word = m_state[m_next++];
  word ^= word >> 11;
  word ^= (word << 7) & 0x9d2c5680u;
  word ^= (word << 15) & 0xefc60000u;
  return word ^ (word >> 18);
}

double CpuGenerator::normal() {
  if (m_normal) {
    const double value = *m_normal;
    m_normal.reset();
    return value;
  }
  const double first = uniformDouble(), second = uniformDouble();
  const double radius = std::sqrt(-2.0 * std::log1p(-second)), angle = 2.0 * M_PI * first;
  m_normal = radius * std::sin(angle);
  return radius * std::cos(angle);
}

std::array<std::uint32_t, CpuGenerator::stateWords> CpuGenerator::state() const {
  std::array<std::uint32_t, stateWords> words{};
  std::ranges::copy(m_state, words.begin());
  const auto normal = std::bit_cast<std::uint64_t>(m_normal.value_or(0));
  const std::uint32_t rest[] = {std::uint32_t(m_next), std::uint32_t(m_normal.has_value()), std::uint32_t(normal),
                                std::uint32_t(normal >> 32)};
  std::ranges::copy(rest, words.begin() + std::ptrdiff_t(m_state.size()));
  return words;
}

void CpuGenerator::setState(std::span<const std::uint32_t, stateWords> words) {
  const std::size_t n = m_state.size();
  std::ranges::copy(words.first(n), m_state.begin());
  m_next = std::min<std::size_t>(words[n], n);
  m_normal.reset();
  if (words[n + 1] != 0) m_normal = std::bit_cast<double>(std::uint64_t(words[n + 3]) << 32 | words[n + 2]);
}

PhiloxWords philox(std::uint64_t key, std::uint64_t low, std::uint64_t high) {
  PhiloxWords counter{std::uint32_t(low), std::uint32_t(low >> 32), std::uint32_t(high), std::uint32_t(high >> 32)};
  std::array<std::uint32_t, 2> keys{std::uint32_t(key), std::uint32_t(key >> 32)};
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = std::uint64_t{0xD2511F53u} * counter[0];
    const std::uint64_t b = std::uint64_t{0xCD9E8D57u} * counter[2];
    counter = {std::uint32_t(b >> 32) ^ counter[1] ^ keys[0], std::uint32_t(b),
               std::uint32_t(a >> 32) ^ counter[3] ^ keys[1], std::uint32_t(a)};
    keys[0] += 0x9E3779B9u;
    keys[1] += 0xBB67AE85u;
  }
  return counter;
}

PhiloxWords PhiloxStream::next() {
  const PhiloxWords here = philox(m_seed, m_block, m_subsequence);
  ++m_block;
  if (m_skip == 0) return here;
  const PhiloxWords after = philox(m_seed, m_block, m_subsequence);
  PhiloxWords result{};
  for (std::size_t i = 0; i < 4; ++i) result[i] = i + m_skip < 4 ? here[i + m_skip] : after[i + m_skip - 4];
  return result;
}

namespace {

/// Cephes' logf for x in (0, 1].
float logarithm(float x) {
  x = std::max(x, std::bit_cast<float>(0x00800000u));
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(x);
  float exponent = float(std::int32_t(bits >> 23) - 0x7f) + 1.0f;
  float m = std::bit_cast<float>((bits & ~0x7f800000u) | std::bit_cast<std::uint32_t>(0.5f));
  const bool small = m < 0.707106781186547524f;
  const float half = small ? m : 0.0f;
  m -= 1.0f;
  exponent -= small ? 1.0f : 0.0f;
  m += half;
  const float z = m * m;
  static constexpr float coefficients[] = {7.0376836292E-2f,  -1.1514610310E-1f, 1.1676998740E-1f,
                                           -1.2420140846E-1f, 1.4249322787E-1f,  -1.6668057665E-1f,
                                           2.0000714765E-1f,  -2.4999993993E-1f, 3.3333331174E-1f};
  float y = coefficients[0];
  for (int i = 1; i < 9; ++i) y = std::fma(y, m, coefficients[i]);
  y *= m;
  y = std::fma(y, z, exponent * -2.12194440e-4f);
  y = std::fma(z, -0.5f, y);
  m += y;
  return std::fma(exponent, 0.693359375f, m);
}

struct SineCosine {
  float sine, cosine;
};

/// Cephes' sinf and cosf for x >= 0.
SineCosine sineCosine(float x) {
  const std::int32_t octant = (std::int32_t(x * 1.27323954473516f) + 1) & ~1;
  const float y = float(octant);
  x = std::fma(y, -0.78515625f, x);
  x = std::fma(y, -2.4187564849853515625e-4f, x);
  x = std::fma(y, -3.77489497744594108e-8f, x);
  const float z = x * x;
  float cosine = std::fma(2.443315711809948E-005f, z, -1.388731625493765E-003f);
  cosine = std::fma(cosine, z, 4.166664568298827E-002f);
  cosine *= z;
  cosine = std::fma(cosine, z, -(z * 0.5f)) + 1.0f;
  float sine = std::fma(-1.9515295891E-4f, z, 8.3321608736E-3f);
  sine = std::fma(sine, z, -1.6666654611E-1f);
  sine *= z;
  sine = std::fma(sine, x, x);
  const bool swapped = (octant & 2) != 0;
  const float s = swapped ? cosine : sine, c = swapped ? sine : cosine;
  return {octant & 4 ? -s : s, ((octant - 2) & 4) ? c : -c};
}

}  // namespace

void normalFill16(float* data, float mean, float std) {
  for (int i = 0; i < 8; ++i) {
    const float radius = std::sqrt(-2.0f * logarithm(1.0f - data[i]));
    const SineCosine turn = sineCosine(float(2.0 * M_PI) * data[i + 8]);
    data[i] = std::fma(radius * turn.cosine, std, mean);
    data[i + 8] = std::fma(radius * turn.sine, std, mean);
  }
}

}  // namespace kerf::inline ops
