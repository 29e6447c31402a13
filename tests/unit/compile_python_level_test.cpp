// Dynamo's graphs call Python's functions and methods: they are compiled as the ATen ops that these are made of.
#include <algorithm>

#include <gmock/gmock.h>

#include "tests/support/compiled_fixture.h"

namespace kerf {
namespace {

using testing_support::expectClose;
using testing_support::expectLikeInterpreter;
using testing_support::parsed;
using testing_support::randomTensor;

const KernelInfo* kernelOf(const CompiledGraph& graph, const std::string& node) {
  for (const auto& kernel : graph.kernels())
    if (std::ranges::find(kernel.nodes, node) != kernel.nodes.end()) return &kernel;
  return nullptr;
}

constexpr const char* layerText = R"(
class GraphModule(torch.nn.Module):
    def forward(self, x: "f32[4, 6]", w: "f32[8, 6]", b: "f32[8]"):
        linear: "f32[4, 8]" = torch._C._nn.linear(x, w, b)
        relu: "f32[4, 8]" = torch.nn.functional.relu(linear, inplace = False)
        view: "f32[2, 16]" = relu.view(2, 16)
        add: "f32[2, 16]" = view + 1.5
        chunk = torch.chunk(add, 2, dim = 1)
        getitem: "f32[2, 8]" = chunk[0]
        getitem_1: "f32[2, 8]" = chunk[1]
        mul: "f32[2, 8]" = getitem * getitem_1
        softmax: "f32[2, 8]" = torch.nn.functional.softmax(mul, dim = -1)
        getitem_2: "f32[8]" = softmax[1]
        return (relu, softmax, getitem_2)
)";

struct Layer {
  GraphModule module = parsed(layerText);
  std::mt19937 random{3};
  ValueList inputs{randomTensor(DType::Float32, {4, 6}, random), randomTensor(DType::Float32, {8, 6}, random),
                   randomTensor(DType::Float32, {8}, random)};
};

TEST(PythonLevel, CallsAreLoweredAsTheOpsTheyAreMadeOf) {
  const Layer layer;
  const auto graph = compileFx(layer.module, {});
  ASSERT_TRUE(graph) << graph.error().text();
  expectLikeInterpreter(layer.module, **graph, layer.inputs);
  const KernelInfo* linear = kernelOf(**graph, "linear");
  ASSERT_TRUE(linear);
  EXPECT_EQ(linear->reason, "gemm");
  EXPECT_EQ(kernelOf(**graph, "mul")->kind, "fused");
  for (const KernelInfo& kernel : (*graph)->kernels())
    for (const std::string& node : kernel.nodes)
      EXPECT_TRUE(layer.module.graph.find(node)) << node << " is no node that users know";
}

TEST(PythonLevel, CallsHoldFaults) {
  Layer layer;
  CompileOptions options;
  options.faults.faults = {*parseFault("relu=runtime_error")};
  EXPECT_TRUE(checkOptions(layer.module, options));
  const auto graph = compileFx(layer.module, options);
  ASSERT_TRUE(graph) << graph.error().text();
  const auto result = (*graph)->run(layer.inputs);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().node, "relu");
}

TEST(PythonLevel, WritesIntoTensorsAreSeen) {
  const GraphModule module = parsed(R"(
class GraphModule(torch.nn.Module):
    def forward(self, x: "f32[3, 4]", y: "f32[4]"):
        clone: "f32[3, 4]" = x.clone()
        add_: "f32[3, 4]" = clone.add_(1.0)
        setitem = operator.setitem(clone, 1, y)
        mul: "f32[3, 4]" = clone * 2
        return (mul, add_)
)");
  const auto graph = compileFx(module, {});
  ASSERT_TRUE(graph) << graph.error().text();
  std::mt19937 random{5};
  expectLikeInterpreter(module, **graph,
                        {randomTensor(DType::Float32, {3, 4}, random), randomTensor(DType::Float32, {4}, random)});
}

TEST(PythonLevel, WhatNobodyKnowsIsNamed) {
  const GraphModule module = parsed(R"(
class GraphModule(torch.nn.Module):
    def forward(self, x: "f32[3, 4]"):
        sin: "f32[3, 4]" = torch.sin(x)
        strange: "f32[3, 4]" = torch.ops.mylib.strange.default(sin)
        return (strange,)
)");
  const auto graph = compileFx(module, {});
  ASSERT_FALSE(graph);
  EXPECT_EQ(graph.error().code, ErrorCode::UnsupportedOp);
  EXPECT_EQ(graph.error().node, "strange");
}

/// An input in another memory layout than the annotation's is copied; what is written into it must come back.
TEST(CompiledInputs, WithOtherStridesAreWrittenInto) {
  const GraphModule module = parsed(R"(
class GraphModule(torch.nn.Module):
    def forward(self, x: "f32[3, 4]", y: "f32[3, 4]"):
        copy_: "f32[3, 4]" = torch.ops.aten.copy_.default(x, y)
        return (copy_,)
)");
  const auto graph = compileFx(module, {});
  ASSERT_TRUE(graph) << graph.error().text();
  std::mt19937 random{9};
  const Tensor memory = *Tensor::zeros(DType::Float32, {4, 3});
  const Tensor turned = memory.viewAs({3, 4}, {1, 3}, 0);
  const Tensor other = randomTensor(DType::Float32, {3, 4}, random);
  const auto result = (*graph)->run({turned, other});
  ASSERT_TRUE(result) << result.error().text();
  expectClose(other, turned, 0, "the input after the run");
}

}  // namespace
}  // namespace kerf
