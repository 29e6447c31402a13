// PlantedPass: an observer that breaks one pass's result on purpose (`--plant pass:NAME=KIND`).
//
//   before: return (view,)      after `pass:cse=accuracy`: planted = aten.add.Tensor(view, 1); return (planted,)
#pragma once

#include "engine/passes/fault_plan.h"
#include "engine/passes/pass_manager.h"

namespace kerf::inline pipeline {

class PlantedPass : public PassObserver {
 public:
  explicit PlantedPass(const FaultPlan& plan) : m_plan(plan) {}
  /// accuracy and flaky add 1 to the first floating output (flaky in a part of the compilations); compile_error gives
  /// CompileFailed; runtime_error, crash and hang mark the first output for strikes().
  Result<void> tamper(const Pass& pass, GraphModule& module) override;
  /// Faults of passes that strike while the compiled graph runs.
  const std::vector<FaultKind>& strikes() const { return m_strikes; }

 private:
  const FaultPlan& m_plan;
  std::vector<FaultKind> m_strikes;
};

}  // namespace kerf::inline pipeline
