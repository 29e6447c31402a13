// Compiled graphs: what is fused, what runs as extern kernel, guards, memory, views, mutation.
#include <algorithm>
#include <set>
#include <sstream>

#include <fmt/ranges.h>

#include "engine/codegen_llvm/line_numbers.h"
#include "engine/pipeline/compile_fx.h"
#include "tests/support/graph_fixture.h"

namespace kerf {
namespace {

using testing_support::expectClose;
using testing_support::GraphFixture;

const KernelInfo* kernelOf(const CompiledGraph& graph, const std::string& node) {
  for (const auto& kernel : graph.kernels())
    if (std::ranges::find(kernel.nodes, node) != kernel.nodes.end()) return &kernel;
  return nullptr;
}

std::size_t countKernels(const CompiledGraph& graph, const std::string& kind) {
  return std::size_t(std::ranges::count(graph.kernels(), kind, &KernelInfo::kind));
}

void expectLikeInterpreter(const GraphFixture& fixture, CompiledGraph& compiled, double tolerance = 1e-6) {
  const auto reference = fixture.interpret();
  ASSERT_TRUE(reference) << reference.error().text();
  const auto result = compiled.run(fixture.inputs);
  ASSERT_TRUE(result) << result.error().text();
  ASSERT_EQ(reference->list().size(), result->list().size());
  for (std::size_t i = 0; i < result->list().size(); ++i)
    expectClose(reference->list()[i].tensor(), result->list()[i].tensor(), tolerance, "output " + std::to_string(i));
}

std::unique_ptr<CompiledGraph> compiled(const GraphFixture& fixture, const CompileOptions& options = {}) {
  auto graph = compileFx(fixture.module, options);
  EXPECT_TRUE(graph) << graph.error().text();
  return graph ? std::move(*graph) : nullptr;
}

TEST(CompileGraph, FusesAPointwiseChainIntoOneKernel) {
  GraphFixture f;
  const NodeId x = f.input("x", DType::Float32, {4, 5});
  const NodeId y = f.input("y", DType::Float32, {5});
  const NodeId relu =
      f.call("aten.relu.default", {f.call("aten.add.Tensor", {f.call("aten.mul.Tensor", {x, y}), 2.5})});
  f.output({relu});
  const auto graph = compiled(f);
  ASSERT_TRUE(graph);
  EXPECT_EQ(countKernels(*graph, "fused"), 1u);
  EXPECT_EQ(graph->kernels()[0].name, "cpp_fused_add_mul_relu_0");
  EXPECT_EQ(graph->kernels()[0].capturedNodes, (std::vector<std::string>{"mul", "add", "relu"}));
  EXPECT_NE(graph->kernels()[0].text("loop").find("max"), std::string::npos);
  EXPECT_NE(graph->kernels()[0].text("llvm").find("define void"), std::string::npos);
  expectLikeInterpreter(f, *graph);
}

TEST(CompileGraph, LinesOfLlvmIrAndAssemblyComeFromLinesOfTheLoops) {
  GraphFixture f;
  const NodeId x = f.input("x", DType::Float32, {64, 32});
  f.output({f.call("aten.sum.dim_IntList", {f.call("aten.exp.default", {x}), Argument::list({1})})});
  const auto graph = compiled(f);
  ASSERT_TRUE(graph);
  const KernelInfo& kernel = graph->kernels()[0];
  const auto lines = [](std::string_view text) { return std::ranges::count(text, '\n'); };
  const std::string_view loops = kernel.text("loop");
  std::vector<std::string> loopLines;
  std::istringstream stream{std::string(loops)};
  for (std::string line; std::getline(stream, line);) loopLines.push_back(line);
  for (const std::string format : {"llvm", "asm"}) {
    const auto numbers = readLineNumbers(kernel.text(format + std::string(loopLinesSuffix)));
    ASSERT_EQ(std::ssize(numbers), lines(kernel.text(format))) << format;
    EXPECT_EQ(kernel.text(format).find("dbg"), std::string_view::npos) << "what carries the lines is not shown";
    std::set<std::string> parts;
    for (const int number : numbers) {
      ASSERT_LE(number, std::ssize(loopLines)) << format;
      if (number == 0) continue;
      const std::string& line = loopLines[std::size_t(number) - 1];
      for (const char* part : {"for i1", "load x", "exp", "sum", "store sum"})
        if (line.find(part) != std::string::npos) parts.insert(part);
    }
    EXPECT_TRUE(parts.contains("store sum")) << format << "\n" << loops;
    // an instruction that computes with what it loads is of the computation's line
    EXPECT_TRUE(parts.contains("load x") || (format == "asm" && parts.contains("exp"))) << format << "\n" << loops;
  }
}

TEST(CompileGraph, NodesCanBeKeptApartOrWithoutCode) {
  GraphFixture f;
  const NodeId x = f.input("x", DType::Float32, {4, 5});
  const NodeId y = f.input("y", DType::Float32, {5});
  f.output(
      {f.call("aten.exp.default",
              {f.call("aten.relu.default", {f.call("aten.add.Tensor", {f.call("aten.mul.Tensor", {x, y}), 2.5})})})});
  const auto together = [&](const CompileOptions& options) {
    const auto graph = compiled(f, options);
    expectLikeInterpreter(f, *graph);
    std::vector<std::string> kernels;
    for (const auto& kernel : graph->kernels())
      kernels.push_back(fmt::format("{}: {}", kernel.kind, fmt::join(kernel.capturedNodes, " ")));
    return kernels;
  };
  using Kernels = std::vector<std::string>;
  EXPECT_EQ(together({}), (Kernels{"fused: mul add relu exp"}));
  EXPECT_EQ(together({.unfused = {"add"}}), (Kernels{"fused: mul", "fused: add", "fused: relu exp"}));
  EXPECT_EQ(together({.unfused = {"mul", "add", "relu", "exp"}}),
            (Kernels{"fused: mul", "fused: add", "fused: relu", "fused: exp"}));
  EXPECT_EQ(together({.interpreted = {"relu"}}), (Kernels{"fused: mul add", "extern: relu", "fused: exp"}));
}

TEST(CompileGraph, FusesSoftmaxAndNormalizationWithTheirReductions) {
  GraphFixture f;
  const NodeId x = f.input("x", DType::Float32, {6, 40});
  const NodeId amax = f.call("aten.amax.default", {x, Argument::list({-1}), true});
  const NodeId exp = f.call("aten.exp.default", {f.call("aten.sub.Tensor", {x, amax})});
  const NodeId sum = f.call("aten.sum.dim_IntList", {exp, Argument::list({-1}), true});
  const NodeId softmax = f.call("aten.div.Tensor", {exp, sum});
  const NodeId stats =
      f.call("aten.var_mean.correction", {softmax, Argument::list({1})}, {{"correction", 0}, {"keepdim", true}});
  const NodeId rsqrt = f.call("aten.rsqrt.default", {f.call("aten.add.Tensor", {f.item(stats, 0), 1e-5})});
  const NodeId centred = f.call("aten.sub.Tensor", {softmax, f.item(stats, 1)});
  f.output({f.call("aten.mul.Tensor", {centred, rsqrt}), rsqrt});
  const auto graph = compiled(f);
  ASSERT_TRUE(graph);
  EXPECT_EQ(countKernels(*graph, "fused"), 1u);
  EXPECT_EQ(countKernels(*graph, "extern"), 0u);
  expectLikeInterpreter(f, *graph, 1e-5);
}

TEST(CompileGraph, UsesLibraryKernelsAndShowsWhyOpsAreExtern) {
  GraphFixture f;
  const NodeId x = f.input("x", DType::Float32, {4, 8});
  const NodeId w = f.input("w", DType::Float32, {8, 3});
  const NodeId b = f.input("b", DType::Float32, {3});
  const NodeId addmm = f.call("aten.addmm.default", {b, x, w}, {{"beta", 0.5}, {"alpha", 2}});
  const NodeId digamma = f.call("aten.digamma.default", {addmm});
  f.output({digamma});
  const auto graph = compiled(f);
  ASSERT_TRUE(graph);
  ASSERT_TRUE(kernelOf(*graph, "addmm") && kernelOf(*graph, "digamma"));
  EXPECT_EQ(kernelOf(*graph, "addmm")->reason, "gemm");
  EXPECT_TRUE(kernelOf(*graph, "addmm")->name.starts_with("extern_addmm_"));
  EXPECT_EQ(kernelOf(*graph, "digamma")->reason, "not lowered");
  expectLikeInterpreter(f, *graph);
}

TEST(CompileGraph, CompilesEqualKernelsOnce) {
  GraphFixture f;
  NodeId x = f.input("x", DType::Float32, {8, 8});
  const NodeId w = f.input("w", DType::Float32, {8, 8});
  for (int layer = 0; layer < 6; ++layer) x = f.call("aten.relu.default", {f.call("aten.mm.default", {x, w})});
  f.output({x});
  const auto graph = compiled(f);
  ASSERT_TRUE(graph);
  EXPECT_EQ(countKernels(*graph, "fused"), 6u);
  EXPECT_LT(graph->artifacts().plannedBytes, graph->artifacts().unplannedBytes);
  std::vector<std::string> texts;
  for (const auto& kernel : graph->kernels())
    if (kernel.kind == "fused") texts.emplace_back(kernel.text("llvm"));
  EXPECT_EQ(texts.front(), texts.back());
  expectLikeInterpreter(f, *graph, 1e-4);
}

TEST(CompileGraph, RefusesInputsItWasNotCompiledFor) {
  GraphFixture f;
  const NodeId x = f.input("primals_1", DType::Float32, {4, 5});
  f.output({f.call("aten.relu.default", {x})});
  const auto graph = compiled(f);
  ASSERT_TRUE(graph);
  for (const Value& wrong : {Value(*Tensor::zeros(DType::Float32, {4, 6})),
                             Value(*Tensor::zeros(DType::Float64, {4, 5})), Value(std::int64_t{3})}) {
    const auto result = graph->run({wrong});
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, ErrorCode::ShapeMismatch);
    EXPECT_EQ(result.error().node, "primals_1");
  }
  EXPECT_EQ(graph->run({}).error().code, ErrorCode::ShapeMismatch);
}

TEST(CompileGraph, CopiesInputsOfOtherStrides) {
  GraphFixture f;
  const NodeId x = f.input("x", DType::Float32, {3, 4});
  f.output({f.call("aten.mul.Tensor", {x, 3})});
  const auto graph = compiled(f);
  ASSERT_TRUE(graph);
  const Tensor turned = f.inputs[0].tensor().viewAs({4, 3}, {1, 4}, 0).contiguous()->viewAs({3, 4}, {1, 3}, 0);
  const auto result = graph->run({turned});
  ASSERT_TRUE(result) << result.error().text();
  for (std::int64_t i = 0; i < 12; ++i)
    EXPECT_FLOAT_EQ(result->list()[0].tensor().itemAsDouble(i), 3 * turned.itemAsDouble(i));
}

TEST(CompileGraph, ReturnsInputsAndTheirViewsWithoutCopying) {
  GraphFixture f;
  const NodeId x = f.input("x", DType::Float32, {3, 4});
  const NodeId turned = f.call("aten.permute.default", {x, Argument::list({1, 0})});
  f.output({x, turned, f.call("aten.relu.default", {turned})});
  const auto graph = compiled(f);
  ASSERT_TRUE(graph);
  const auto result = graph->run(f.inputs);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->list()[0].tensor().storage(), f.inputs[0].tensor().storage());
  EXPECT_EQ(result->list()[1].tensor().storage(), f.inputs[0].tensor().storage());
  EXPECT_EQ(result->list()[1].tensor().strides(), (Sizes{1, 4}));
  expectLikeInterpreter(f, *graph);
}

TEST(CompileGraph, OutputsSurviveTheNextRun) {
  GraphFixture f;
  const NodeId x = f.input("x", DType::Float32, {16});
  f.output({f.call("aten.exp.default", {f.call("aten.neg.default", {x})})});
  const auto graph = compiled(f);
  ASSERT_TRUE(graph);
  const auto first = graph->run(f.inputs);
  const Tensor kept = *first->list()[0].tensor().clone();
  ASSERT_TRUE(graph->run({*Tensor::zeros(DType::Float32, {16})}));
  expectClose(kept, first->list()[0].tensor(), 0, "first run");
}

TEST(CompileGraph, KeepsTheOrderAroundMutation) {
  GraphFixture f;
  const NodeId x = f.input("x", DType::Float32, {4});
  const NodeId before = f.call("aten.mul.Tensor", {x, 2});
  const NodeId changed = f.call("aten.copy_.default", {x, f.call("aten.add.Tensor", {x, 1})});
  const NodeId after = f.call("aten.mul.Tensor", {x, 10});
  f.output({before, changed, after});
  const auto graph = compileFx(f.module);
  ASSERT_TRUE(graph) << graph.error().text();
  const Tensor original = *f.inputs[0].tensor().clone();
  const Tensor mine = *original.clone();
  const auto result = (*graph)->run({mine});
  ASSERT_TRUE(result) << result.error().text();
  for (std::int64_t i = 0; i < 4; ++i) {
    const double value = original.itemAsDouble(i);
    EXPECT_FLOAT_EQ(result->list()[0].tensor().itemAsDouble(i), 2 * value);
    EXPECT_FLOAT_EQ(result->list()[2].tensor().itemAsDouble(i), 10 * (value + 1));
    EXPECT_FLOAT_EQ(mine.itemAsDouble(i), value + 1);
  }
}

TEST(CompileGraph, NamesTheNodeOfAnUnknownOp) {
  GraphFixture f;
  const NodeId x = f.input("x", DType::Float32, {4});
  const NodeId odd = f.call("mylib.frobnicate.default", {x});
  f.module.graph.output(Argument::tuple({odd}));
  const auto graph = compileFx(f.module);
  ASSERT_FALSE(graph);
  EXPECT_EQ(graph.error().code, ErrorCode::UnsupportedOp);
  EXPECT_EQ(graph.error().node, "frobnicate");
}

TEST(CompileGraph, PropagatesNaNLikeEager) {
  GraphFixture f;
  Tensor values = *Tensor::zeros(DType::Float32, {4});
  values.data<float>()[0] = NAN;
  values.data<float>()[1] = INFINITY;
  values.data<float>()[2] = -INFINITY;
  const NodeId x = f.input("x", values);
  f.output({f.call("aten.relu.default", {x}), f.call("aten.maximum.default", {f.call("aten.neg.default", {x}), x}),
            f.call("aten.amax.default", {x}), f.call("aten.clamp.default", {x, -1, 1}),
            f.call("aten.ne.Tensor", {x, x})});
  const auto graph = compiled(f);
  ASSERT_TRUE(graph);
  expectLikeInterpreter(f, *graph, 0);
}

TEST(CompileGraph, CanBeStopped) {
  GraphFixture f;
  const NodeId x = f.input("x", DType::Float32, {4});
  f.output({f.call("aten.relu.default", {x})});
  const auto graph = compiled(f);
  std::stop_source source;
  source.request_stop();
  EXPECT_EQ(graph->run(f.inputs, source.get_token()).error().code, ErrorCode::Cancelled);
  EXPECT_EQ(compileFx(f.module, {}, source.get_token()).error().code, ErrorCode::Cancelled);
}

TEST(CompileGraph, TimesItsStages) {
  GraphFixture f;
  f.output({f.call("aten.relu.default", {f.input("x", DType::Float32, {4})})});
  const auto graph = compiled(f);
  std::vector<std::string> names;
  for (const auto& stage : graph->stageTimes()) names.push_back(stage.stage);
  EXPECT_EQ(names, (std::vector<std::string>{"pre_grad", "joint", "post_grad", "lowering", "lower", "schedule",
                                             "codegen", "link"}));
}

TEST(CompileGraph, HandlesEmptyTensorsAndScalars) {
  GraphFixture f;
  const NodeId x = f.input("x", DType::Float32, {0, 3});
  const NodeId s = f.input("s", DType::Float32, {});
  f.output({f.call("aten.add.Tensor", {x, s}), f.call("aten.sum.dim_IntList", {x, Argument::list({0})}),
            f.call("aten.mul.Tensor", {s, s}), f.call("aten.sum.default", {s})});
  const auto graph = compiled(f);
  ASSERT_TRUE(graph);
  expectLikeInterpreter(f, *graph, 0);
}

/// new_ones(self, sizes) reads nothing of self, whose rank may be larger.
TEST(CompileGraph, FactoriesTakeSizesOfTheirOwn) {
  GraphFixture f;
  const NodeId x = f.input("x", DType::Float32, {2, 3, 4});
  const NodeId y = f.input("y", DType::Float32, {4});
  const NodeId value = f.input("value", DType::Float64, {});
  const NodeId scalar = f.call("aten.new_ones.default", {x, Argument::list({})});
  const NodeId vector = f.call("aten.new_full.default", {x, Argument::list({4}), 2.5});
  const NodeId larger = f.call("aten.new_zeros.default", {y, Argument::list({2, 3, 4})});
  const NodeId sum = f.call("aten.add.Tensor", {f.call("aten.mul.Tensor", {scalar, y}), vector});
  const NodeId filled = f.call("aten.fill.Tensor", {y, value});
  f.output({sum, f.call("aten.add.Tensor", {larger, x}), f.call("aten.ones_like.default", {x}), filled});
  const auto graph = compiled(f);
  ASSERT_TRUE(graph);
  EXPECT_EQ(countKernels(*graph, "extern"), 0u);
  expectLikeInterpreter(f, *graph);
}

}  // namespace
}  // namespace kerf
