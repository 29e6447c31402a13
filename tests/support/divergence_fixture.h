// A module and its inputs, compared node by node.
#pragma once

#include "engine/pipeline/node_divergence.h"
#include "tests/support/graph_fixture.h"

namespace kerf::testing_support {

struct DivergenceFixture {
  GraphModule module;
  ValueList inputs;

  /// A float32 input [4, 8] that rises from `first` in equal steps.
  NodeId rising(const std::string& name, float first, float step) {
    const NodeId id = module.graph.placeholder(name);
    module.graph.setValueMeta(id, {TensorMeta{DType::Float32, {dim(4), dim(8)}, {dim(8), dim(1)}, 0, {}, false}});
    const Tensor values = Tensor::zeros(DType::Float32, {4, 8}).value();
    for (int i = 0; i < 32; ++i) values.data<float>()[i] = first + float(i) * step;
    inputs.emplace_back(values);
    return id;
  }

  /// With a fault ("relu=accuracy") or, where `plant` is empty, as it is.
  NodeDivergenceReport run(const std::string& plant, std::int64_t chunkBytes = 1 << 20) const {
    NodeDivergenceOptions options;
    options.chunkBytes = chunkBytes;
    if (!plant.empty()) options.compile.faults.faults.push_back(parseFault(plant).value());
    auto report = nodeDivergence(module, inputs, options);
    EXPECT_TRUE(report.has_value()) << report.error().text();
    return report ? *report : NodeDivergenceReport{};
  }
};

}  // namespace kerf::testing_support
