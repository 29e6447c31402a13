// RunMemory: elements that tensors of the program look at, as doubles, and which of them are known.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "engine/audit/meaning/lanes.h"

namespace kerf::inline audit {

class RunMemory {
 public:
  RunMemory() = default;
  /// Nothing of it is known.
  RunMemory(LaneType of, std::size_t count) : type(of), m_numbers(count) { blur(); }
  RunMemory(LaneType of, NumberArray known) : type(of), m_numbers(std::move(known)) {}

  std::size_t size() const { return m_numbers.size(); }
  const NumberArray& numbers() const { return m_numbers; }
  bool isKnown() const { return m_missing == 0; }
  bool isKnown(std::size_t at) const { return m_missing == 0 || (m_known[at / 64] >> (at % 64) & 1) != 0; }
  /// For changes of numbers; what is set there is to be noted.
  double* edit() { return m_numbers.edit(); }
  void note(std::size_t at) {
    if (m_missing == 0 || isKnown(at)) return;
    m_known[at / 64] |= std::uint64_t(1) << (at % 64);
    --m_missing;
  }
  void lose(std::size_t at) {
    if (m_missing == 0) m_known.assign(size() / 64 + 1, ~std::uint64_t(0));
    if (m_missing != 0 && !isKnown(at)) return;
    m_known[at / 64] &= ~(std::uint64_t(1) << (at % 64));
    ++m_missing;
  }
  void blur() {
    m_known.assign(size() / 64 + 1, 0);
    m_missing = size();
  }
  /// All of it is known from now on.
  void adopt(NumberArray numbers) {
    m_numbers = std::move(numbers);
    m_missing = 0;
  }

  LaneType type = LaneType::Float32;
  bool isResult = false;  ///< of an operator: it lies as the program asserts

 private:
  NumberArray m_numbers;
  std::vector<std::uint64_t> m_known;  ///< a bit for each element; they count while some are missing
  std::size_t m_missing = 0;           ///< elements that are not known
};

}  // namespace kerf::inline audit
