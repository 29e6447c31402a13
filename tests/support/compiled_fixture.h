// Graphs given as readable text, compiled and held against the interpreter.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>

#include "engine/ir/parser.h"
#include "engine/pipeline/compile_fx.h"
#include "tests/support/graph_fixture.h"

namespace kerf::testing_support {

/// With shapes; empty, and the test failed, if the text is none.
inline GraphModule parsed(const char* text) {
  auto module = parseReadable(text);
  EXPECT_TRUE(module) << module.error().text();
  if (!module) return {};
  const auto shapes = propagateShapes(*module);
  EXPECT_TRUE(shapes) << shapes.error().text();
  return std::move(*module);
}

inline ValueList partsOf(const Value& value) { return value.isList() ? value.list() : ValueList{value}; }

inline void expectLikeInterpreter(const GraphModule& module, CompiledGraph& graph, const ValueList& inputs) {
  const auto reference = Interpreter(module, referenceOps()).run(inputs);
  ASSERT_TRUE(reference) << reference.error().text();
  const auto result = graph.run(inputs);
  ASSERT_TRUE(result) << result.error().text();
  const ValueList expected = partsOf(*reference), given = partsOf(*result);
  ASSERT_EQ(expected.size(), given.size());
  for (std::size_t i = 0; i < given.size(); ++i)
    if (expected[i].isTensor()) expectClose(expected[i].tensor(), given[i].tensor(), 1e-5, fmt::format("output {}", i));
}

/// `first` and up in steps of 0.37, in order: every element another.
inline Tensor counted(const Sizes& sizes, double first = -1.5) {
  Tensor tensor = *Tensor::zeros(DType::Float32, sizes);
  for (std::int64_t i = 0; i < tensor.numel(); ++i) tensor.data<float>()[i] = float(first + 0.37 * double(i));
  return tensor;
}

/// Whether a kernel of this name was generated.
inline bool hasGenerated(const CompiledGraph& graph, std::string_view name) {
  return std::ranges::any_of(graph.kernels(), [&](const KernelInfo& kernel) {
    return kernel.name == name && kernel.kind == "fused" && !kernel.text("llvm").empty();
  });
}

}  // namespace kerf::testing_support
