// Writes of few rows by index in generated loops, beside the op's own kernel.
#include <gmock/gmock.h>

#include "tests/support/compiled_fixture.h"

namespace kerf {
namespace {

using testing_support::counted;
using testing_support::expectLikeInterpreter;
using testing_support::parsed;

bool hasCalls(const CompiledGraph& graph) {
  return std::ranges::any_of(graph.kernels(), [](const KernelInfo& kernel) { return kernel.kind == "extern"; });
}

Tensor positions(const Sizes& sizes, std::initializer_list<std::int64_t> values) {
  Tensor tensor = *Tensor::zeros(DType::Int64, sizes);
  std::ranges::copy(values, tensor.data<std::int64_t>());
  return tensor;
}

void expectPut(const std::string& text, const ValueList& inputs, bool loops = true) {
  const GraphModule module = parsed(text.c_str());
  auto graph = compileFx(module);
  ASSERT_TRUE(graph) << text << graph.error().text();
  EXPECT_EQ(hasCalls(**graph), !loops) << text;
  expectLikeInterpreter(module, **graph, inputs);
}

std::string graphOf(std::string_view arguments, std::string_view call, std::string_view op = "index_put") {
  return fmt::format("def forward(self, {}):\n    index_put = torch.ops.aten.{}.default({})\n    return (index_put,)\n",
                     arguments, op, call);
}

TEST(IndexPutLoops, ACacheGetsItsNewKeys) {
  expectPut(graphOf(R"(x: "f32[1, 3, 20, 8]", i: "i64[1]", v: "f32[1, 3, 1, 8]")", "x, [None, None, i], v"),
            {counted({1, 3, 20, 8}), positions({1}, {13}), counted({1, 3, 1, 8}, 900)});
}

TEST(IndexPutLoops, WhereAndHowManyIndices) {
  for (const std::string_view adds : {"False", "True"}) {
    const auto call = [&](std::string_view first) { return fmt::format("{}, {}", first, adds); };
    expectPut(graphOf(R"(x: "f32[7, 5]", i: "i64[4]", v: "f32[4, 5]")", call("x, [i], v")),
              {counted({7, 5}), positions({4}, {2, -1, 2, 0}), counted({4, 5}, 100)});
    expectPut(graphOf(R"(x: "f32[7, 5]", i: "i64[3]", j: "i64[3]", v: "f32[]")", call("x, [i, j], v")),
              {counted({7, 5}), positions({3}, {2, 2, -7}), positions({3}, {4, 4, 1}), counted({}, 50)});
    expectPut(graphOf(R"(x: "f32[4, 6, 5]", i: "i64[2, 1]", j: "i64[3]", v: "f32[2, 3, 6]")",
                      call("x, [i, None, j], v"), "_unsafe_index_put"),
              {counted({4, 6, 5}), positions({2, 1}, {3, 1}), positions({3}, {0, 4, 0}), counted({2, 3, 6}, 70)});
  }
}

TEST(IndexPutLoops, TheLastOfEqualPlacesStays) {
  const GraphModule module = parsed(graphOf(R"(x: "f32[3]", i: "i64[5]", v: "f32[5]")", "x, [i], v").c_str());
  auto graph = compileFx(module);
  ASSERT_TRUE(graph);
  const auto result = (*graph)->run({counted({3}), positions({5}, {1, 0, 1, 0, 1}), counted({5}, 10)});
  ASSERT_TRUE(result);
  const float* const out = testing_support::partsOf(*result)[0].tensor().data<float>();
  EXPECT_FLOAT_EQ(out[0], 10 + 3 * 0.37F);
  EXPECT_FLOAT_EQ(out[1], 10 + 4 * 0.37F);
}

TEST(IndexPutLoops, ManyRowsAreLoopsToo) {
  expectPut(graphOf(R"(x: "f32[20, 2]", i: "i64[9]", v: "f32[9, 2]")", "x, [i], v, True"),
            {counted({20, 2}), positions({9}, {1, 2, 3, 4, 5, 6, 7, 1, 2}), counted({9, 2})});
}

TEST(IndexPutLoops, MasksAreCalls) {
  Tensor mask = *Tensor::zeros(DType::Bool, {6});
  mask.data<bool>()[4] = true;
  expectPut(graphOf(R"(x: "f32[6]", m: "b8[6]", v: "f32[]")", "x, [m], v"), {counted({6}), mask, counted({}, 3)},
            false);
}

TEST(IndexPutLoops, AnIndexOutsideIsTheErrorOfTheOpsOwnKernel) {
  const GraphModule module = parsed(graphOf(R"(x: "f32[3]", i: "i64[2]", v: "f32[2]")", "x, [i], v").c_str());
  auto graph = compileFx(module);
  ASSERT_TRUE(graph);
  for (const std::int64_t outside : {3, -4}) {
    const ValueList inputs{counted({3}), positions({2}, {1, outside}), counted({2})};
    const auto reference = Interpreter(module, referenceOps()).run(inputs), result = (*graph)->run(inputs);
    ASSERT_FALSE(reference || result);
    EXPECT_EQ(reference.error().message, result.error().message);
  }
}

}  // namespace
}  // namespace kerf
