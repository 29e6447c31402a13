// Reductions of everything, divided among threads in pieces of one size, and transposes by blocks.
#include <cmath>
#include <cstring>
#include <limits>

#include <gmock/gmock.h>

#include "engine/loops/loop_ir.h"
#include "tests/support/compiled_fixture.h"

namespace kerf {
namespace {

using testing_support::counted;
using testing_support::expectLikeInterpreter;
using testing_support::parsed;
using testing_support::partsOf;

void expectSame(const char* text, const ValueList& inputs) {
  const GraphModule module = parsed(text);
  auto graph = compileFx(module);
  ASSERT_TRUE(graph) << graph.error().text();
  expectLikeInterpreter(module, **graph, inputs);
}

LoopKernel sumOver(std::vector<LoopVariable> variables) {
  LoopKernel kernel{
      .name = "k", .variables = std::move(variables), .buffers = {{DType::Float32, "x"}, {DType::Float32, "y"}}};
  Affine index = Affine::variable(0);
  if (kernel.variables.size() > 1) index = index + Affine::variable(1) * kernel.variables[0].size;
  kernel.exprs = {{.op = ExprOp::Load, .buffer = 0, .index = index}, {.op = ExprOp::ReduceSum, .args = {0, -1, -1}}};
  kernel.stores = {{1, {}, 1, false}};
  return kernel;
}

TEST(SharedReductions, AreLargeOnesOfEverything) {
  const auto shared = sharedReduction(sumOver({{1 << 20, true}}));
  ASSERT_TRUE(shared);
  EXPECT_EQ(shared->pieces, 64);
  EXPECT_EQ(shared->chunk, 1 << 14);
  EXPECT_EQ(shared->reductions, 1);
  const auto uneven = sharedReduction(sumOver({{70001, true}}));
  ASSERT_TRUE(uneven);
  EXPECT_EQ(uneven->chunk, 1094);
  EXPECT_EQ(uneven->pieces, 64);
  EXPECT_FALSE(sharedReduction(sumOver({{1000, true}}))) << "few elements";
  EXPECT_FALSE(sharedReduction(sumOver({{std::numeric_limits<std::int64_t>::max(), true}}))) << "never ends";
  EXPECT_FALSE(sharedReduction(sumOver({{3'000'000'000'000'000, true}, {3'000'000'000'000'000, true}}))) << "overflows";
  EXPECT_FALSE(sharedReduction(sumOver({{1000, true}, {1 << 20, false}}))) << "rows are divided among threads";
  const auto columns = sharedReduction(sumOver({{768, false}, {2048, true}}));
  ASSERT_TRUE(columns);
  EXPECT_EQ(columns->column, 0u);
  EXPECT_EQ(columns->columns, 768);
  EXPECT_EQ(columns->variable, 1u);
  EXPECT_EQ(columns->pieces, 16);
  EXPECT_FALSE(sharedReduction(sumOver({{8192, false}, {2048, true}}))) << "columns enough for threads";
  EXPECT_FALSE(sharedReduction(sumOver({{768, false}, {64, true}}))) << "few elements";
}

/// sum over rows of a factor for each row times an element: the factor's own walk is none to go by.
TEST(SharedReductions, OfColumnsWithAFactorForEachRow) {
  LoopKernel kernel = sumOver({{512, false}, {4096, true}});
  kernel.buffers.push_back({DType::Float32, "factors"});
  kernel.exprs = {kernel.exprs[0],
                  {.op = ExprOp::Load, .buffer = 2, .index = Affine::variable(1)},
                  {.op = ExprOp::Mul, .args = {0, 1, -1}},
                  {.op = ExprOp::ReduceSum, .args = {2, -1, -1}}};
  kernel.stores[0].value = 3;
  const auto shared = sharedReduction(kernel);
  ASSERT_TRUE(shared);
  EXPECT_EQ(shared->column, 0u);
  EXPECT_EQ(shared->columns, 512);
}

/// A convolution's rows are handed to the kernel behind it block by block, which a reduction that threads share cannot
/// take.
TEST(SharedReductions, AreNotJoinedToAConvolution) {
  const ValueList inputs{counted({1, 4, 31, 33}).viewAs({1, 4, 31, 33}, {4092, 1, 132, 4}, 0), counted({1100, 4, 1, 1}),
                         counted({1, 1100, 31, 33}), counted({1, 1100, 31, 33}, -2)};
  expectSame(
      R"(def forward(self, x: "f32[1, 4, 31, 33][4092, 1, 132, 4]", w: "f32[1100, 4, 1, 1][4, 1, 4, 4]", y: "f32[1, 1100, 31, 33]", z: "f32[1, 1100, 31, 33]"):
    convolution = torch.ops.aten.convolution.default(x, w, None, [1, 1], [0, 0], [1, 1], False, [0, 0], 1)
    mul = torch.ops.aten.mul.Tensor(convolution, y)
    mul_1 = torch.ops.aten.mul.Tensor(mul, z)
    sum_1 = torch.ops.aten.sum.dim_IntList(mul_1, [1])
    return (sum_1,)
)",
      inputs);
}

TEST(SharedReductions, GiveWhatTheInterpreterGives) {
  expectSame(R"(def forward(self, x: "f32[300, 457]", y: "f32[300, 457]"):
    mul = torch.ops.aten.mul.Tensor(x, y)
    sum_1 = torch.ops.aten.sum.default(mul)
    amax = torch.ops.aten.amax.default(x)
    mean = torch.ops.aten.mean.default(y)
    add = torch.ops.aten.add.Tensor(sum_1, mean)
    return (add, amax, mul)
)",
             {counted({300, 457}), counted({300, 457}, -2)});
  expectSame(R"(def forward(self, x: "f32[512, 300]"):
    permute = torch.ops.aten.permute.default(x, [1, 0])
    gt = torch.ops.aten.gt.Scalar(permute, 1e9)
    any_1 = torch.ops.aten.any.default(gt)
    var_mean = torch.ops.aten.var_mean.correction(x, None, correction = 1)
    getitem = var_mean[0]
    getitem_1 = var_mean[1]
    return (any_1, getitem, getitem_1)
)",
             {counted({512, 300})});
}

TEST(SharedReductions, OfColumnsGiveWhatTheInterpreterGives) {
  expectSame(R"(def forward(self, x: "f32[3600, 300]", y: "f32[3600, 300]", b: "f32[300]"):
    mul = torch.ops.aten.mul.Tensor(x, y)
    add = torch.ops.aten.add.Tensor(mul, b)
    sum_1 = torch.ops.aten.sum.dim_IntList(add, [0])
    amax = torch.ops.aten.amax.default(x, [0])
    mul_1 = torch.ops.aten.mul.Tensor(sum_1, b)
    return (sum_1, amax, mul_1, add)
)",
             {counted({3600, 300}), counted({3600, 300}, -2), counted({300}, -30)});
  expectSame(R"(def forward(self, x: "f32[6, 190, 990]"):
    sum_1 = torch.ops.aten.sum.dim_IntList(x, [0, 1])
    mean = torch.ops.aten.mean.dim(x, [0, 1])
    return (sum_1, mean)
)",
             {counted({6, 190, 990})});
}

TEST(SharedReductions, AMaximumKnowsOfOneNaN) {
  for (const char* text : {R"(def forward(self, x: "f32[100000]"):
    amax = torch.ops.aten.amax.default(x)
    amin = torch.ops.aten.amin.default(x)
    return (amax, amin)
)",
                           R"(def forward(self, x: "f32[100, 1000]"):
    amax = torch.ops.aten.amax.default(x, [1])
    amin = torch.ops.aten.amin.default(x, [1])
    return (amax, amin)
)"}) {
    const GraphModule module = parsed(text);
    auto graph = compileFx(module);
    ASSERT_TRUE(graph) << graph.error().text();
    const Sizes sizes = std::strstr(text, "100000") != nullptr ? Sizes{100000} : Sizes{100, 1000};
    for (const std::int64_t at : {0, 7, 50017, 99999}) {
      Tensor x = counted(sizes);
      x.data<float>()[at] = NAN;
      const auto result = (*graph)->run({x});
      ASSERT_TRUE(result) << result.error().text();
      for (const Value& part : partsOf(*result)) {
        const Tensor& out = part.tensor();
        const std::int64_t row = out.numel() == 1 ? 0 : at / 1000;
        for (std::int64_t r = 0; r < out.numel(); ++r)
          EXPECT_EQ(std::isnan(out.data<float>()[r]), r == row) << at << " " << r;
      }
    }
  }
}

TEST(Transposes, ByBlocksAndAtTheEdges) {
  expectSame(R"(def forward(self, x: "f32[200, 133]", y: "f32[133, 200]"):
    permute = torch.ops.aten.permute.default(x, [1, 0])
    add = torch.ops.aten.add.Tensor(y, permute)
    return (add,)
)",
             {counted({200, 133}), counted({133, 200})});
  expectSame(R"(def forward(self, x: "f32[3, 128, 192]"):
    permute = torch.ops.aten.permute.default(x, [0, 2, 1])
    convert = torch.ops.prims.convert_element_type.default(permute, torch.float64)
    clone = torch.ops.aten.clone.default(convert, memory_format = torch.contiguous_format)
    gt = torch.ops.aten.gt.Scalar(clone, 0)
    return (clone, gt)
)",
             {counted({3, 128, 192})});
  for (const char* dtype : {"bfloat16", "float64", "bool", "int64"}) {
    const std::string text = fmt::format(R"(def forward(self, x: "f32[128, 130]"):
    convert = torch.ops.prims.convert_element_type.default(x, torch.{})
    sum_1 = torch.ops.aten.sort.default(convert, 0)
    getitem = sum_1[0]
    permute = torch.ops.aten.permute.default(getitem, [1, 0])
    clone = torch.ops.aten.clone.default(permute, memory_format = torch.contiguous_format)
    return (clone,)
)",
                                         dtype);
    expectSame(text.c_str(), {counted({128, 130})});
  }
}

}  // namespace
}  // namespace kerf
