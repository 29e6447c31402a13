// StepReruns: steps of two recordings run again on what each side took, to tell a difference that their inputs make from
// one that they make themselves.
//
//     a: y = 2.0, b: y = 2.6; on what they took the step gives 2.0 and 2.6: the inputs' difference; 2.0 and 2.1: its own
#pragma once

#include <optional>
#include <unordered_map>

#include "app/workbench/align/step_repro.h"

namespace kerf::workbench {

class StepReruns {
 public:
  StepReruns(const OpenedRecording& a, const OpenedRecording& b, const Job& job) : m_steps(a, b), m_job(job) {}

  /// In a child process, in float64 and in the graph's own dtypes: how much of the results' difference is not that of the
  /// reruns, and how much of it rounding makes, which is what it made of the reruns. None where a step cannot be run
  /// alone, where it gives neither recorded result, and after the first mostReruns.
  std::optional<RerunGap> gapOf(const StepPair& steps);
  /// Those that were not run since there were too many.
  int left() const { return m_left; }

  static constexpr int mostReruns = 512;

 private:
  std::optional<RerunGap> run(const StepPair& steps);

  RecordedSteps m_steps;
  const Job& m_job;
  std::unordered_map<std::size_t, std::optional<RerunGap>> m_known;  ///< by the step of the second recording
  int m_runs = 0, m_left = 0;
};

}  // namespace kerf::workbench
