// The values of a joint graph, and of its forward and backward graphs one after the other.
#pragma once

#include <cmath>
#include <map>
#include <string>

#include <gtest/gtest.h>

#include "engine/ir/interpreter.h"
#include "engine/ops/core/op_registry.h"
#include "engine/partition/partition.h"

namespace kerf::testing {

/// What a run gives and leaves behind: outputs (lists flat), then the inputs as they are afterwards.
struct RunValues {
  ValueList outputs, inputs;
};

inline void flattenInto(const Value& value, ValueList& into) {
  if (!value.isList()) return into.push_back(value);
  for (const Value& item : value.list()) flattenInto(item, into);
}

/// Runs on these very inputs, which the graph may write.
inline ValueList runGraph(const GraphModule& module, const ValueList& inputs) {
  Interpreter interpreter(module, referenceOps());
  const auto result = interpreter.run(inputs);
  EXPECT_TRUE(result) << result.error().text();
  ValueList leaves;
  if (result) flattenInto(*result, leaves);
  return leaves;
}

inline ValueList copiesOf(const ValueList& values) {
  ValueList copies;
  for (const Value& value : values) copies.push_back(value.isTensor() ? Value(*value.tensor().clone()) : value);
  return copies;
}

inline RunValues runJoint(const GraphModule& joint, const ValueList& inputs) {
  RunValues values{.outputs = {}, .inputs = copiesOf(inputs)};
  values.outputs = copiesOf(runGraph(joint, values.inputs));
  return values;
}

/// Forward, then backward on what it saved. `inputs` are the joint graph's, by its placeholders.
inline RunValues runPartition(const GraphModule& joint, const Partition& partition, const ValueList& inputs) {
  RunValues values{.outputs = {}, .inputs = copiesOf(inputs)};
  std::map<std::string, Value> byName;
  const auto placeholders = joint.graph.placeholders();
  for (std::size_t i = 0; i < placeholders.size(); ++i)
    byName.insert_or_assign(joint.graph.node(placeholders[i]).name(), values.inputs[i]);
  const auto inputsOf = [&](const GraphModule& module) {
    ValueList taken;
    for (const NodeId id : module.graph.placeholders()) {
      const auto found = byName.find(module.graph.node(id).name());
      EXPECT_NE(found, byName.end()) << "nobody gives " << module.graph.node(id).name();
      if (found != byName.end()) taken.push_back(found->second);
    }
    return taken;
  };
  const ValueList forward = runGraph(partition.forward, inputsOf(partition.forward));
  const std::size_t saved = partition.forwardOutputs + partition.saved.size();
  EXPECT_EQ(forward.size(), saved + partition.symbols.size());
  if (forward.size() != saved + partition.symbols.size()) return values;
  for (std::size_t i = partition.forwardOutputs; i < forward.size(); ++i)
    byName.insert_or_assign(
        i < saved ? partition.saved[i - partition.forwardOutputs].name : partition.symbols[i - saved], forward[i]);
  values.outputs.assign(forward.begin(), forward.begin() + std::ptrdiff_t(partition.forwardOutputs));
  for (const Value& gradient : runGraph(partition.backward, inputsOf(partition.backward)))
    values.outputs.push_back(gradient);
  values.outputs = copiesOf(values.outputs);  // an output may be an input that is written afterwards
  return values;
}

/// To the last bit, NaN equal to NaN.
inline bool equalValues(const Value& a, const Value& b) {
  if (!a.isTensor() || !b.isTensor()) {
    const auto x = a.asSymInt(), y = b.asSymInt();
    if (x && y) return x->isIdentical(*y);
    return a.isNone() == b.isNone() && a.isTensor() == b.isTensor() && x.has_value() == y.has_value();
  }
  if (a.tensor().sizes() != b.tensor().sizes() || a.tensor().dtype() != b.tensor().dtype()) return false;
  for (std::int64_t i = 0; i < a.tensor().numel(); ++i) {
    const double x = a.tensor().itemAsDouble(i), y = b.tensor().itemAsDouble(i);
    if (x != y && !(std::isnan(x) && std::isnan(y))) return false;
  }
  return true;
}

/// Empty, or which value differs: "output 2", "input 0 afterwards".
inline std::string firstDifference(const RunValues& a, const RunValues& b) {
  if (a.outputs.size() != b.outputs.size())
    return std::to_string(a.outputs.size()) + " and " + std::to_string(b.outputs.size()) + " outputs";
  for (std::size_t i = 0; i < a.outputs.size(); ++i)
    if (!equalValues(a.outputs[i], b.outputs[i])) return "output " + std::to_string(i);
  for (std::size_t i = 0; i < a.inputs.size(); ++i)
    if (!equalValues(a.inputs[i], b.inputs[i])) return "input " + std::to_string(i) + " afterwards";
  return {};
}

}  // namespace kerf::testing
