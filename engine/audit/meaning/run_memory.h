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
  enum class State : std::uint8_t { Empty, Known, Unknown };

  RunMemory() = default;
  RunMemory(LaneType of, std::size_t count)
      : type(of), m_numbers(count), m_states(count, State::Empty), m_missing(count) {}
  RunMemory(LaneType of, NumberArray known) : type(of), m_numbers(std::move(known)) {}

  std::size_t size() const { return m_numbers.size(); }
  const NumberArray& numbers() const { return m_numbers; }
  bool isKnown() const { return m_missing == 0; }
  bool isKnown(std::size_t at) const { return m_missing == 0 || m_states[at] == State::Known; }
  /// For changes of numbers; what is set there is to be noted.
  double* edit() { return m_numbers.edit(); }
  void note(std::size_t at) {
    if (m_missing == 0 || std::exchange(m_states[at], State::Known) == State::Known) return;
    --m_missing;
  }
  void lose(std::size_t at) {
    if (m_missing == 0) m_states.assign(size(), State::Known);
    if (std::exchange(m_states[at], State::Unknown) == State::Known) ++m_missing;
  }
  void blur() { setAll(State::Unknown); }
  void empty() { setAll(State::Empty); }
  /// All of it is known from now on.
  void adopt(NumberArray numbers) {
    m_numbers = std::move(numbers);
    m_missing = 0;
  }

  LaneType type = LaneType::Float32;
  bool isResult = false;  ///< of an operator: it lies as the program asserts

 private:
  void setAll(State state) {
    m_states.assign(size(), state);
    m_missing = size();
  }

  NumberArray m_numbers;
  std::vector<State> m_states;  ///< they count while some are missing
  std::size_t m_missing = 0;    ///< elements that are not known
};

}  // namespace kerf::inline audit
