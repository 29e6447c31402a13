// What reductions make of a candidate, checked and run.
#pragma once

#include <gtest/gtest.h>

#include "engine/ir/interpreter.h"
#include "minifier/core/call_units.h"
#include "minifier/core/copied_values.h"
#include "minifier/core/recorded_values.h"
#include "minifier/core/reduction.h"
#include "tests/support/minifier_graphs.h"

namespace kerf::testing {

/// All proposals of `reduction` that can be built; each must be a valid graph that runs.
inline std::vector<Candidate> built(const Reduction& reduction, const Candidate& candidate) {
  const ReductionInput input{candidate};
  std::vector<Candidate> list;
  for (const Edit& edit : reduction.edits(input, {})) {
    auto proposal = edit.build();
    if (!proposal) continue;
    EXPECT_TRUE(proposal->module.graph.lint().has_value()) << reduction.name;
    EXPECT_TRUE(Interpreter(proposal->module, referenceOps()).run(proposal->inputs).has_value()) << reduction.name;
    list.push_back(std::move(*proposal));
  }
  return list;
}

/// The calls' targets, in order.
inline std::vector<std::string> targets(const Graph& graph) {
  std::vector<std::string> list;
  for (const NodeId id : callNodes(graph)) list.push_back(graph.node(id).target());
  return list;
}

/// What a run on copies of the inputs gives, and their values afterwards.
struct RunOutcome {
  Value result;
  ValueList inputs;
};
inline RunOutcome runOnCopies(const Candidate& candidate) {
  RunOutcome outcome{.result = {}, .inputs = *copyInputs(candidate.inputs)};
  const auto result = Interpreter(candidate.module, referenceOps()).run(outcome.inputs);
  EXPECT_TRUE(result.has_value()) << (result ? "" : result.error().text());
  if (result) outcome.result = *result;
  return outcome;
}

/// The value of `node` as it was computed; null if the run did not get as far.
inline const Value* valueOf(RecordedValues& values, NodeId node) {
  const ValueVersion version{node, 0};
  values.require({&version, 1});
  return values.compact(version);
}

}  // namespace kerf::testing
