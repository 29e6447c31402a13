// Writes at computed places in generated loops, beside the ops' own kernels.
#include <gmock/gmock.h>

#include <random>

#include "engine/codegen_cuda/kernel_source.h"
#include "engine/loops/expr_builder.h"
#include "engine/lower/value_table.h"
#include "engine/support/thread_pool.h"
#include "tests/support/compiled_fixture.h"

namespace kerf {
namespace {

using testing_support::counted;
using testing_support::expectClose;
using testing_support::GraphFixture;
using testing_support::parsed;
using testing_support::partsOf;

std::int64_t callsOf(const CompiledGraph& graph) {
  return std::ranges::count_if(graph.kernels(), [](const KernelInfo& kernel) { return kernel.kind == "extern"; });
}

std::string loopTextOf(const CompiledGraph& graph) {
  std::string text;
  for (const KernelInfo& kernel : graph.kernels()) text += kernel.text("loop");
  return text;
}

/// Positions below `size`, with many that occur twice; from -size on where they may be negative.
Tensor placesBelow(std::int64_t size, const Sizes& sizes, bool mayBeNegative = false, DType dtype = DType::Int64) {
  Tensor places = *Tensor::zeros(dtype, sizes);
  for (std::int64_t i = 0; i < places.numel(); ++i) {
    const std::int64_t place = (i * i * 7 + i / 3) % size - (mayBeNegative && i % 3 == 1 ? size : 0);
    if (dtype == DType::Int64)
      places.data<std::int64_t>()[i] = place;
    else
      places.data<std::int32_t>()[i] = std::int32_t(place);
  }
  return places;
}

/// One thread and several give the same bits, which are near to those of the op's own kernel.
void expectWritten(const GraphFixture& f, double tolerance, const std::string& what, std::int64_t calls = 0) {
  const auto graph = compileFx(f.module, {});
  ASSERT_TRUE(graph) << what << ": " << graph.error().text();
  EXPECT_EQ(callsOf(**graph), calls) << what;
  const auto reference = f.interpret(), result = (*graph)->run(f.inputs);
  ASSERT_TRUE(reference) << what << ": " << reference.error().text();
  ASSERT_TRUE(result) << what << ": " << result.error().text();
  expectClose(reference->list()[0].tensor(), result->list()[0].tensor(), tolerance, what);
  const int threads = threadCount();
  setThreadCount(1);
  const auto alone = (*graph)->run(f.inputs);
  setThreadCount(threads);
  ASSERT_TRUE(alone);
  expectClose(alone->list()[0].tensor(), result->list()[0].tensor(), 0, what + " by one thread");
}

double near(DType dtype) { return dtype == DType::Float32 ? 2e-6 : dtype == DType::Float64 ? 1e-14 : 0; }

const DType everyType[] = {DType::Float32, DType::Float64, DType::BFloat16, DType::Float16,
                           DType::Int64,   DType::Int32,   DType::UInt8,    DType::Bool};

Argument indexList(std::initializer_list<NodeId> nodes) {
  return Argument::list(ArgumentList(nodes.begin(), nodes.end()));
}

TEST(WriteLoops, EmbeddingsGradients) {
  for (const DType dtype : {DType::Float32, DType::Float64, DType::BFloat16, DType::Float16})
    for (const std::int64_t padding : {-1, 3})
      for (const Sizes& rows : {Sizes{41}, Sizes{5, 9}, Sizes{1}, Sizes{}}) {
        GraphFixture f;
        Sizes grad = rows;
        grad.push_back(19);
        const NodeId g = f.input("g", dtype, grad), i = f.input("i", placesBelow(11, rows));
        f.output({f.call("aten.embedding_dense_backward.default", {g, i, std::int64_t{11}, padding, false})});
        expectWritten(f, near(dtype), fmt::format("{} {} {}", dtypeInfo(dtype).shortCode, padding, rows.size()));
      }
}

TEST(WriteLoops, WhatIsAddedIsComputedWhereItIsAdded) {
  const GraphModule module = parsed(R"(def forward(self, g: "f32[300, 64]", h: "f32[300, 64]", i: "i64[300]"):
    mul = torch.ops.aten.mul.Tensor(g, h)
    embedding_dense_backward = torch.ops.aten.embedding_dense_backward.default(mul, i, 50, -1, False)
    return (embedding_dense_backward,)
)");
  const auto graph = compileFx(module);
  ASSERT_TRUE(graph);
  EXPECT_THAT((*graph)->kernels(), ::testing::SizeIs(2)) << "zeros, and sums of products";
  const std::string text = loopTextOf(**graph);
  EXPECT_THAT(text, ::testing::HasSubstr("for i0 < 300 (serial)\n  for i1 < 64\n"));
  EXPECT_THAT(text, ::testing::HasSubstr("= load_at embedding_dense_backward[i1 + %"));
  EXPECT_THAT(text, ::testing::HasSubstr("store embedding_dense_backward[i1 + %"));
  testing_support::expectLikeInterpreter(module, **graph,
                                         {counted({300, 64}), counted({300, 64}, 2), placesBelow(50, {300})});
}

TEST(WriteLoops, CountsOfRowsAreACall) {
  GraphFixture f;
  const NodeId g = f.input("g", DType::Float32, {41, 5}), i = f.input("i", placesBelow(11, {41}));
  f.output({f.call("aten.embedding_dense_backward.default", {g, i, std::int64_t{11}, std::int64_t{-1}, true})});
  expectWritten(f, 1e-6, "scale_grad_by_freq", 1);
}

TEST(WriteLoops, RowsByIndex) {
  for (const DType dtype : everyType)
    for (const bool adds : {false, true}) {
      const std::string what = fmt::format("{} {}", dtypeInfo(dtype).shortCode, adds);
      GraphFixture f, g, h;
      const NodeId x = f.input("x", dtype, {23, 17}), i = f.input("i", placesBelow(23, {90}, true));
      f.output({f.call("aten.index_put.default", {x, indexList({i}), f.input("v", dtype, {90, 17}), adds})});
      expectWritten(f, near(dtype), what);
      const NodeId y = g.input("x", dtype, {4, 6, 5}), j = g.input("j", placesBelow(4, {7, 1}, true)),
                   k = g.input("k", placesBelow(5, {13}, false, DType::Int32));
      const Argument between = Argument::list({Argument(j), Argument(), Argument(k)});
      g.output({g.call("aten._unsafe_index_put.default", {y, between, g.input("v", dtype, {7, 13, 6}), adds})});
      expectWritten(g, near(dtype), what + " around a dimension");
      const NodeId z = h.input("x", dtype, {31}), l = h.input("l", placesBelow(31, {200}));
      h.output({h.call("aten.index_put.default", {z, indexList({l}), h.input("v", dtype, {}), adds})});
      expectWritten(h, near(dtype), what + " one value");
    }
}

TEST(WriteLoops, TheLastOfManyStays) {
  GraphFixture f;
  Tensor places = *Tensor::zeros(DType::Int64, {100}), values = *Tensor::zeros(DType::Float32, {100});
  for (std::int64_t k = 0; k < 100; ++k) values.data<float>()[k] = float(k);
  const NodeId x = f.input("x", DType::Float32, {3});
  f.output({f.call("aten.index_put.default", {x, indexList({f.input("i", places)}), f.input("v", values)})});
  const auto graph = compileFx(f.module, {});
  ASSERT_TRUE(graph);
  EXPECT_EQ(callsOf(**graph), 0);
  const auto result = (*graph)->run(f.inputs);
  ASSERT_TRUE(result);
  EXPECT_EQ(partsOf(*result)[0].tensor().data<float>()[0], 99);
  EXPECT_EQ(partsOf(*result)[0].tensor().data<float>()[1], f.inputs[0].tensor().data<float>()[1]);
}

struct ManyWrites {
  const char* name;
  Sizes self, index, source;
  std::int64_t dim;
};
const ManyWrites manyWrites[] = {
    {"along the last dimension", {6, 9}, {6, 30}, {6, 30}, 1},
    {"along the first", {9, 37}, {40, 37}, {40, 37}, 0},
    {"in the middle, of a part", {3, 7, 5}, {2, 21, 4}, {3, 22, 5}, -2},
    {"a vector", {11}, {130}, {130}, 0},
};

TEST(WriteLoops, ElementsByIndex) {
  for (const DType dtype : everyType)
    for (const ManyWrites& w : manyWrites) {
      const std::int64_t size = w.self[std::size_t(w.dim < 0 ? w.dim + std::int64_t(w.self.size()) : w.dim)];
      const std::string what = fmt::format("{} {}", dtypeInfo(dtype).shortCode, w.name);
      GraphFixture f, g, h;
      const NodeId x = f.input("x", dtype, w.self), i = f.input("i", placesBelow(size, w.index));
      f.output({f.call("aten.scatter.src", {x, w.dim, i, f.input("s", dtype, w.source)})});
      expectWritten(f, 0, what);
      const NodeId y = g.input("x", dtype, w.self), j = g.input("i", placesBelow(size, w.index, false, DType::Int32));
      g.output(
          {g.call("aten.scatter.value", {y, w.dim, j, isFloating(dtype) ? Argument(0.3) : Argument(std::int64_t{1})})});
      expectWritten(g, 0, what + " of a number");
      const bool isHeldWide = dtype == DType::BFloat16 || dtype == DType::Float16;
      const NodeId z = h.input("x", dtype, w.self), k = h.input("i", placesBelow(size, w.index));
      h.output({h.call("aten.scatter_add.default", {z, w.dim, k, h.input("s", dtype, w.source)})});
      expectWritten(h, isHeldWide ? 8e-3 : near(dtype), what + " added", isHeldWide ? 1 : 0);
    }
}

TEST(WriteLoops, EveryReductionOfMany) {
  for (const char* reduce : {"sum", "prod", "mean", "amax", "amin"})
    for (const DType dtype : {DType::Float32, DType::Int64})
      for (const bool includesSelf : {true, false}) {
        GraphFixture f;
        const NodeId x = f.input("x", dtype, {5, 7}), i = f.input("i", placesBelow(7, {5, 12}));
        f.output({f.call("aten.scatter_reduce.two",
                         {x, std::int64_t{1}, i, f.input("s", dtype, {5, 12}), Argument(std::string(reduce))},
                         {{"include_self", Argument(includesSelf)}})});
        const bool isCall = !includesSelf || std::string(reduce) == "mean";
        expectWritten(f, 4e-6, fmt::format("{} {}", reduce, includesSelf), isCall ? 1 : 0);
      }
}

TEST(WriteLoops, SlicesByIndex) {
  for (const DType dtype : everyType)
    for (const std::int64_t dim : {0, 1, -1}) {
      const Sizes self{7, 9, 4};
      Sizes source = self;
      const std::size_t at = dim < 0 ? 2 : std::size_t(dim);
      source[at] = 20;
      const std::string what = fmt::format("{} {}", dtypeInfo(dtype).shortCode, dim);
      GraphFixture f, g, h;
      const NodeId x = f.input("x", dtype, self), i = f.input("i", placesBelow(self[at], {20}));
      f.output({f.call("aten.index_copy.default", {x, dim, i, f.input("s", dtype, source)})});
      expectWritten(f, 0, what);
      const bool isHeldWide = dtype == DType::BFloat16 || dtype == DType::Float16;
      const NodeId y = g.input("x", dtype, self), j = g.input("i", placesBelow(self[at], {20}));
      const Argument alpha = isFloating(dtype) ? Argument(0.75) : Argument(std::int64_t{1});
      g.output({g.call("aten.index_add.default", {y, dim, j, g.input("s", dtype, source)}, {{"alpha", alpha}})});
      expectWritten(g, isHeldWide ? 8e-3 : 2 * near(dtype), what + " added", isHeldWide ? 1 : 0);
      const NodeId z = h.input("x", dtype, self), k = h.input("i", placesBelow(self[at], {5}, true));
      h.output({h.call("aten.index_fill.int_Scalar", {z, dim, k, Argument(std::int64_t{1})})});
      expectWritten(h, 0, what + " filled");
    }
}

/// What the op says of an index that is outside, the loops say too.
void expectSameError(const GraphFixture& f) {
  const auto graph = compileFx(f.module, {});
  ASSERT_TRUE(graph) << graph.error().text();
  EXPECT_EQ(callsOf(**graph), 0);
  const auto reference = f.interpret(), result = (*graph)->run(f.inputs);
  ASSERT_FALSE(reference || result);
  EXPECT_EQ(reference.error().code, result.error().code);
  EXPECT_EQ(reference.error().message, result.error().message);
}

TEST(WriteLoops, AnIndexOutsideIsTheErrorOfTheOpsOwnKernel) {
  for (const std::int64_t outside : {std::int64_t{6}, std::int64_t{-7}, std::int64_t{1} << 60}) {
    Tensor places = placesBelow(6, {30});
    places.data<std::int64_t>()[17] = outside;
    GraphFixture f, g, h;
    const NodeId x = f.input("x", DType::Float32, {6, 2}), i = f.input("i", places);
    f.output({f.call("aten.index_put.default", {x, indexList({i}), f.input("v", DType::Float32, {30, 2}), true})});
    expectSameError(f);
    const NodeId y = g.input("g", DType::Float32, {30, 2}), j = g.input("i", places);
    g.output({g.call("aten.embedding_dense_backward.default", {y, j, std::int64_t{6}, std::int64_t{-1}, false})});
    expectSameError(g);
    const NodeId z = h.input("x", DType::Float32, {6}), k = h.input("i", places);
    h.output({h.call("aten.scatter_add.default", {z, std::int64_t{0}, k, h.input("s", DType::Float32, {30})})});
    expectSameError(h);
  }
}

TEST(WriteLoops, WhatIsWrittenIsReadAndWrittenAgain) {
  const GraphModule module = parsed(R"(def forward(self, x: "f32[40, 8]", i: "i64[30]", v: "f32[30, 8]"):
    add = torch.ops.aten.add.Tensor(x, 1.0)
    relu = torch.ops.aten.relu.default(v)
    index_put = torch.ops.aten.index_put.default(add, [i], relu, True)
    slice_1 = torch.ops.aten.slice.Tensor(index_put, 0, 5, 35)
    index_put_1 = torch.ops.aten.index_put.default(index_put, [i], slice_1, False)
    mul = torch.ops.aten.mul.Tensor(index_put_1, add)
    sum_1 = torch.ops.aten.sum.dim_IntList(index_put, [1])
    copy_ = torch.ops.aten.copy_.default(x, index_put_1)
    return (index_put_1, mul, sum_1, add)
)");
  const auto graph = compileFx(module);
  ASSERT_TRUE(graph) << graph.error().text();
  const auto inputs = [] { return ValueList{counted({40, 8}), placesBelow(40, {30}, true), counted({30, 8}, -40)}; };
  const ValueList own = inputs(), compiled = inputs();
  const auto reference = Interpreter(module, referenceOps()).run(own), result = (*graph)->run(compiled);
  ASSERT_TRUE(reference && result);
  for (std::size_t k = 0; k < 4; ++k)
    expectClose(partsOf(*reference)[k].tensor(), partsOf(*result)[k].tensor(), 2e-6, fmt::format("output {}", k));
  for (std::size_t k = 0; k < own.size(); ++k)
    expectClose(own[k].tensor(), compiled[k].tensor(), 2e-6, fmt::format("input {} afterwards", k));
}

TEST(WriteLoops, AreMadeForBackendsThatRunLoopsInOrder) {
  const GraphModule module = parsed(R"(def forward(self, x: "f32[40, 8]", i: "i64[30]", v: "f32[30, 8]"):
    index_put = torch.ops.aten.index_put.default(x, [i], v, True)
    cumsum = torch.ops.aten.cumsum.default(v, 1)
    return (index_put, cumsum)
)");
  const auto kindsOf = [&](bool serialLoops) {
    const auto values = classifyValues(module, {.unfused = {}, .interpreted = {}, .serialLoops = serialLoops});
    std::vector<ValueKind> kinds;
    for (const char* name : {"index_put", "cumsum"}) kinds.push_back((*values)[*module.graph.find(name)].kind);
    return kinds;
  };
  EXPECT_EQ(kindsOf(true), (std::vector{ValueKind::Write, ValueKind::Scan}));
  EXPECT_EQ(kindsOf(false), (std::vector{ValueKind::Extern, ValueKind::Extern}));
  LoopKernel kernel{
      .name = "write", .variables = {{30, false, true}}, .buffers = {{DType::Float32, "x"}, {DType::Int64, "i"}}};
  ExprBuilder b(kernel);
  const int place = b.load(1, Affine::variable(0));
  kernel.stores.push_back({0, {}, b.constant(1, DType::Float32), true, place});
  const auto source = generateKernel(kernel, {}, {}, KernelGuard::None);
  ASSERT_FALSE(source);
  EXPECT_EQ(source.error().code, ErrorCode::UnsupportedOp);
}

TEST(WriteLoops, RandomShapes) {
  std::mt19937 random(20261126);
  const auto below = [&](int n) { return std::int64_t(random() % unsigned(n)); };
  for (int round = 0; round < 60; ++round) {
    Sizes self, index;
    const std::int64_t rank = 1 + below(3), dim = below(int(rank));
    for (std::int64_t d = 0; d < rank; ++d) {
      self.push_back(1 + below(13));
      index.push_back(d == dim ? 1 + below(40) : 1 + below(int(self.back())));
    }
    GraphFixture f;
    const NodeId x = f.input("x", DType::Float32, self), i = f.input("i", placesBelow(self[std::size_t(dim)], index));
    const NodeId s = f.call("aten.mul.Tensor", {f.input("s", DType::Float32, index), Argument(0.5)});
    f.output({f.call(round % 2 == 0 ? "aten.scatter_add.default" : "aten.scatter.src", {x, dim, i, s})});
    expectWritten(f, 4e-6, fmt::format("round {}", round));
  }
}

}  // namespace
}  // namespace kerf
