// PassChecker: runs the graph after every pass that changed it, on the same inputs, and names the first pass after which
// the values differ.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/accuracy/same.h"
#include "engine/ir/interpreter.h"
#include "engine/passes/pass_observer.h"

namespace kerf::inline pipeline {

/// What a pass did to the values.
struct ChangedValues {
  std::string pass;
  std::string result;  ///< "out0", "in2" (an input that the run wrote into); empty: the graph failed to run
  std::string node;  ///< the first node of both graphs by its name whose values differ; empty: none before the outputs
  std::string reason;  ///< as same() gives it, or the error
  double maxAbsError = 0;

  KERF_FIELDS(pass, result, node, reason, maxAbsError)
};

/// Values are compared by same() with the graph as it was before the pass, and its results in float64 as the measure:
/// rounding that is not worse than before passes. Writes go to copies of the inputs and attributes, and are compared.
class PassChecker : public PassObserver {
 public:
  /// `inputs` are those of the outermost graph. Passes of other stages than `stages` are not checked; empty: all are.
  explicit PassChecker(ValueList inputs, double tolerance = 1e-3, std::vector<PassStage> stages = {});

  void beforePipeline(const GraphModule& module) override;
  void beforePass(const Pass& pass, const GraphModule& module) override;
  void afterPass(const Pass& pass, const GraphModule& module) override;

  const std::optional<ChangedValues>& first() const { return m_first; }
  int checked() const { return m_checked; }                 ///< passes that changed the graph and were run
  const std::string& failure() const { return m_failure; }  ///< why nothing could be checked; empty mostly

 private:
  Result<Value> run(const GraphModule& module, bool inFloat64) const;
  /// What every node gives, without running those that `known` has.
  Result<Environment> nodeValues(const GraphModule& module, const Environment& known = {}) const;
  bool checks(const Pass& pass) const;
  void compare(const Pass& pass, const GraphModule& module);
  std::string firstDifferentNode(const GraphModule& module) const;

  ValueList m_inputs;
  SameOptions m_options;
  std::vector<PassStage> m_stages;
  GraphModule m_before;
  Value m_values, m_float64;
  std::optional<ChangedValues> m_first;
  std::string m_failure;
  int m_checked = 0;
};

}  // namespace kerf::inline pipeline
