// Small graphs for tests of passes: built call by call, run through a pass, and their values before and after it.
#pragma once

#include <gtest/gtest.h>

#include "engine/ir/interpreter.h"
#include "engine/ops/core/op_registry.h"
#include "engine/ops/random/state.h"
#include "engine/passes/manager/pass_manager.h"

namespace kerf::testing {

/// "[2, 3]" as an argument.
inline Argument numbers(std::initializer_list<std::int64_t> values) {
  return Argument::list(ArgumentList(values.begin(), values.end()));
}

/// A graph under construction on placeholders with contiguous metas.
class PassGraph {
 public:
  GraphModule module;

  NodeId input(const char* name, const Sizes& sizes, DType dtype = DType::Float32, const char* device = "cpu") {
    const NodeId id = module.graph.placeholder(name);
    TensorMeta meta{.dtype = dtype};
    for (const auto size : sizes) meta.sizes.push_back(dim(size));
    for (const auto stride : contiguousStrides(sizes)) meta.strides.push_back(dim(stride));
    meta.device.type = device;
    module.graph.setValueMeta(id, {meta});
    m_inputs.push_back({sizes, dtype});
    return id;
  }
  NodeId call(const std::string& op, ArgumentList args, KeywordArguments kwargs = {}) {
    return module.graph.callFunction("torch.ops." + op, std::move(args), std::move(kwargs));
  }
  NodeId full(const Sizes& sizes, Argument value, DType dtype = DType::Float32) {
    ArgumentList list(sizes.begin(), sizes.end());
    return call("aten.full.default", {Argument::list(std::move(list)), std::move(value)}, {{"dtype", dtype}});
  }
  NodeId item(NodeId list, std::int64_t index) { return module.graph.callFunction("operator.getitem", {list, index}); }
  /// `device`: where everything is, as far as the metas say.
  void finish(ArgumentList outputs, const char* device = nullptr) {
    module.graph.output(Argument::tuple(std::move(outputs)));
    const auto shaped = propagateShapes(module);
    ASSERT_TRUE(shaped.has_value()) << shaped.error().text();
    if (!device) return;
    for (const NodeId id : module.graph.order()) {
      ValueMeta meta = module.graph.node(id).meta().value;
      if (auto* tensor = std::get_if<TensorMeta>(&meta.value)) tensor->device.type = device;
      module.graph.setValueMeta(id, std::move(meta));
    }
  }

  /// Numbers that differ from element to element; integers below `limit`.
  ValueList inputs(std::int64_t limit = 5) const {
    ValueList values;
    for (const auto& [sizes, dtype] : m_inputs) {
      Tensor tensor = *Tensor::zeros(dtype, sizes);
      for (std::int64_t i = 0; i < tensor.numel(); ++i) {
        const std::int64_t step = (i * 7 + std::int64_t(values.size()) * 3) % 11;
        if (dtype == DType::Int64) tensor.data<std::int64_t>()[i] = step % limit;
        if (dtype == DType::Int8) tensor.data<std::int8_t>()[i] = std::int8_t(step * 9 - 40);
        if (dtype == DType::Float32) tensor.data<float>()[i] = float(step) * 0.25f - 1.125f;
      }
      values.push_back(tensor);
    }
    return values;
  }

 private:
  std::vector<std::pair<Sizes, DType>> m_inputs;
};

/// Short names of the calls in order: "aten.relu.default".
inline std::vector<std::string> calls(const Graph& graph) {
  std::vector<std::string> names;
  for (const NodeId id : graph.order())
    if (graph.node(id).op() == Opcode::CallFunction) names.push_back(canonicalOpName(graph.node(id).target()));
  return names;
}

inline ValueList leavesOf(const Value& value) {
  if (!value.isList()) return {value};
  ValueList all;
  for (const Value& item : value.list())
    for (const Value& leaf : leavesOf(item)) all.push_back(leaf);
  return all;
}

inline ValueList runGraph(const GraphModule& module, const ValueList& inputs) {
  ValueList own;
  for (const Value& input : inputs)
    own.push_back(input.isTensor() ? Value(*input.tensor().clonePreservingStrides()) : input);
  const RandomScope random;
  const auto result = Interpreter(module, referenceOps()).run(own);
  EXPECT_TRUE(result.has_value()) << result.error().text();
  return result ? leavesOf(*result) : ValueList();
}

/// max |a - b| / max |a| over all outputs, which must have the same sizes and strides.
inline double difference(const ValueList& before, const ValueList& after) {
  double worst = before.size() == after.size() ? 0 : 1e9;
  for (std::size_t i = 0; i < std::min(before.size(), after.size()); ++i) {
    if (!before[i].isTensor() || !after[i].isTensor()) continue;
    const Tensor& a = before[i].tensor();
    const Tensor& b = after[i].tensor();
    EXPECT_EQ(a.sizes(), b.sizes()) << "output " << i;
    EXPECT_EQ(a.dtype(), b.dtype()) << "output " << i;
    if (a.sizes() != b.sizes()) return 1e9;
    const Tensor x = *a.clone(), y = *b.clone();
    double scale = 0, error = 0;
    for (std::int64_t k = 0; k < x.numel(); ++k) {
      scale = std::max(scale, std::abs(x.itemAsDouble(k)));
      error = std::max(error, std::abs(x.itemAsDouble(k) - y.itemAsDouble(k)));
    }
    worst = std::max(worst, scale > 0 ? error / scale : error);
  }
  return worst;
}

/// The module after one pass, whose options are set by `settings` ("reorder_for_locality.enabled=true"); lint and
/// values, within `tolerance`, are checked.
inline GraphModule afterPass(const PassGraph& graph, const std::string& pass,
                             const std::vector<std::string>& settings = {}, double tolerance = 0,
                             std::int64_t limit = 5) {
  PassConfig config{.only = std::vector<std::string>{pass}};
  for (const auto& setting : settings) config.patches.push_back(*parsePassPatch(setting));
  auto result = PassManager(*selectPasses(config)).run(graph.module);
  EXPECT_TRUE(result.has_value()) << result.error().text();
  if (!result) return graph.module;
  EXPECT_LE(difference(runGraph(graph.module, graph.inputs(limit)), runGraph(*result, graph.inputs(limit))), tolerance);
  return std::move(*result);
}

}  // namespace kerf::testing
