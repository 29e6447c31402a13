// StageRuns: the runs of a plan's stages in both arithmetics, each made when it is first asked for and kept while pairs
// still need it.
#pragma once

#include <array>
#include <memory>
#include <set>

#include "engine/verification/verify.h"

namespace kerf::inline verification {

/// A stage's run, or why there is none.
struct StageOutcome {
  std::array<StageRun, 2> runs;         ///< by Arithmetic
  std::array<std::string, 2> failures;  ///< by Arithmetic; empty: it ran
  std::string failedNode;               ///< at which it stopped, where that is known
  /// The graph asks for what no compiler can give (operands that do not fit, a loop that never ends), not for an op that
  /// Kerf has no kernel for or a value that nothing tells.
  bool ownFault = false;
  std::set<Slot> lent;  ///< values that it does not return (StageRuns::lendSaved)
  const StageRun& wide() const { return runs[0]; }
  const StageRun& recorded() const { return runs[1]; }
};
using StageOutcomePtr = std::shared_ptr<const StageOutcome>;

class StageRuns {
 public:
  StageRuns(const Capture& capture, const StagePlan& plan, const SlotValues& inputs, const VerifyOptions& options);

  /// Cancelled is the only error.
  Result<StageOutcomePtr> outcome(std::size_t stage);
  /// `stage` is identical to `other`: what that one gave is its own outcome.
  void adopt(std::size_t stage, std::size_t other);
  /// From now on backward graphs are given the values of the joint graph's nodes in place of what the forward graph
  /// saved, and the joint graph's outcome has them too. False: it does not run, or lacks one of them.
  Result<bool> lendSaved(std::size_t joint);
  /// The later pairs need this stage no more; its prints stay.
  void release(std::size_t stage);
  /// Runs the stage once more in the recorded dtypes, for its prints, which are seldom asked for.
  Result<void> printRecorded(std::size_t stage);
  /// Names, calls, arguments and nested graphs of both are the same, whatever is known of their values.
  bool identical(std::size_t a, std::size_t b);
  PrintedGraph printed(std::size_t stage, Arithmetic arithmetic = Arithmetic::Wide) const;
  const GraphModule& module(std::size_t stage) const;
  const SlotValues& inputs() const { return m_inputs; }
  /// With which every graph but a backward one begins.
  const RandomDraws& draws() const { return m_draws; }

 private:
  Result<SlotValues> valuesFor(const Stage& stage, Arithmetic arithmetic, RandomDraws& draws);
  Result<void> run(std::size_t stage, Arithmetic arithmetic, StageOutcome& outcome);
  std::set<std::string> savedNames() const;
  void addLent(StageOutcome& outcome) const;
  Hash128 structure(std::size_t stage);
  std::optional<std::size_t> leader(StagePart part) const;

  const Capture& m_capture;
  const StagePlan& m_plan;
  const SlotValues& m_inputs;
  const VerifyOptions& m_options;
  std::map<std::size_t, StageOutcomePtr> m_outcomes;
  std::map<std::size_t, std::array<std::vector<ValuePrint>, 2>> m_prints;  ///< by Arithmetic
  std::map<std::size_t, Hash128> m_structures;
  RandomDraws m_draws;
  std::optional<std::size_t> m_lender;
  std::array<SlotValues, 2> m_lent;  ///< by Arithmetic
  bool m_printAll = false;
  std::size_t m_runs = 0;
  double m_total = 0;  ///< runs that the whole plan takes
};

}  // namespace kerf::inline verification
