// Random number engines as PyTorch uses them: mt19937 on the CPU, Philox 4x32-10 on CUDA and in Inductor's code.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

namespace kerf::inline ops {

/// The Mersenne twister MT19937 (Matsumoto and Nishimura 1998) with the state that at::CPUGeneratorImpl keeps beside
/// it.
class CpuGenerator {
 public:
  explicit CpuGenerator(std::uint64_t seed) { reseed(seed); }
  /// Only the low 32 bits of the seed count.
  void reseed(std::uint64_t seed);
  std::uint32_t random();
  /// The first draw gives the high half.
  std::uint64_t random64() {
    const std::uint64_t high = random();
    return high << 32 | random();
  }
  /// 53 or 24 bits scaled into [0, 1).
  double uniformDouble() { return double(random64() & ((std::uint64_t{1} << 53) - 1)) * 0x1p-53; }
  double uniformFloat() { return double(random() & ((1u << 24) - 1)) * 0x1p-24; }
  /// Standard normal in double by Box-Muller; the second of a pair is kept for the next call.
  double normal();

  /// What the next draws depend on, as words; taken from such words again.
  static constexpr std::size_t stateWords = 628;
  std::array<std::uint32_t, stateWords> state() const;
  void setState(std::span<const std::uint32_t, stateWords> words);

 private:
  std::array<std::uint32_t, 624> m_state{};
  std::size_t m_next = 0;
  std::optional<double> m_normal;
};

using PhiloxWords = std::array<std::uint32_t, 4>;

/// The four words of Philox 4x32-10 (Salmon et al. 2011) for a key and a 128-bit counter.
PhiloxWords philox(std::uint64_t key, std::uint64_t low, std::uint64_t high);

/// One thread's stream as curand_init(seed, subsequence, offset) sets it up; four words a call.
class PhiloxStream {
 public:
  PhiloxStream(std::uint64_t seed, std::uint64_t subsequence, std::uint64_t offset)
      : m_seed(seed), m_subsequence(subsequence), m_block(offset / 4), m_skip(offset % 4) {}
  PhiloxWords next();

 private:
  std::uint64_t m_seed, m_subsequence, m_block, m_skip;
};

/// Fills 16 normals in float from 16 uniforms as PyTorch's AVX2 code does (Cephes' polynomials, fused multiply-adds).
void normalFill16(float* data, float mean, float std);

}  // namespace kerf::inline ops
