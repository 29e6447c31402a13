// Dynamo's graphs call Python's functions and methods: they are compiled as the ATen ops that these are made of.
#include <algorithm>
#include <cmath>

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

/// The values of the graph's only output, which both engines agree on.
std::vector<float> resultOf(const std::string& statement, const ValueList& inputs, std::string_view parameters) {
  const GraphModule module = parsed(fmt::format("\nclass GraphModule(torch.nn.Module):\n    def forward(self, {}):\n"
                                                "        out = {}\n        return (out,)\n",
                                                parameters, statement)
                                        .c_str());
  const auto graph = compileFx(module, {});
  if (!graph) {
    ADD_FAILURE() << graph.error().text();
    return {};
  }
  expectLikeInterpreter(module, **graph, inputs);
  const auto result = Interpreter(module, referenceOps()).run(inputs);
  if (!result) return {};
  const Tensor out = testing_support::partsOf(*result)[0].tensor().contiguous().value();
  return {out.data<float>(), out.data<float>() + out.numel()};
}

Tensor floats(const std::vector<float>& values) {
  Tensor tensor = *Tensor::zeros(DType::Float32, {std::int64_t(values.size())});
  std::ranges::copy(values, tensor.data<float>());
  return tensor;
}

TEST(PythonLevel, LossesTakeTheReductionByName) {
  struct Row {
    std::string call;
    std::vector<float> expected;
  };
  const ValueList inputs{floats({1, 2, 4}), floats({1, 4, 1})};
  const Row rows[] = {
      {"mse_loss(v, u, reduction = 'mean')", {13.0f / 3}},
      {"mse_loss(v, u, None, None, 'sum')", {13}},
      {"mse_loss(v, u, reduction = 'none')", {0, 4, 9}},
      {"mse_loss(v, u, size_average = False)", {13}},
      {"mse_loss(v, u, reduce = False)", {0, 4, 9}},
      {"l1_loss(input = v, target = u, reduction = 'sum')", {5}},
      {"smooth_l1_loss(v, u, reduction = 'sum', beta = 2.0)", {3}},
      {"huber_loss(v, u, 'none', 2.0)", {0, 2, 4}},
      {"hinge_embedding_loss(v, u, margin = 2.0, reduction = 'sum')", {1 + 2 + 4}},
      {"poisson_nll_loss(v, u, log_input = False, reduction = 'none', eps = 0.0)",
       {1, 2 - 4 * std::log(2.0f), 4 - std::log(4.0f)}},
      {"kl_div(v, u, reduction = 'batchmean', log_target = False)", {(-1 + 4 * (std::log(4.0f) - 2) - 4) / 3}},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.call);
    const auto given = resultOf("torch.nn.functional." + row.call, inputs, "v: \"f32[3]\", u: \"f32[3]\"");
    EXPECT_THAT(given, ::testing::Pointwise(::testing::FloatNear(1e-5f), row.expected));
  }
}

TEST(PythonLevel, TheThirdArgumentOfEluIsInplace) {
  const ValueList inputs{floats({-1, 0, 2})};
  const std::vector<float> expected{std::expm1(-1.0f), 0, 2};
  for (const auto* call : {"elu(v, 1.0, False)", "elu(v)", "elu(v, alpha = 1.0, inplace = False)"})
    EXPECT_THAT(resultOf(std::string("torch.nn.functional.") + call, inputs, "v: \"f32[3]\""),
                ::testing::Pointwise(::testing::FloatNear(1e-6f), expected))
        << call;
}

TEST(PythonLevel, AListOfNumbersIsAnIndexTensor) {
  const ValueList inputs{testing_support::counted({3, 2}, 0)};
  const auto rows = [&](const std::string& statement) { return resultOf(statement, inputs, "v: \"f32[3, 2]\""); };
  EXPECT_EQ(rows("v[[2, 0]] * 1.0"), rows("torch.cat([v[2:3], v[0:1]])"));
  EXPECT_EQ(rows("v[(2, 0)] * 1.0").size(), 1u) << "a tuple has one number for each dimension";
  EXPECT_EQ(rows("v[(slice(None, None, None), [1])] * 1.0"), rows("v[:, 1:2] * 1.0"));
}

}  // namespace
}  // namespace kerf
