// NumberSet: whole numbers that are taken, kept as runs, so that the next free one is found however many are taken.
#pragma once

#include <cstdint>
#include <map>

namespace kerf::inline support {

class NumberSet {
 public:
  void insert(std::int64_t number);
  void erase(std::int64_t number);
  bool contains(std::int64_t number) const;
  /// The least number above `number` that is not in the set.
  std::int64_t nextFree(std::int64_t number) const;

 private:
  using Runs = std::map<std::int64_t, std::int64_t>;  ///< first to last; between two runs at least one number is free
  Runs::const_iterator runOf(std::int64_t number) const;
  Runs m_runs;
};

}  // namespace kerf::inline support
