// Small values that their reader computes again, once per channel where channels are the innermost loop.
#include "engine/backend/backend.h"
#include "engine/pipeline/compile_fx.h"
#include "engine/support/thread_pool.h"
#include "tests/support/graph_fixture.h"

namespace kerf {
namespace {

using testing_support::expectClose;
using testing_support::GraphFixture;

/// (x - mean) * (1 / sqrt(variance + epsilon)), in what the tensors broadcast to.
NodeId normalised(GraphFixture& f, NodeId x, DType dtype, const Sizes& weight) {
  const NodeId variance = f.call("aten.abs.default", {f.input("v", dtype, weight)});
  const NodeId shifted = f.call("aten.add.Tensor", {variance, Argument(0.5)});
  const NodeId factor = f.call("aten.reciprocal.default", {f.call("aten.sqrt.default", {shifted})});
  return f.call("aten.mul.Tensor", {f.call("aten.sub.Tensor", {x, f.input("m", dtype, weight)}), factor});
}

void expectSame(const GraphFixture& f, std::size_t kernels, double tolerance, const std::string& what) {
  const auto graph = compileFx(f.module, {});
  ASSERT_TRUE(graph) << what << ": " << graph.error().text();
  EXPECT_EQ((*graph)->kernels().size(), kernels) << what;
  const auto reference = f.interpret();
  ASSERT_TRUE(reference) << what;
  const int before = threadCount();
  for (const int threads : {1, 3}) {
    setThreadCount(threads);
    const auto result = (*graph)->run(f.inputs);
    ASSERT_TRUE(result) << what;
    for (std::size_t i = 0; i < result->list().size(); ++i)
      expectClose(reference->list()[i].tensor(), result->list()[i].tensor(), tolerance, fmt::format("{}: {}", what, i));
  }
  setThreadCount(before);
}

TEST(Hoists, FactorsOfEveryTypeAndSize) {
  for (const DType dtype : {DType::Float32, DType::Float64, DType::BFloat16, DType::Float16})
    for (const std::int64_t rows : {2, 3, 4, 77, 1000})
      for (const std::int64_t channels : {2, 7, 64, 333}) {
        GraphFixture f;
        const NodeId x = f.input("x", dtype, {rows, channels});
        f.output({normalised(f, x, dtype, {channels})});
        const bool half = dtype == DType::BFloat16 || dtype == DType::Float16;
        expectSame(f, 1, half ? 2e-2 : 1e-5, fmt::format("{} x {} of {}", rows, channels, int(dtype)));
      }
}

TEST(Hoists, ChannelsInTheMiddleAndOutside) {
  for (const Sizes& sizes : {Sizes{3, 17, 5, 9}, Sizes{2, 1, 8, 8}, Sizes{1, 40, 3, 2}}) {
    GraphFixture f;
    const NodeId x = f.input("x", DType::Float32, sizes);
    f.output({normalised(f, x, DType::Float32, {sizes[1], 1, 1})});
    expectSame(f, 1, 1e-5, fmt::format("{}", fmt::join(sizes, ", ")));
  }
  GraphFixture rows;
  const NodeId x = rows.input("x", DType::Float32, {50, 30});
  rows.output({normalised(rows, x, DType::Float32, {50, 1})});
  expectSame(rows, 1, 1e-5, "per row");
}

TEST(Hoists, LargeValuesAndThoseOfSeveralReadersHaveMemory) {
  GraphFixture large;
  const NodeId x = large.input("x", DType::Float32, {9, 5000});
  large.output({normalised(large, x, DType::Float32, {5000})});
  expectSame(large, 2, 1e-5, "large");
  GraphFixture seen;
  const NodeId y = seen.input("y", DType::Float32, {9, 50});
  const NodeId factor =
      seen.call("aten.rsqrt.default", {seen.call("aten.abs.default", {seen.input("v", DType::Float32, {50})})});
  seen.output({seen.call("aten.mul.Tensor", {y, factor}), factor});
  expectSame(seen, 2, 1e-5, "seen");
}

TEST(Hoists, SeveralFactorsInOneKernel) {
  GraphFixture f;
  const NodeId x = f.input("x", DType::Float32, {41, 19});
  const NodeId once = normalised(f, x, DType::Float32, {19});
  f.output({normalised(f, f.call("aten.relu.default", {once}), DType::Float32, {19})});
  expectSame(f, 1, 1e-5, "twice");
}

TEST(Hoists, FactorsOfColumnsThatAreReduced) {
  for (const Sizes& sizes : {Sizes{2, 300, 24}, Sizes{1, 5, 9}, Sizes{3, 7, 1300}, Sizes{1, 9000, 17}}) {
    GraphFixture f;
    const NodeId x = f.input("x", DType::Float32, sizes);
    const NodeId y = normalised(f, x, DType::Float32, {sizes[2]});
    ArgumentList rows;
    rows.emplace_back(std::int64_t(1));
    f.output({y, f.call("aten.mean.dim", {f.call("aten.relu.default", {y}), Argument::list(std::move(rows))})});
    const auto graph = compileFx(f.module, {});
    ASSERT_TRUE(graph);
    expectSame(f, (*graph)->kernels().size(), 1e-5, fmt::format("{}", fmt::join(sizes, ", ")));
  }
}

TEST(Hoists, WhatTheKernelWritesIsReadWhereItIsNeeded) {
  GraphFixture f;
  const NodeId x = f.input("x", DType::Float32, {12, 16}), v = f.input("v", DType::Float32, {16});
  const NodeId factor = f.call("aten.exp.default", {v});
  const NodeId scaled = f.call("aten.mul.Tensor", {x, factor});
  const NodeId sum = f.call("aten.copy_.default", {v, f.call("aten.neg.default", {v})});
  f.output({scaled, sum});
  const Tensor before = f.inputs[1].tensor().clone().value();
  const auto reference = f.interpret();
  ASSERT_TRUE(reference);
  const Tensor wanted = reference->list()[0].tensor();
  f.inputs[1] = Value(before);
  const auto graph = compileFx(f.module, {});
  ASSERT_TRUE(graph) << graph.error().text();
  const auto result = (*graph)->run(f.inputs);
  ASSERT_TRUE(result);
  expectClose(wanted, result->list()[0].tensor(), 1e-5, "scaled");
}

}  // namespace
}  // namespace kerf
