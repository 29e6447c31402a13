// PassManager: runs every pass through one wrapper that times it, sees whether it changed anything, lints what it did
// and tells observers.
#pragma once

#include <memory>
#include <span>
#include <stop_token>
#include <vector>

#include "engine/passes/manager/pass_config.h"
#include "engine/passes/pass_observer.h"

namespace kerf::inline passes {

/// One module on its way through the stages. A pass that changes nothing costs nothing but its own time.
class PassRun {
 public:
  /// Works on a copy of `module`. Passes and observers must outlive the run.
  PassRun(std::span<const Pass> passes, std::span<PassObserver* const> observers, const GraphModule& module,
          std::stop_token stop);
  PassRun(PassRun&&) noexcept;
  PassRun& operator=(PassRun&&) noexcept;
  ~PassRun();

  /// Runs the passes of one stage in order. A pass that breaks lint is an Internal error naming the pass.
  Result<void> stage(PassStage stage);
  const std::vector<PassRecord>& records() const;
  /// As the passes so far left it.
  const GraphModule& module() const;
  /// The module as all passes left it; ends the run.
  GraphModule finish();

 private:
  class Work;
  std::unique_ptr<Work> m_work;
};

class PassManager {
 public:
  explicit PassManager(std::vector<Pass> passes) : m_passes(std::move(passes)) {}
  void addObserver(PassObserver* observer) { m_observers.push_back(observer); }
  const std::vector<Pass>& passes() const { return m_passes; }
  /// A run that goes stage by stage; it must not outlive the manager.
  PassRun start(const GraphModule& module, std::stop_token stop = {}) const {
    return {m_passes, m_observers, module, std::move(stop)};
  }
  /// Runs all stages on a copy of `module`.
  Result<GraphModule> run(const GraphModule& module, std::vector<PassRecord>* records = nullptr,
                          std::stop_token stop = {}) const;

 private:
  std::vector<Pass> m_passes;
  std::vector<PassObserver*> m_observers;
};

}  // namespace kerf::inline passes
