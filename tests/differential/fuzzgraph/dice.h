// Dice: random choices that are the same for a seed on every machine (the distributions of <random> are not).
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

namespace kerf::fuzzgraph {

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : m_state(seed * 0x9e3779b97f4a7c15ULL + 0x6b657266) {}

  /// splitmix64.
  std::uint64_t next() {
    std::uint64_t z = (m_state += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }
  /// In [0, count); `count` must not be 0.
  std::size_t below(std::size_t count) { return std::size_t(next() % count); }
  /// In [low, high].
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + std::int64_t(below(std::size_t(high - low + 1)));
  }
  bool chance(int percent) { return below(100) < std::size_t(percent); }
  /// In [low, high).
  double real(double low, double high) { return low + (high - low) * (double(next() >> 11) * 0x1p-53); }
  template <class T>
  const T& pick(const std::vector<T>& items) {
    return items[below(items.size())];
  }
  template <class T>
  T pick(std::initializer_list<T> items) {
    return items.begin()[below(items.size())];
  }

 private:
  std::uint64_t m_state;
};

}  // namespace kerf::fuzzgraph
