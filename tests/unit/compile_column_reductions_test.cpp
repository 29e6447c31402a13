// Reductions over rows, of which the compiled kernels do many columns side by side.
#include "engine/pipeline/compile_fx.h"
#include "tests/support/graph_fixture.h"

namespace kerf {
namespace {

using testing_support::expectClose;
using testing_support::GraphFixture;

Argument listOf(std::initializer_list<std::int64_t> values) {
  ArgumentList items;
  for (const std::int64_t value : values) items.emplace_back(value);
  return Argument::list(std::move(items));
}

void expectSameAsInterpreter(const GraphFixture& f, double tolerance, const std::string& what) {
  const auto graph = compileFx(f.module, {});
  ASSERT_TRUE(graph) << what << ": " << graph.error().text();
  const auto reference = f.interpret(), result = (*graph)->run(f.inputs);
  ASSERT_TRUE(reference && result) << what;
  ASSERT_EQ(reference->list().size(), result->list().size());
  for (std::size_t i = 0; i < result->list().size(); ++i)
    expectClose(reference->list()[i].tensor(), result->list()[i].tensor(), tolerance, fmt::format("{}: {}", what, i));
}

TEST(ColumnReductions, SumAnyNumberOfColumns) {
  for (const std::int64_t columns : {1, 7, 8, 9, 255, 256, 257, 1025})
    for (const std::int64_t rows : {0, 1, 5, 64}) {
      GraphFixture f;
      const NodeId x = f.input("x", DType::Float32, {rows, columns}), y = f.input("y", DType::Float32, {rows, columns});
      const NodeId mul = f.call("aten.mul.Tensor", {x, y});
      f.output({f.call("aten.sum.dim_IntList", {mul, listOf({0})}), f.call("aten.sum.dim_IntList", {x, listOf({0})})});
      expectSameAsInterpreter(f, 1e-5, fmt::format("{} x {}", rows, columns));
    }
}

TEST(ColumnReductions, OfEveryKindAndType) {
  for (const DType dtype :
       {DType::Float32, DType::Float64, DType::BFloat16, DType::Float16, DType::Int64, DType::Int32})
    for (const char* op : {"aten.sum.dim_IntList", "aten.amax.default", "aten.amin.default"}) {
      GraphFixture f;
      const NodeId x = f.input("x", dtype, {33, 70});
      f.output({f.call(op, {x, listOf({0})})});
      expectSameAsInterpreter(f, dtype == DType::BFloat16 || dtype == DType::Float16 ? 2e-2 : 1e-5,
                              fmt::format("{} of {}", op, int(dtype)));
    }
  GraphFixture f;
  const NodeId x = f.input("x", DType::Float32, {33, 70});
  const NodeId big = f.call("aten.gt.Scalar", {x, Argument(1.9)});
  f.output({f.call("aten.any.dim", {big, Argument(std::int64_t(0))}),
            f.call("aten.all.dim", {big, Argument(std::int64_t(0))}),
            f.call("aten.prod.dim_int", {x, Argument(std::int64_t(0))})});
  expectSameAsInterpreter(f, 1e-5, "any, all, prod");
}

TEST(ColumnReductions, NanAndInfinityReachTheResult) {
  GraphFixture f;
  Tensor values = *Tensor::zeros(DType::Float32, {6, 40});
  for (int i = 0; i < 240; ++i) values.data<float>()[i] = float(i % 17) - 8;
  values.data<float>()[3 * 40 + 5] = std::numeric_limits<float>::quiet_NaN();
  values.data<float>()[4 * 40 + 39] = std::numeric_limits<float>::infinity();
  const NodeId x = f.input("x", values);
  f.output({f.call("aten.amax.default", {x, listOf({0})}), f.call("aten.amin.default", {x, listOf({0})}),
            f.call("aten.sum.dim_IntList", {x, listOf({0})})});
  expectSameAsInterpreter(f, 1e-6, "special values");
}

TEST(ColumnReductions, InTheMiddleAndOverSeveralDimensions) {
  const std::initializer_list<std::int64_t> dimensions[] = {{0}, {1}, {2}, {0, 1}, {0, 2}, {1, 2}, {0, 1, 2}};
  for (const auto& reduced : dimensions)
    for (const bool keep : {false, true}) {
      GraphFixture f;
      const NodeId x = f.input("x", DType::Float32, {5, 12, 36}), bias = f.input("bias", DType::Float32, {36});
      const NodeId shifted = f.call("aten.add.Tensor", {x, bias});
      const NodeId sum = f.call("aten.sum.dim_IntList", {shifted, listOf(reduced), Argument(keep)});
      f.output({f.call("aten.tanh.default", {sum}), shifted});
      expectSameAsInterpreter(f, 1e-5, fmt::format("{} dimensions, keepdim {}", reduced.size(), keep));
    }
}

TEST(ColumnReductions, WithAFactorForEachRow) {
  for (const std::int64_t rows : {5, 512, 4100}) {
    GraphFixture f;
    const NodeId x = f.input("x", DType::Float32, {rows, 300}), w = f.input("w", DType::Float32, {rows, 1});
    const NodeId mul = f.call("aten.mul.Tensor", {x, w});
    f.output({f.call("aten.sum.dim_IntList", {mul, listOf({0})}), f.call("aten.amax.default", {mul, listOf({0})})});
    expectSameAsInterpreter(f, 1e-5, fmt::format("{} rows", rows));
  }
}

/// What needs a reduction goes over the rows again: a variance's squares, what is less its column's mean, a softmax.
TEST(ColumnReductions, OfSeveralPhases) {
  for (const DType dtype : {DType::Float32, DType::Float64, DType::BFloat16})
    for (const Sizes& sizes : {Sizes{37, 300}, Sizes{5, 40, 33}, Sizes{3, 1100}, Sizes{1, 9}, Sizes{130, 8}}) {
      GraphFixture f;
      const NodeId x = f.input("x", dtype, sizes);
      const NodeId spread =
          f.call("aten.var_mean.correction", {x, listOf({0})}, {{"correction", std::int64_t{0}}, {"keepdim", true}});
      const NodeId variance = f.item(spread, 0), mean = f.item(spread, 1);
      const NodeId root = f.call("aten.rsqrt.default", {f.call("aten.add.Tensor", {variance, 1e-3})});
      const NodeId normal = f.call("aten.mul.Tensor", {f.call("aten.sub.Tensor", {x, mean}), root});
      const NodeId most = f.call("aten.amax.default", {x, listOf({0}), true});
      const NodeId exp = f.call("aten.exp.default", {f.call("aten.sub.Tensor", {x, most})});
      const NodeId sum = f.call("aten.sum.dim_IntList", {exp, listOf({0}), true});
      f.output({normal, mean, f.call("aten.div.Tensor", {exp, sum})});
      const double tolerance = dtype == DType::Float64 ? 1e-12 : dtype == DType::Float32 ? 2e-5 : 2e-2;
      expectSameAsInterpreter(f, tolerance, fmt::format("{} {}", dtypeInfo(dtype).shortCode, sizes.size()));
    }
}

TEST(ColumnReductions, OfTransposedValues) {
  GraphFixture f;
  const NodeId x = f.input("x", DType::Float32, {48, 20});
  const NodeId turned = f.call("aten.permute.default", {x, listOf({1, 0})});
  const NodeId scaled = f.call("aten.mul.Tensor", {turned, Argument(0.5)});
  f.output(
      {f.call("aten.sum.dim_IntList", {scaled, listOf({1})}), f.call("aten.sum.dim_IntList", {scaled, listOf({0})})});
  expectSameAsInterpreter(f, 1e-5, "transposed");
}

// The last rows ask for lines behind the buffer, which nobody reads; and no order of additions changes with it.
TEST(ColumnReductions, NextRowsAreReadAhead) {
  for (const DType dtype : {DType::Float32, DType::BFloat16})
    for (const std::int64_t columns : {127, 129, 1153}) {
      GraphFixture f;
      const NodeId x = f.input("x", dtype, {37, columns}), y = f.input("y", dtype, {37, 1});
      f.output({f.call("aten.sum.dim_IntList", {f.call("aten.mul.Tensor", {x, y}), listOf({0})})});
      const auto graph = compileFx(f.module, {});
      ASSERT_TRUE(graph) << graph.error().text();
      EXPECT_TRUE((*graph)->kernels().at(0).text("llvm").contains("llvm.prefetch")) << columns;
      expectSameAsInterpreter(f, dtype == DType::BFloat16 ? 2e-2 : 1e-5, fmt::to_string(columns));
    }
}

}  // namespace
}  // namespace kerf
