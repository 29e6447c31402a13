// Dynamo graphs given as readable text: run through passes, with their values and shapes before and after.
#pragma once

#include <gtest/gtest.h>

#include "engine/ir/parser.h"
#include "engine/ops/core/op_registry.h"
#include "tests/support/pass_fixture.h"

namespace kerf::testing {

/// With shapes; empty, and the test failed, if the text is none.
inline GraphModule torchLevel(const std::string& signature, const std::string& body) {
  auto module =
      parseReadable("class GraphModule(torch.nn.Module):\n    def forward(self, " + signature + "):\n" + body);
  EXPECT_TRUE(module) << module.error().text();
  if (!module) return {};
  const auto shapes = propagateShapes(*module);
  EXPECT_TRUE(shapes) << shapes.error().text();
  return std::move(*module);
}

/// A number for every placeholder's element, none of them alike in a row; integers from 0 to 4; all of them positive in
/// inputs that are called "var".
inline ValueList madeInputs(const GraphModule& module) {
  ValueList values;
  for (const NodeId id : module.graph.placeholders()) {
    const Node& node = module.graph.node(id);
    const TensorMeta* meta = node.meta().value.tensor();
    if (!meta) {
      values.emplace_back(std::int64_t{3});
      continue;
    }
    Tensor tensor = *Tensor::zeros(meta->dtype, *meta->concreteSizes());
    for (std::int64_t i = 0; i < tensor.numel(); ++i) {
      const std::int64_t step = (i * 7 + std::int64_t(values.size()) * 3) % 11;
      if (meta->dtype == DType::Int64) tensor.data<std::int64_t>()[i] = step % 5;
      if (meta->dtype == DType::Float32)
        tensor.data<float>()[i] = node.name() == "var" ? 0.5f + float(step) * 0.125f : float(step) * 0.25f - 1.125f;
    }
    values.emplace_back(std::move(tensor));
  }
  return values;
}

/// The module after these passes, which run with `settings`; lint, and values within `tolerance`, are checked.
inline GraphModule afterPasses(const GraphModule& module, const std::vector<std::string>& passes,
                               const std::vector<std::string>& settings = {}, double tolerance = 0) {
  PassConfig config{.only = passes};
  for (const auto& setting : settings) config.patches.push_back(*parsePassPatch(setting));
  const auto selected = selectPasses(config);
  EXPECT_TRUE(selected.has_value()) << selected.error().text();
  auto result = PassManager(*selected).run(module);
  EXPECT_TRUE(result.has_value()) << result.error().text();
  if (!result) return module;
  EXPECT_TRUE(result->graph.lint().has_value());
  const ValueList inputs = madeInputs(module);
  EXPECT_LE(difference(runGraph(module, inputs), runGraph(*result, inputs)), tolerance);
  return std::move(*result);
}

/// Targets of the calls in order: "torch.cat", "method.view", "module.block".
inline std::vector<std::string> targets(const Graph& graph) {
  std::vector<std::string> list;
  for (const NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    if (node.op() == Opcode::CallFunction) list.push_back(node.target());
    if (node.op() == Opcode::CallMethod) list.push_back("method." + node.target());
    if (node.op() == Opcode::CallModule) list.push_back("module." + node.target());
  }
  return list;
}

inline const Node& nodeNamed(const GraphModule& module, std::string_view name) {
  const auto id = module.graph.find(name);
  EXPECT_TRUE(id) << "there is no node " << name;
  return module.graph.node(id.value_or(module.graph.outputNode()));
}

}  // namespace kerf::testing
