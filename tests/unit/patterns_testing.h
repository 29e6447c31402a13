// Graphs of pattern tests: placeholders with shapes, values of float64, runs through the interpreter.
#pragma once

#include "engine/ir/interpreter.h"
#include "engine/ir/value_meta.h"
#include "engine/ops/core/op_registry.h"
#include "engine/patterns/pattern_matcher_pass.h"
#include "engine/patterns/pattern_trace.h"
#include "tests/support/graph_fixture.h"

namespace kerf::testing {

using testing_support::GraphFixture;

/// Random values in [-2, 2) for each placeholder; bools for bool, 0 and 1 for integers.
inline ValueList inputsOf(const Graph& graph, std::uint32_t seed = 5) {
  std::mt19937 random(seed);
  ValueList inputs;
  for (const NodeId id : graph.placeholders()) {
    const TensorMeta* meta = graph.node(id).meta().value.tensor();
    EXPECT_NE(meta, nullptr) << graph.node(id).name();
    Tensor laidOut = *Tensor::zerosStrided(meta->dtype, *meta->concreteSizes(), *meta->concreteStrides());
    const std::int64_t count = laidOut.storage()->bytes() / itemSize(meta->dtype);
    const Tensor drawn = testing_support::randomTensor(meta->dtype, {count}, random);
    std::memcpy(laidOut.storage()->data(), drawn.storage()->data(), std::size_t(laidOut.storage()->bytes()));
    if (meta->dtype == DType::Bool)  // a mask that hides a whole row has no softmax
      for (std::int64_t i = 0; i < count; i += laidOut.sizes().empty() ? 1 : laidOut.sizes().back())
        laidOut.data<bool>()[i] = true;
    inputs.emplace_back(std::move(laidOut));
  }
  return inputs;
}

inline void flatten(const Value& value, ValueList& leaves) {
  if (!value.isList()) return leaves.push_back(value);
  for (const Value& item : value.list()) flatten(item, leaves);
}

inline ValueList run(const GraphModule& module, const ValueList& inputs) {
  ValueList leaves;
  const auto result = Interpreter(module, referenceOps()).run(inputs);
  EXPECT_TRUE(result) << result.error().text();
  if (result) flatten(*result, leaves);
  return leaves;
}

/// Both graphs give the same values on the same inputs.
inline void expectSameValues(const GraphModule& before, const GraphModule& after, double tolerance) {
  const ValueList inputs = inputsOf(before.graph);
  const ValueList a = run(before, inputs), b = run(after, inputs);
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    ASSERT_EQ(a[i].isTensor(), b[i].isTensor()) << i;
    if (a[i].isTensor())
      testing_support::expectClose(a[i].tensor(), b[i].tensor(), tolerance, fmt::format("output {}", i));
  }
}

}  // namespace kerf::testing
