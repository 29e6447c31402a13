#include "minifier/core/search_estimator.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <utility>

namespace kerf::inline minifier::inline core {

namespace {

constexpr double usualChance = 0.4;
constexpr double weightOfNews = 0.25;
/// What the time left depends on in one phase: the logarithm of the tests left, each as long as one took on average, is
/// a sum of logarithms of counts.
struct TimeTrend {
  double constant, calls, tests, workers, needed, undecided, gap;
};
enum class SearchPhase : std::uint8_t { Halving, Sweep, ShorterPaths, Edits, LaterSets, LaterEdits };
/// Least squares over the 92 cases of tests/bench/minify_schedule, each searched with 1 and with 14 workers. How many
/// calls will have to stay is not known while few of them are: there it is off by more than later.
constexpr TimeTrend trends[] = {
    {0.78, 0.36, 0.38, -0.30, 0, 0.09, -0.03},      // Halving
    {1.85, 0.23, -0.08, -0.14, 0.52, 0.14, -0.26},  // Sweep
    {3.96, -0.22, 0.39, -0.30, 0, 0, -0.04},        // ShorterPaths
    {1.62, 1.35, -0.39, -0.15, 0, 0, 0},            // Edits
    {1.26, 1.12, -0.25, -0.24, 0, 0, 0},            // LaterSets
    {2.71, 0, 0.08, -0.18, 0, 0, 0},                // LaterEdits
};

SearchPhase phaseOf(const std::string& step, int round, const SetSearch::Sweep& sweep) {
  constexpr std::string_view early[] = {"start",  "flatten_graphs", "windows",       "suspects",
                                        "survey", "fold",           "remove_suffix", "remove_prefix"};
  const bool isPath = step == "shorter_path", isSweep = step == "delta";
  const bool isHalving = std::ranges::find(early, step) != std::end(early);
  const bool isSets = isPath || isSweep || isHalving || step == "leave_one_out";
  if (round > 0) return isSets ? SearchPhase::LaterSets : SearchPhase::LaterEdits;
  if (isHalving || (isSweep && sweep.needed == 0)) return SearchPhase::Halving;
  if (isSweep) return SearchPhase::Sweep;
  return isSets ? SearchPhase::ShorterPaths : SearchPhase::Edits;
}

}  // namespace

double SearchEstimator::failureProbability(const std::string& category) const {
  const auto found = m_chances.find(category);
  return found == m_chances.end() ? usualChance : found->second;
}

void SearchEstimator::learn(const std::string& category, bool fails) {
  double& chance = m_chances.try_emplace(category, usualChance).first->second;
  chance += weightOfNews * ((fails ? 1.0 : 0.0) - chance);
}

void SearchEstimator::observe(const std::string& step, SetSearch::Sweep sweep) {
  m_sweep = sweep;
  const auto phase = std::size_t(phaseOf(step, m_round, sweep));
  m_isNewPhase = m_isNewPhase || phase != m_phase;
  m_phase = phase;
}

double SearchEstimator::secondsLeft(const Spent& spent) {
  const auto log1 = [](std::size_t count) { return std::log1p(double(count)); };
  const TimeTrend& trend = trends[m_phase];
  const double tests = trend.constant + trend.calls * log1(spent.calls) + trend.tests * std::log(double(spent.tests)) +
                       trend.workers * std::log(double(spent.workers)) + trend.needed * log1(m_sweep.needed) +
                       trend.undecided * log1(m_sweep.undecided) + trend.gap * log1(m_sweep.gap);
  const double seconds = spent.seconds / spent.tests * std::exp(tests);
  m_told = std::exchange(m_isNewPhase, false) ? seconds : std::min(seconds, 2 * m_told);
  return m_told;
}

}  // namespace kerf::inline minifier::inline core
