// PassManager: runs every pass through one wrapper that times it, lints the result and tells observers before and
// after.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/ir/graph_module.h"

namespace kerf::inline passes {

/// A pass: one name, one sentence, one function over a private copy. `run` returns whether the graph changed.
struct Pass {
  std::string name;         ///< "cse"
  std::string stage;        ///< "pre_grad", "joint", "post_grad"
  std::string description;  ///< one sentence
  std::function<Result<bool>(GraphModule&)> run;
};

/// What the wrapper measured of one pass run.
struct PassRecord {
  int index = 0;
  std::string name;
  std::string stage;
  std::size_t nodesBefore = 0;
  std::size_t nodesAfter = 0;
  std::chrono::nanoseconds time{};
  bool changed = false;  ///< by content hash, not by the pass's word
  Hash128 hashBefore, hashAfter;
  GraphSnapshot before, after;  ///< the same pointer when nothing changed
};

class PassObserver {
 public:
  virtual ~PassObserver() = default;
  virtual void beforePass(const Pass&, const GraphModule&) {}
  virtual void afterPass(const PassRecord&, const GraphModule&) {}
  /// Asked before a pass; false skips it (bisection).
  virtual bool shouldRun(const Pass&) { return true; }
  /// May edit the result of a pass on purpose (fault planting). Runs before lint and afterPass.
  virtual Result<void> tamper(const Pass&, GraphModule&) { return {}; }
};

class PassManager {
 public:
  explicit PassManager(std::vector<Pass> passes) : m_passes(std::move(passes)) {}
  void addObserver(PassObserver* observer) { m_observers.push_back(observer); }
  const std::vector<Pass>& passes() const { return m_passes; }
  /// Runs all passes on a copy of `module`. A pass that breaks lint is an Internal error naming the pass.
  Result<GraphModule> run(const GraphModule& module, std::vector<PassRecord>* records = nullptr) const;

 private:
  std::vector<Pass> m_passes;
  std::vector<PassObserver*> m_observers;
};

/// Kerf's own post_grad passes in order: no-op removal, constant folding, CSE, DCE.
std::vector<Pass> defaultPasses();

}  // namespace kerf::inline passes
