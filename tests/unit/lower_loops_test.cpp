// Loop IR, affine indices, fusion and memory planning, without generating code.
#include <algorithm>

#include "engine/loops/expr_builder.h"
#include "engine/lower/fusion.h"
#include "engine/lower/lowered_graph.h"
#include "engine/symbolic/shape_env.h"
#include "tests/support/graph_fixture.h"

namespace kerf {
namespace {

using testing_support::GraphFixture;

Result<LoweredGraph> lowered(const GraphFixture& fixture, bool fuse = true) {
  KERF_TRY(ValueTable values, classifyValues(fixture.module));
  return scheduleGraph(std::make_shared<const ValueTable>(std::move(values)), fuse);
}

TEST(Affine, DividesWhenTheDigitsAreSeparate) {
  const Affine index = Affine::variable(0) * 8 + Affine::variable(1);  // i0 < 4, i1 < 8
  const auto parts = divideExactly(index, 8, {4, 8});
  ASSERT_TRUE(parts);
  EXPECT_EQ(parts->quotient, Affine::variable(0));
  EXPECT_EQ(parts->remainder, Affine::variable(1));
  EXPECT_FALSE(divideExactly(index, 4, {4, 8}));
}

TEST(Affine, PrintsItself) {
  EXPECT_EQ((Affine::variable(0) * 32 + Affine::variable(1) + Affine::number(4)).text(), "32*i0 + i1 + 4");
  EXPECT_EQ(Affine::number(0).text(), "0");
}

TEST(Affine, DividesByProductsOfSymbols) {
  ShapeEnv env;
  const ShapeEnv::Scope scope(env);
  const SymInt s0 = env.addSymbol({"s0", 8, {2, ValueRange::greatest}});
  const SymInt s1 = env.addSymbol({"s1", 8, {2, ValueRange::greatest}});
  const auto i = [](std::size_t v) { return Affine::variable(v); };
  const Affine index = i(0) * (4 * s0 * s1) + i(1) * s1 + i(2);  // i0 < 4, i1 < s0, i2 < s1
  const auto rows = divideExactly(index, s1, {4, s0, s1});
  ASSERT_TRUE(rows);
  EXPECT_EQ(rows->quotient, i(0) * (4 * s0) + i(1));
  EXPECT_EQ(rows->remainder, i(2));
  const auto planes = divideExactly(index, s0 * s1, {4, s0, s1});
  ASSERT_TRUE(planes);
  EXPECT_EQ(planes->quotient, i(0) * 4);
  EXPECT_EQ(planes->remainder, i(1) * s1 + i(2));
  EXPECT_FALSE(divideExactly(index, s0, {4, s0, s1}));  // equal at the example only
  EXPECT_FALSE(divideExactly(i(0) * s1 + i(1), s1, {4, s0}));
  EXPECT_TRUE(env.guards().empty());
}

TEST(Affine, PrintsSumsOfSymbolsInParentheses) {
  ShapeEnv env;
  const ShapeEnv::Scope scope(env);
  const SymInt s0 = env.addSymbol({"s0", 8, {2, ValueRange::greatest}});
  EXPECT_EQ((Affine::variable(0) * (s0 + 1) + Affine::variable(1) * s0 + Affine::number(2 * s0)).text(),
            "(s0 + 1)*i0 + s0*i1 + 2*s0");
}

TEST(LoopIr, KernelsOfOtherSymbolsHaveOneKeyWhereTheirFormIsOne) {
  ShapeEnv env;
  const ShapeEnv::Scope scope(env);
  const SymInt s0 = env.addSymbol({"s0", 8, {2, ValueRange::greatest}});
  const SymInt s1 = env.addSymbol({"s1", 8, {2, ValueRange::greatest}});
  const auto kernel = [](SymInt rows, SymInt columns, SymInt stride) {
    LoopKernel result;
    result.variables = {{rows, false}, {columns, true}};
    result.buffers = {{DType::Float32, "x"}};
    ExprBuilder builder(result);
    builder.load(0, Affine::variable(0) * stride + Affine::variable(1));
    collectParameters(result);
    return result;
  };
  EXPECT_EQ(kernel(s0, s1, s1).parameters.size(), 2u);
  EXPECT_EQ(structuralKey(kernel(s0, s1, s1)), structuralKey(kernel(s1, s0, s0)));
  EXPECT_EQ(structuralKey(kernel(s0, 8, 8)), structuralKey(kernel(s1 * s0, 8, 8)));
  EXPECT_NE(structuralKey(kernel(s0, s1, s1)), structuralKey(kernel(s0, s1, s0)));
  EXPECT_NE(structuralKey(kernel(s0, 8, 8)), structuralKey(kernel(s0, 9, 8)));
  EXPECT_NE(structuralKey(kernel(8, 8, 8)), structuralKey(kernel(s0, 8, 8)));
}

TEST(LowerLoops, MergesLoopsThatAreWalkedAsOne) {
  GraphFixture f;
  const NodeId x = f.input("x", DType::Float32, {2, 3, 4});
  f.output({f.call("aten.relu.default", {x})});
  const auto graph = lowered(f);
  ASSERT_TRUE(graph) << graph.error().text();
  ASSERT_EQ(graph->steps.size(), 1u);
  ASSERT_EQ(graph->steps[0].kernel.variables.size(), 1u);
  EXPECT_EQ(graph->steps[0].kernel.variables[0].size, 24);
}

/// y[i, k, j, :] = x[i, j, k, :] of 4 · 5 · 6 rows.
LoopKernel rowsMoved(std::int64_t row) {
  LoopKernel kernel;
  for (const std::int64_t size : std::vector<std::int64_t>{4, 6, 5, row}) kernel.variables.push_back({size, false});
  kernel.buffers = {{DType::Float32, "x"}, {DType::Float32, "y"}};
  const auto i = [](std::size_t v) { return Affine::variable(v); };
  ExprBuilder builder(kernel);
  const int value = builder.load(0, i(0) * (30 * row) + i(2) * (6 * row) + i(1) * row + i(3));
  kernel.stores.push_back({1, i(0) * (30 * row) + i(1) * (5 * row) + i(2) * row + i(3), value});
  return kernel;
}

TEST(LowerLoops, RowsThatAreStreamedAreReadInOrder) {
  const auto stepsOfLoad = [](std::int64_t row, std::int64_t streamedFrom) {
    LoopKernel kernel = rowsMoved(row);
    simplifyLoops(kernel, streamedFrom);
    return kernel.exprs[0].index.text();
  };
  EXPECT_EQ(stepsOfLoad(64, 4 * 5 * 6 * 64 * 4), "1920*i0 + 384*i1 + 64*i2 + i3");
  EXPECT_EQ(stepsOfLoad(64, 4 * 5 * 6 * 64 * 4 + 1), "1920*i0 + 64*i1 + 384*i2 + i3");
  EXPECT_EQ(stepsOfLoad(60, 1), "1800*i0 + 60*i1 + 360*i2 + i3") << "rows that share lines of memory";
  EXPECT_EQ(stepsOfLoad(16, 1), "480*i0 + 16*i1 + 96*i2 + i3") << "short rows";
}

/// Of x and y one after the other along the second dimension: 12 and 4 rows of 7.
LoopKernel twoPieces(bool usesIndex) {
  LoopKernel kernel;
  for (const std::int64_t size : {5, 16, 7}) kernel.variables.push_back({size, false});
  kernel.buffers = {{DType::Float32, "x"}, {DType::Float32, "y"}, {DType::Float32, "z"}};
  const auto i = [](std::size_t v) { return Affine::variable(v); };
  ExprBuilder b(kernel);
  const int index = b.index(i(1)), isFirst = b.binary(ExprOp::Lt, index, b.integer(12, DType::Int64));
  int value = b.loadWhere(0, i(0) * 84 + i(1) * 7 + i(2), isFirst);
  value = b.select(isFirst, value, b.load(1, i(0) * 28 + i(1) * 7 + i(2)));
  if (usesIndex) value = b.binary(ExprOp::Add, value, b.convert(index, DType::Float32));
  kernel.stores.push_back({2, i(0) * 112 + i(1) * 7 + i(2), value});
  return kernel;
}

TEST(LowerLoops, ComparedIndicesAreMergedWhereLoopsAreCut) {
  const auto text = [](bool usesIndex, bool cutsLoops) {
    LoopKernel kernel = twoPieces(usesIndex);
    simplifyLoops(kernel, std::numeric_limits<std::int64_t>::max(), cutsLoops);
    return printLoopIr(kernel);
  };
  const std::string merged = text(false, true);
  EXPECT_NE(merged.find("for i1 < 112"), std::string::npos) << merged;
  EXPECT_NE(merged.find("= 84"), std::string::npos) << merged;
  EXPECT_NE(text(false, false).find("for i2 < 7"), std::string::npos);
  EXPECT_NE(text(true, true).find("for i2 < 7"), std::string::npos) << "what is not compared alone stays";
}

TEST(LowerLoops, ViewsOfInputsAreStridedLoads) {
  GraphFixture f;
  const NodeId x = f.input("x", DType::Float32, {4, 6});
  const NodeId part =
      f.call("aten.slice.Tensor", {f.call("aten.permute.default", {x, Argument::list({1, 0})}), 0, 2, 6, 2});
  f.output({f.call("aten.exp.default", {part})});
  const auto graph = lowered(f);
  ASSERT_TRUE(graph) << graph.error().text();
  ASSERT_EQ(graph->steps.size(), 1u);
  EXPECT_EQ(graph->steps[0].arguments[0].offset, 2);
  EXPECT_NE(printLoopIr(graph->steps[0].kernel).find("2*i1]"), std::string::npos)
      << printLoopIr(graph->steps[0].kernel);
}

TEST(LowerLoops, MaterialisesWhatAMergingViewReads) {
  GraphFixture f;
  const NodeId x = f.input("x", DType::Float32, {4, 6});
  const NodeId turned = f.call("aten.permute.default", {f.call("aten.exp.default", {x}), Argument::list({1, 0})});
  const NodeId copy = f.call("aten.clone.default", {turned}, {{"memory_format", MemoryFormat::Contiguous}});
  f.output({f.call("aten.neg.default", {f.call("aten.view.default", {copy, Argument::list({24})})})});
  const auto graph = lowered(f);
  ASSERT_TRUE(graph) << graph.error().text();
  EXPECT_EQ(graph->steps.size(), 2u);
}

TEST(LowerLoops, DoesNotFuseAcrossTransposedReads) {
  GraphFixture f;
  const NodeId x = f.input("x", DType::Float32, {5, 5});
  const NodeId exp = f.call("aten.exp.default", {x});
  const NodeId turned = f.call("aten.permute.default", {exp, Argument::list({1, 0})});
  f.output({exp, f.call("aten.add.Tensor", {exp, turned})});
  const auto graph = lowered(f);
  ASSERT_TRUE(graph) << graph.error().text();
  EXPECT_EQ(graph->steps.size(), 2u);
}

TEST(LowerLoops, DoesNotFuseThroughAnExternCall) {
  GraphFixture f;
  const NodeId x = f.input("x", DType::Float32, {4, 4});
  const NodeId exp = f.call("aten.exp.default", {x});
  const NodeId mm = f.call("aten.mm.default", {exp, exp});
  f.output({f.call("aten.add.Tensor", {exp, mm})});
  const auto graph = lowered(f);
  ASSERT_TRUE(graph) << graph.error().text();
  ASSERT_EQ(graph->steps.size(), 3u);
  EXPECT_TRUE(graph->steps[1].isExtern);
}

TEST(LowerLoops, UnfusedGivesOneKernelPerNode) {
  GraphFixture f;
  const NodeId x = f.input("x", DType::Float32, {4});
  f.output({f.call("aten.exp.default", {f.call("aten.neg.default", {f.call("aten.abs.default", {x})})})});
  EXPECT_EQ(lowered(f, true)->steps.size(), 1u);
  EXPECT_EQ(lowered(f, false)->steps.size(), 3u);
}

TEST(LowerLoops, KernelsThatDifferInNamesOnlyHaveOneKey) {
  GraphFixture f;
  const NodeId x = f.input("x", DType::Float32, {4, 4});
  const NodeId a = f.call("aten.relu.default", {f.call("aten.mm.default", {x, x})});
  const NodeId b = f.call("aten.relu.default", {f.call("aten.mm.default", {a, x})});
  f.output({b});
  const auto graph = lowered(f);
  ASSERT_EQ(graph->steps.size(), 4u);
  EXPECT_EQ(structuralKey(graph->steps[1].kernel), structuralKey(graph->steps[3].kernel));
  EXPECT_NE(graph->steps[1].kernel.name, graph->steps[3].kernel.name);
}

TEST(PlanMemory, BuffersAliveTogetherNeverOverlap) {
  GraphFixture f;
  NodeId x = f.input("x", DType::Float32, {16, 16});
  std::vector<NodeId> layers;
  for (int layer = 0; layer < 8; ++layer) {
    x = f.call("aten.mm.default", {x, x});
    if (layer % 3 == 0) layers.push_back(x);
  }
  for (const NodeId layer : layers) x = f.call("aten.mm.default", {x, layer});
  f.output({x});
  const auto graph = lowered(f);
  ASSERT_TRUE(graph) << graph.error().text();
  EXPECT_LT(graph->plannedBytes, graph->unplannedBytes);
  const auto& buffers = graph->buffers.buffers();
  const auto lastRead = [&](int buffer) {
    int last = -1;
    for (std::size_t s = 0; s < graph->steps.size(); ++s)
      if (std::ranges::find(graph->steps[s].reads, buffer) != graph->steps[s].reads.end()) last = int(s);
    return last;
  };
  for (std::size_t s = 0; s < graph->steps.size(); ++s)
    for (const int written : graph->steps[s].writes)
      for (std::size_t earlier = 0; earlier < s; ++earlier)
        for (const int other : graph->steps[earlier].writes) {
          const auto &a = buffers[std::size_t(written)], &b = buffers[std::size_t(other)];
          if (a.kind != BufferKind::Planned || b.kind != BufferKind::Planned || lastRead(other) < int(s)) continue;
          EXPECT_TRUE(a.arenaOffset + a.bytes <= b.arenaOffset || b.arenaOffset + b.bytes <= a.arenaOffset)
              << a.name << " over " << b.name;
        }
}

}  // namespace
}  // namespace kerf
