// GapRuns: what no key pairs, between two pairs of steps: kernels on one side and the calls that they stand for on the
// other. Runs of steps belong together by the values that they give.
#pragma once

#include <vector>

#include "engine/align/step_pairs.h"
#include "engine/align/value_index.h"

namespace kerf::inline align {

/// Steps of one gap, as indices.
struct GapSteps {
  std::vector<std::size_t> a, b;
};

class GapRuns {
 public:
  GapRuns(const std::vector<RunStep>& a, const std::vector<RunStep>& b) : m_a(a), m_b(b), m_valuesA(a), m_valuesB(b) {}

  /// Pairs of runs, and of single steps that have no counterpart. Every step of the gap is in one.
  std::vector<StepPair> pairs(const GapSteps& gap);

 private:
  struct Side;
  std::vector<std::pair<std::size_t, std::size_t>> matched(const GapSteps& gap) const;
  const std::vector<RunStep>&m_a, &m_b;
  ValueIndex m_valuesA, m_valuesB;
};

}  // namespace kerf::inline align
