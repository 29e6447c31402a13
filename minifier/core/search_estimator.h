// SearchEstimator: what a search learns of its own tests: how often they fail, how many are left, and what they take.
#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "minifier/core/set_search.h"

namespace kerf::inline minifier::inline core {

class SearchEstimator {
 public:
  /// Probability that the next test of a category fails, from what became of the ones before.
  double failureProbability(const std::string& category) const;
  void learn(const std::string& category, bool fails);
  void beginRound(int number) { m_round = number; }
  /// A test is next: the step it belongs to, and how far the sweep is if it is one.
  void observe(const std::string& step, SetSearch::Sweep sweep);
  /// What a search has used, and where it is.
  struct Spent {
    double seconds = 0;     ///< without pauses
    int tests = 0;          ///< at least 1
    std::size_t calls = 0;  ///< of the best candidate
    std::size_t workers = 1;
  };
  /// Time that is probably left. Never more than twice what it was at the last call, unless a phase has ended since.
  double secondsLeft(const Spent& spent);

 private:
  std::map<std::string, double> m_chances;
  int m_round = 0;
  std::size_t m_phase = 0;  ///< of the table in search_estimator.cpp
  bool m_isNewPhase = true;
  SetSearch::Sweep m_sweep;
  double m_told = 0;  ///< seconds
};

}  // namespace kerf::inline minifier::inline core
