// Running sums, products and extrema in generated loops, beside the ops' own kernels.
#include <gmock/gmock.h>

#include <limits>
#include <span>

#include "engine/support/thread_pool.h"
#include "tests/support/compiled_fixture.h"

namespace kerf {
namespace {

using testing_support::expectClose;
using testing_support::GraphFixture;
using testing_support::parsed;
using testing_support::partsOf;
using testing_support::randomTensor;

bool callsAny(const CompiledGraph& graph) {
  return std::ranges::any_of(graph.kernels(), [](const KernelInfo& kernel) { return kernel.kind == "extern"; });
}

/// Every output, and by one thread the same bits, but for functions whose vector and scalar forms differ by a bit.
void expectScanned(const GraphFixture& f, double tolerance, const std::string& what, double byThreads = 0) {
  const auto graph = compileFx(f.module, {});
  ASSERT_TRUE(graph) << what << ": " << graph.error().text();
  EXPECT_FALSE(callsAny(**graph)) << what;
  const auto reference = f.interpret(), result = (*graph)->run(f.inputs);
  ASSERT_TRUE(reference) << what << ": " << reference.error().text();
  ASSERT_TRUE(result) << what << ": " << result.error().text();
  const int threads = threadCount();
  setThreadCount(1);
  const auto alone = (*graph)->run(f.inputs);
  setThreadCount(threads);
  ASSERT_TRUE(alone);
  for (std::size_t i = 0; i < partsOf(*reference).size(); ++i) {
    const Tensor own = partsOf(*result)[i].tensor();
    expectClose(partsOf(*reference)[i].tensor(), own, tolerance, what);
    expectClose(partsOf(*alone)[i].tensor(), own, byThreads, what + " by one thread");
  }
}

struct Line {
  Sizes sizes;
  std::int64_t dim;
};
const Line lines[] = {{{37}, 0},       {{5, 31}, 1},      {{31, 5}, 0},   {{31, 40}, -2}, {{3, 7, 11}, 1},
                      {{3, 7, 11}, 0}, {{3, 7, 11}, 2},   {{1, 1500}, 1}, {{4, 1}, 1},    {{1, 6}, 0},
                      {{70, 1100}, 0}, {{2, 9, 1030}, 1}, {{200000}, 0}};

/// All of them in float32, the first few in other types.
std::span<const Line> linesFor(DType dtype) {
  return std::span(lines).first(dtype == DType::Float32 ? std::size(lines) : 4);
}

const DType everyType[] = {DType::Float32, DType::Float64, DType::BFloat16, DType::Float16,
                           DType::Int64,   DType::Int32,   DType::UInt8,    DType::Bool};

TEST(ScanLoops, SumsAndProducts) {
  for (const char* op : {"aten.cumsum.default", "aten.cumprod.default"})
    for (const DType dtype : everyType)
      for (const Line& line : linesFor(dtype)) {
        GraphFixture f;
        f.output({f.call(op, {f.input("x", dtype, line.sizes), line.dim})});
        expectScanned(f, 0,
                      fmt::format("{} {} {} along {}", op, dtypeInfo(dtype).shortCode, line.sizes.size(), line.dim));
      }
}

/// Not of bool, which PyTorch refuses (Refusals).
TEST(ScanLoops, OfAnotherType) {
  for (const auto& [from, to] : {std::pair{DType::Float32, "float64"},
                                 {DType::Float32, "int32"},
                                 {DType::Int64, "float32"},
                                 {DType::Float64, "bfloat16"}}) {
    const std::string text = fmt::format(
        "def forward(self, x: \"{}[6, 9]\"):\n    cumsum = torch.ops.aten.cumsum.default(x, 1, dtype = torch.{})\n"
        "    return (cumsum,)\n",
        dtypeInfo(from).shortCode, to);
    const GraphModule module = parsed(text.c_str());
    const auto graph = compileFx(module);
    ASSERT_TRUE(graph) << text;
    EXPECT_FALSE(callsAny(**graph)) << text;
    std::mt19937 random{3};
    testing_support::expectLikeInterpreter(module, **graph, {randomTensor(from, {6, 9}, random)});
  }
}

TEST(ScanLoops, LogarithmsOfSums) {
  for (const DType dtype : {DType::Float32, DType::Float64, DType::BFloat16})
    for (const Line& line : linesFor(dtype)) {
      GraphFixture f;
      f.output({f.call("aten.logcumsumexp.default", {f.input("x", dtype, line.sizes), line.dim})});
      const double tolerance = dtype == DType::Float64 ? 1e-13 : dtype == DType::Float32 ? 1e-6 : 8e-3;
      expectScanned(f, tolerance, fmt::format("{} along {}", dtypeInfo(dtype).shortCode, line.dim), tolerance);
    }
}

TEST(ScanLoops, ExtremaAndWhereTheyStand) {
  for (const char* op : {"aten.cummax.default", "aten.cummin.default"})
    for (const DType dtype : everyType)
      for (const Line& line : linesFor(dtype)) {
        GraphFixture f, g;
        const NodeId both = f.call(op, {f.input("x", dtype, line.sizes), line.dim});
        f.output({f.item(both, 0), f.item(both, 1)});
        expectScanned(f, 0, fmt::format("{} {} along {}", op, dtypeInfo(dtype).shortCode, line.dim));
        const NodeId other = g.call(op, {g.input("x", dtype, line.sizes), line.dim});
        g.output({g.item(other, 1)});
        expectScanned(g, 0, fmt::format("{} {} along {}, places alone", op, dtypeInfo(dtype).shortCode, line.dim));
      }
}

TEST(ScanLoops, WhatIsNoNumber) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  const std::vector<std::vector<double>> rows{
      {-0.0, 0.0, -0.0, 1, 1},          {1, nan, 2, nan, 3},
      {infinity, -infinity, 1, 2, 3},   {-infinity, -infinity, -infinity, 0, 1},
      {nan, infinity, -infinity, 0, 5}, {-infinity, infinity, infinity, 2, nan}};
  Tensor x = *Tensor::zeros(DType::Float64, {std::int64_t(rows.size()), 5});
  for (std::size_t r = 0; r < rows.size(); ++r) std::ranges::copy(rows[r], x.data<double>() + 5 * r);
  for (const char* op : {"cumsum", "cumprod", "logcumsumexp", "cummax", "cummin"})
    for (const std::int64_t dim : {0, 1}) {
      GraphFixture f;
      const NodeId scan = f.call(fmt::format("aten.{}.default", op), {f.input("x", x), dim});
      if (std::string_view(op).starts_with("cumm"))
        f.output({f.item(scan, 0), f.item(scan, 1)});
      else
        f.output({scan});
      expectScanned(f, 1e-14, fmt::format("{} along {}", op, dim));
    }
  GraphFixture f;
  f.output({f.call("aten.cumsum.default", {f.input("x", x), std::int64_t{1}})});
  const auto graph = compileFx(f.module, {});
  ASSERT_TRUE(graph);
  EXPECT_TRUE(std::signbit(partsOf(*(*graph)->run(f.inputs))[0].tensor().data<double>()[0])) << "-0.0 stays";
}

TEST(ScanLoops, ProducersAndFollowersAreOneKernel) {
  const GraphModule module = parsed(R"(def forward(self, x: "f32[12, 50]"):
    gt = torch.ops.aten.gt.Scalar(x, 0.0)
    full = torch.ops.aten.full.default([], 0.0, dtype = torch.float32)
    where = torch.ops.aten.where.self(gt, x, full)
    cumsum = torch.ops.aten.cumsum.default(where, 1)
    sub = torch.ops.aten.sub.Tensor(cumsum, where)
    amax = torch.ops.aten.amax.default(cumsum, [1], True)
    div = torch.ops.aten.div.Tensor(sub, amax)
    return (div,)
)");
  const auto graph = compileFx(module);
  ASSERT_TRUE(graph);
  ASSERT_THAT((*graph)->kernels(), ::testing::SizeIs(1));
  EXPECT_THAT((*graph)->kernels()[0].text("loop"), ::testing::HasSubstr("= carry %"));
  std::mt19937 random{5};
  testing_support::expectLikeInterpreter(module, **graph, {randomTensor(DType::Float32, {12, 50}, random)});
}

/// Along rows a scan goes an element at a time, and exponentials are much faster by vectors; columns are vectors.
TEST(ScanLoops, WhatIsExpensiveIsNotComputedAlongRows) {
  std::mt19937 random{6};
  for (const bool rows : {true, false}) {
    const GraphModule module = parsed(fmt::format(R"(def forward(self, x: "f32[12, 50]"):
    tanh = torch.ops.aten.tanh.default(x)
    exp = torch.ops.aten.exp.default(tanh)
    cumsum = torch.ops.aten.cumsum.default(exp, {})
    sigmoid = torch.ops.aten.sigmoid.default(cumsum)
    return (sigmoid,)
)",
                                                  rows ? 1 : 0)
                                          .c_str());
    const auto graph = compileFx(module);
    ASSERT_TRUE(graph);
    EXPECT_THAT((*graph)->kernels(), ::testing::SizeIs(rows ? 3 : 1));
    testing_support::expectLikeInterpreter(module, **graph, {randomTensor(DType::Float32, {12, 50}, random)});
  }
}

TEST(ScanLoops, OneAfterAnother) {
  const GraphModule module = parsed(R"(def forward(self, x: "f32[12, 50]"):
    sum_1 = torch.ops.aten.sum.dim_IntList(x, [1], True)
    div = torch.ops.aten.div.Tensor(x, sum_1)
    cumsum = torch.ops.aten.cumsum.default(div, 1)
    cumsum_1 = torch.ops.aten.cumsum.default(cumsum, 0)
    flip = torch.ops.aten.flip.default(cumsum_1, [1])
    cumsum_2 = torch.ops.aten.cumsum.default(flip, 1)
    cumsum_3 = torch.ops.aten.cumsum.default(cumsum_2, 1)
    return (cumsum, cumsum_1, cumsum_3)
)");
  const auto graph = compileFx(module);
  ASSERT_TRUE(graph);
  EXPECT_FALSE(callsAny(**graph));
  std::mt19937 random{6};
  testing_support::expectLikeInterpreter(module, **graph, {randomTensor(DType::Float32, {12, 50}, random)});
}

TEST(ScanLoops, OfNothingAndOfANumber) {
  for (const Sizes& sizes : {Sizes{0, 5}, Sizes{5, 0}, Sizes{}}) {
    GraphFixture f, g;
    const std::int64_t dim = sizes.empty() ? 0 : 1;
    f.output({f.call("aten.cumsum.default", {f.input("x", DType::Float32, sizes), dim})});
    expectScanned(f, 0, "sums of nothing, or of a number");
    const NodeId both = g.call("aten.cummin.default", {g.input("x", DType::Float32, sizes), dim});
    g.output({g.item(both, 0), g.item(both, 1)});
    expectScanned(g, 0, "the least of nothing, or of a number");
  }
}

}  // namespace
}  // namespace kerf
