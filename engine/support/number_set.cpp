#include "engine/support/number_set.h"

#include <iterator>

namespace kerf::inline support {

/// The run that the number is in; end() where there is none.
NumberSet::Runs::const_iterator NumberSet::runOf(std::int64_t number) const {
  const auto after = m_runs.upper_bound(number);
  if (after == m_runs.begin()) return m_runs.end();
  const auto run = std::prev(after);
  return number <= run->second ? run : m_runs.end();
}

bool NumberSet::contains(std::int64_t number) const { return runOf(number) != m_runs.end(); }

std::int64_t NumberSet::nextFree(std::int64_t number) const {
  const auto run = runOf(number + 1);
  return run == m_runs.end() ? number + 1 : run->second + 1;
}

void NumberSet::insert(std::int64_t number) {
  if (contains(number)) return;
  std::int64_t first = number, last = number;
  if (const auto before = runOf(number - 1); before != m_runs.end()) first = before->first;
  if (const auto after = m_runs.find(number + 1); after != m_runs.end()) {
    last = after->second;
    m_runs.erase(after);
  }
  m_runs[first] = last;
}

void NumberSet::erase(std::int64_t number) {
  const auto run = runOf(number);
  if (run == m_runs.end()) return;
  const auto [first, last] = *run;
  m_runs.erase(run);
  if (first < number) m_runs[first] = number - 1;
  if (number < last) m_runs[number + 1] = last;
}

}  // namespace kerf::inline support
