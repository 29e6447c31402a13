// Small graphs with symbolic sizes: placeholders with sizes as texts, and inputs for any values of the symbols.
#pragma once

#include "engine/backend/input_symbols.h"
#include "engine/ir/value_meta.h"
#include "engine/ops/core/op_call.h"
#include "engine/pipeline/compile_fx.h"
#include "engine/symbolic/shape_env.h"
#include "tests/support/graph_fixture.h"

namespace kerf::testing_support {

struct SymbolicFixture : GraphFixture {
  SymbolBindings example;

  explicit SymbolicFixture(SymbolBindings values) : example(std::move(values)) {}

  /// A row-major tensor of sizes like "s0" or "8".
  NodeId tensor(const std::string& name, DType dtype, std::vector<std::string> sizes) {
    ShapeEnv env;
    const ShapeEnv::Scope scope(env);
    for (const auto& [symbol, value] : example) env.addSymbol({symbol, value, {2, ValueRange::greatest}});
    SymSizes numbers;
    for (const std::string& size : sizes) numbers.push_back(*env.parse(size));
    const NodeId id = module.graph.placeholder(name);
    module.graph.setValueMeta(id, metaOf(Value(metaTensor(dtype, numbers))));
    m_inputs.push_back({dtype, std::move(sizes)});
    return id;
  }
  NodeId number(const std::string& name, const std::string& text) {
    const NodeId id = module.graph.placeholder(name);
    module.graph.setValueMeta(id, {SymMeta{{text, *evaluateSize(text, example)}}});
    m_inputs.push_back({{}, {text}});
    return id;
  }
  NodeId size(NodeId tensor, std::int64_t dimension) { return call("aten.sym_size.int", {tensor, dimension}); }
  NodeId times(NodeId a, Argument b) {
    return module.graph.callFunction("operator.mul", {Argument(a), std::move(b)}, {}, "mul");
  }

  ValueList inputsFor(const SymbolBindings& values) {
    ValueList result;
    for (const auto& [dtype, sizes] : m_inputs) {
      Sizes numbers;
      for (const std::string& size : sizes) numbers.push_back(*evaluateSize(size, values));
      result.push_back(dtype ? Value(randomTensor(*dtype, numbers, random)) : Value(numbers[0]));
    }
    return result;
  }

 private:
  struct Input {
    std::optional<DType> dtype;  ///< none: a number
    std::vector<std::string> sizes;
  };
  std::vector<Input> m_inputs;
};

/// Compares a run of `compiled` with the interpreter, strides too.
inline void expectLikeInterpreter(const GraphModule& module, CompiledGraph& compiled, const ValueList& inputs,
                                  const SymbolBindings& values, double tolerance, const std::string& what) {
  const auto numbers = withNumbers(module, values);
  ASSERT_TRUE(numbers) << what << ": " << numbers.error().text();
  const auto reference = Interpreter(*numbers, referenceOps()).run(inputs);
  ASSERT_TRUE(reference) << what << ": " << reference.error().text();
  const auto result = compiled.run(inputs);
  ASSERT_TRUE(result) << what << ": " << result.error().text();
  ASSERT_EQ(reference->list().size(), result->list().size()) << what;
  for (std::size_t i = 0; i < result->list().size(); ++i) {
    const std::string where = fmt::format("{} output {}", what, i);
    const Value &a = reference->list()[i], &b = result->list()[i];
    ASSERT_EQ(a.isTensor(), b.isTensor()) << where;
    if (const auto* number = a.as<std::int64_t>()) {
      ASSERT_TRUE(b.as<std::int64_t>()) << where;
      EXPECT_EQ(*number, *b.as<std::int64_t>()) << where;
    }
    if (!a.isTensor()) continue;
    expectClose(a.tensor(), b.tensor(), tolerance, where);
    for (std::int64_t d = 0; d < a.tensor().dim(); ++d)
      EXPECT_TRUE(a.tensor().size(d) < 2 || a.tensor().stride(d) == b.tensor().stride(d)) << where << " stride " << d;
  }
}

}  // namespace kerf::testing_support
