// Graphs with symbolic sizes: one compilation against the interpreter, at several sizes each.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "engine/capture/common/capture.h"
#include "tests/support/recordings.h"
#include "tests/support/symbolic_fixture.h"

namespace kerf {
namespace {

using testing_support::expectLikeInterpreter;
using testing_support::SymbolicFixture;

/// Five sizes, from the smallest that symbols have to some that take several threads.
const SymbolBindings sizesOfTwo[] = {{{"s0", 2}, {"s1", 2}},
                                     {{"s0", 3}, {"s1", 7}},
                                     {{"s0", 8}, {"s1", 8}},
                                     {{"s0", 64}, {"s1", 33}},
                                     {{"s0", 5}, {"s1", 512}}};

std::string textOf(const SymbolBindings& values) {
  std::string text;
  for (const auto& [name, value] : values) text += fmt::format("{}={} ", name, value);
  return text;
}

/// One compilation serves all of `sizes`, fused and not.
void expectServes(SymbolicFixture& f, std::span<const SymbolBindings> sizes, double tolerance = 1e-5) {
  for (const bool fuse : {true, false}) {
    const auto graph = compileFx(f.module, {.fuse = fuse});
    ASSERT_TRUE(graph) << graph.error().text();
    EXPECT_EQ((*graph)->artifacts().fixedSizesReason, "");
    for (const SymbolBindings& values : sizes) {
      expectLikeInterpreter(f.module, **graph, f.inputsFor(values), values, tolerance, textOf(values));
      if (::testing::Test::HasFatalFailure()) return;
      EXPECT_EQ((*graph)->compilations(), 1) << textOf(values) << (*graph)->recompilations().back().text();
    }
  }
}

TEST(SymbolicGraphs, SoftmaxAndNormalization) {
  SymbolicFixture f({{"s0", 6}, {"s1", 40}});
  const NodeId x = f.tensor("x", DType::Float32, {"s0", "s1"});
  const NodeId amax = f.call("aten.amax.default", {x, Argument::list({-1}), true});
  const NodeId exp = f.call("aten.exp.default", {f.call("aten.sub.Tensor", {x, amax})});
  const NodeId sum = f.call("aten.sum.dim_IntList", {exp, Argument::list({-1}), true});
  const NodeId softmax = f.call("aten.div.Tensor", {exp, sum});
  const NodeId stats =
      f.call("aten.var_mean.correction", {softmax, Argument::list({1})}, {{"correction", 1}, {"keepdim", true}});
  const NodeId rsqrt = f.call("aten.rsqrt.default", {f.call("aten.add.Tensor", {f.item(stats, 0), 1e-5})});
  const NodeId centred = f.call("aten.sub.Tensor", {softmax, f.item(stats, 1)});
  f.output({f.call("aten.mul.Tensor", {centred, rsqrt}), rsqrt, f.call("aten.mean.default", {x})});
  expectServes(f, sizesOfTwo, 1e-4);
}

TEST(SymbolicGraphs, EqualExamplesStaySeparate) {
  SymbolicFixture f({{"s0", 8}, {"s1", 8}});
  const NodeId x = f.tensor("x", DType::Float32, {"s0", "4"});
  const NodeId y = f.tensor("y", DType::Float32, {"s1", "4"});
  const NodeId a = f.call("aten.relu.default", {x}), b = f.call("aten.exp.default", {y});
  f.output({f.call("aten.sum.dim_IntList", {a, Argument::list({0})}), b,
            f.call("aten.cat.default", {Argument::list({a, b})})});
  expectServes(f, sizesOfTwo);
}

TEST(SymbolicGraphs, Broadcasting) {
  SymbolicFixture f({{"s0", 6}, {"s1", 5}});
  const NodeId x = f.tensor("x", DType::Float32, {"s0", "1", "4"});
  const NodeId y = f.tensor("y", DType::Float32, {"s1", "1"});
  const NodeId z = f.tensor("z", DType::Float64, {"s0", "s1", "4"});
  const NodeId sum = f.call("aten.add.Tensor", {x, y});
  const NodeId all = f.call("aten.mul.Tensor", {sum, z});
  const NodeId wide = f.call("aten.expand.default", {y, Argument::list({f.size(x, 0), -1, 4})});
  f.output(
      {all, f.call("aten.neg.default", {wide}), f.call("aten.where.self", {f.call("aten.gt.Tensor", {x, y}), x, y})});
  expectServes(f, sizesOfTwo);
}

TEST(SymbolicGraphs, ViewsOfProducts) {
  SymbolicFixture f({{"s0", 6}, {"s1", 5}});
  const NodeId x = f.tensor("x", DType::Float32, {"s0", "s1", "8"});
  const NodeId w = f.tensor("w", DType::Float32, {"8", "12"});
  const NodeId s0 = f.size(x, 0), s1 = f.size(x, 1), both = f.times(s0, s1);
  const NodeId flat = f.call("aten.view.default", {f.call("aten.relu.default", {x}), Argument::list({both, 8})});
  const NodeId mm = f.call("aten.mm.default", {flat, w});
  const NodeId heads = f.call("aten.view.default", {mm, Argument::list({s0, s1, 3, 4})});
  const NodeId turned = f.call("aten.permute.default", {heads, Argument::list({0, 2, 1, 3})});
  const NodeId copy = f.call("aten.clone.default", {turned}, {{"memory_format", MemoryFormat::Contiguous}});
  const NodeId batch = f.call("aten.view.default", {copy, Argument::list({f.times(s0, 3), s1, 4})});
  const NodeId back = f.call("aten.permute.default", {batch, Argument::list({0, 2, 1})});
  const NodeId scores = f.call("aten.bmm.default", {batch, back});
  const NodeId scaled = f.call("aten.div.Tensor", {scores, s1});
  f.output({f.call("aten.view.default", {scaled, Argument::list({s0, 3, s1, s1})}),
            f.call("aten.view.default", {f.call("aten.exp.default", {mm}), Argument::list({-1})}), both});
  expectServes(f, sizesOfTwo, 1e-4);
}

TEST(SymbolicGraphs, SlicesAndSums) {
  SymbolicFixture f({{"s0", 6}, {"s1", 9}});
  const NodeId x = f.tensor("x", DType::Float32, {"s0", "s1"});
  const NodeId tail = f.call("aten.slice.Tensor", {x, 1, 1, std::int64_t{INT64_MAX}});
  const NodeId last = f.call("aten.select.int", {x, 1, -1});
  const NodeId turned = f.call("aten.permute.default", {f.call("aten.exp.default", {tail}), Argument::list({1, 0})});
  f.output({f.call("aten.add.Tensor", {tail, f.call("aten.unsqueeze.default", {last, 1})}),
            f.call("aten.sum.dim_IntList", {turned, Argument::list({1})}), f.call("aten.clone.default", {turned})});
  const SymbolBindings sizes[] = {{{"s0", 2}, {"s1", 3}},
                                  {{"s0", 3}, {"s1", 7}},
                                  {{"s0", 9}, {"s1", 9}},
                                  {{"s0", 64}, {"s1", 33}},
                                  {{"s0", 5}, {"s1", 512}}};
  expectServes(f, sizes, 1e-4);
}

TEST(SymbolicGraphs, NumbersOfSizesInsideOfKernels) {
  SymbolicFixture f({{"s0", 6}, {"s1", 9}});
  const NodeId n = f.number("n", "s0");
  const NodeId x = f.tensor("x", DType::Float32, {"s0", "s1"});
  const NodeId scaled = f.call("aten.mul.Tensor", {x, f.times(n, 3)});
  const NodeId full =
      f.call("aten.full.default", {Argument::list({n, f.size(x, 1)}), 0.5}, {{"dtype", DType::Float32}});
  const NodeId iota = f.module.graph.callFunction(
      "torch.ops.prims.iota.default", {Argument(f.size(x, 1))},
      {{"start", 0}, {"step", 1}, {"dtype", DType::Int64}, {"device", Device{}}, {"requires_grad", false}}, "iota");
  f.output({f.call("aten.add.Tensor", {scaled, full}), f.call("aten.add.Tensor", {x, iota}), f.times(n, n), n});
  expectServes(f, sizesOfTwo);
}

TEST(SymbolicGraphs, ConvolutionAndPooling) {
  SymbolicFixture f({{"s0", 3}, {"s1", 12}});
  const NodeId x = f.tensor("x", DType::Float32, {"s0", "3", "s1", "s1"});
  const NodeId w = f.tensor("w", DType::Float32, {"4", "3", "3", "3"});
  const NodeId b = f.tensor("b", DType::Float32, {"4"});
  const auto pair = [](int value) { return Argument::list({value, value}); };
  const NodeId conv = f.call("aten.convolution.default", {x, w, b, pair(2), pair(1), pair(1), false, pair(0), 1});
  const NodeId relu = f.call("aten.relu.default", {conv});
  const NodeId pool = f.call("aten.avg_pool2d.default", {relu, pair(2), pair(2), pair(0), true});
  f.output({f.call("aten.mean.dim", {relu, Argument::list({2, 3})}), f.call("aten.tanh.default", {pool})});
  const SymbolBindings sizes[] = {{{"s0", 2}, {"s1", 5}},
                                  {{"s0", 3}, {"s1", 13}},
                                  {{"s0", 8}, {"s1", 8}},
                                  {{"s0", 16}, {"s1", 33}},
                                  {{"s0", 5}, {"s1", 64}}};
  expectServes(f, sizes, 1e-4);
}

TEST(SymbolicGraphs, SizesAsTextsOfArguments) {
  SymbolicFixture f({{"s0", 6}, {"s1", 5}});
  const NodeId x = f.tensor("x", DType::Float32, {"s0", "s1"});
  const NodeId flat = f.call("aten.view.default", {x, Argument::list({SymExpr{"s0*s1", 30}})});
  const NodeId sum = f.call("aten.cumsum.default", {flat, 0});
  f.output({f.call("aten.view.default", {sum, Argument::list({SymExpr{"s1", 5}, SymExpr{"s0", 6}})})});
  expectServes(f, sizesOfTwo, 1e-4);
}

TEST(SymbolicGraphs, SizesOfOneAndNoneAreCompiledForThemselves) {
  SymbolicFixture f({{"s0", 6}, {"s1", 5}});
  const NodeId x = f.tensor("x", DType::Float32, {"s0", "s1"});
  f.output({f.call("aten.add.Tensor", {f.call("aten.exp.default", {x}), 1})});
  const auto graph = compileFx(f.module);
  ASSERT_TRUE(graph) << graph.error().text();
  const auto expectAt = [&](std::int64_t s0, int compilations) {
    const SymbolBindings values{{"s0", s0}, {"s1", 4}};
    expectLikeInterpreter(f.module, **graph, f.inputsFor(values), values, 1e-5, textOf(values));
    EXPECT_EQ((*graph)->compilations(), compilations) << s0;
  };
  expectAt(8, 1);
  expectAt(16, 1);
  expectAt(1, 2);
  expectAt(1, 2);
  expectAt(24, 2);
  expectAt(0, 3);
  expectAt(0, 3);
  expectAt(1, 3);
  ASSERT_EQ((*graph)->recompilations().size(), 2u);
  EXPECT_EQ((*graph)->recompilations()[0].guard, "s0 >= 2");
  EXPECT_EQ((*graph)->recompilations()[0].symbols.at("s0"), 1);
}

/// A graph in which an op takes a number apart: it holds for that number only.
void addSpecialisation(SymbolicFixture& f) {
  const NodeId x = f.tensor("x", DType::Float32, {"s0", "4"});
  f.output({f.call("aten.select.int", {f.call("aten.exp.default", {x}), 0, 2}), f.call("aten.split.Tensor", {x, 2})});
}

TEST(SymbolicGraphs, AGuardThatFailsIsNamedAndCompiledFor) {
  SymbolicFixture f({{"s0", 6}});
  addSpecialisation(f);
  const auto graph = compileFx(f.module);
  ASSERT_TRUE(graph) << graph.error().text();
  int compilations = 1;
  for (const std::int64_t s0 : {6, 8, 6, 8, 10}) {
    const auto result = (*graph)->run(f.inputsFor({{"s0", s0}}));
    ASSERT_TRUE(result) << result.error().text();
    EXPECT_EQ(std::int64_t(result->list()[1].list().size()), s0 / 2);
    compilations = std::max(compilations, s0 == 6 ? 1 : s0 == 8 ? 2 : 3);
    EXPECT_EQ((*graph)->compilations(), compilations) << s0;
  }
  EXPECT_NE((*graph)->recompilations()[0].guard.find("s0"), std::string::npos);
  EXPECT_EQ((*graph)->recompilations()[0].node, "split");
}

TEST(SymbolicGraphs, NoMoreThanEightVariantsAreKept) {
  SymbolicFixture f({{"s0", 6}});
  addSpecialisation(f);
  const auto graph = compileFx(f.module, {.optimizationLevel = 0, .keepArtifacts = false});
  ASSERT_TRUE(graph) << graph.error().text();
  for (std::int64_t s0 = 8; s0 < 22; s0 += 2) ASSERT_TRUE((*graph)->run(f.inputsFor({{"s0", s0}})));
  EXPECT_EQ((*graph)->compilations(), 8);
  const auto refused = (*graph)->run(f.inputsFor({{"s0", 40}}));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::ShapeMismatch);
  EXPECT_NE(refused.error().message.find("s0 = 40"), std::string::npos) << refused.error().text();
  EXPECT_TRUE((*graph)->run(f.inputsFor({{"s0", 12}})));
}

TEST(SymbolicGraphs, InputsThatContradictEachOtherAreRefused) {
  SymbolicFixture f({{"s0", 6}});
  const NodeId x = f.tensor("x", DType::Float32, {"s0", "4"});
  const NodeId y = f.tensor("y", DType::Float32, {"2*s0", "4"});
  f.output({f.call("aten.exp.default", {x}), f.call("aten.exp.default", {y})});
  const auto graph = compileFx(f.module);
  ASSERT_TRUE(graph) << graph.error().text();
  const auto tensor = [](Sizes sizes) { return Value(*Tensor::zeros(DType::Float32, sizes)); };
  ASSERT_TRUE((*graph)->run({tensor({5, 4}), tensor({10, 4})}));
  const auto odd = (*graph)->run({tensor({5, 4}), tensor({9, 4})});
  ASSERT_FALSE(odd);
  EXPECT_EQ(odd.error().code, ErrorCode::ShapeMismatch);
  EXPECT_NE(odd.error().message.find("'y'"), std::string::npos) << odd.error().text();
  for (const Value& none : {Value(std::int64_t{5}), Value(), tensor({})}) {
    const auto refused = (*graph)->run({none, tensor({10, 4})});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::ShapeMismatch);
    EXPECT_EQ(refused.error().node, "x");
  }
  EXPECT_FALSE((*graph)->run({}));
  const auto wide = (*graph)->run({tensor({5, 5}), tensor({10, 4})});
  ASSERT_FALSE(wide);
  EXPECT_EQ(wide.error().code, ErrorCode::ShapeMismatch);
  EXPECT_EQ((*graph)->compilations(), 1);
}

TEST(SymbolicGraphs, MemoryIsPlannedForTheSizesAtHand) {
  SymbolicFixture f({{"s0", 16}});
  NodeId x = f.tensor("x", DType::Float32, {"s0", "16"});
  const NodeId w = f.tensor("w", DType::Float32, {"16", "16"});
  for (int layer = 0; layer < 6; ++layer) x = f.call("aten.relu.default", {f.call("aten.mm.default", {x, w})});
  f.output({x});
  const auto graph = compileFx(f.module);
  ASSERT_TRUE(graph) << graph.error().text();
  const Artifacts& artifacts = (*graph)->artifacts();
  EXPECT_LT(artifacts.plannedBytes, artifacts.unplannedBytes);
  EXPECT_EQ(artifacts.plannedBytesText, "128*s0");
  EXPECT_EQ(artifacts.unplannedBytesText, "704*s0");
  for (const std::int64_t s0 : {16, 2, 100, 3})
    expectLikeInterpreter(f.module, **graph, f.inputsFor({{"s0", s0}}), {{"s0", s0}}, 1e-3, std::to_string(s0));
}

TEST(SymbolicGraphs, KernelsTakeBounds) {
  SymbolicFixture f({{"s0", 6}, {"s1", 5}});
  const NodeId x = f.tensor("x", DType::Float32, {"s0", "s1"});
  f.output({f.call("aten.sum.dim_IntList", {f.call("aten.exp.default", {x}), Argument::list({1})})});
  const auto graph = compileFx(f.module);
  ASSERT_TRUE(graph) << graph.error().text();
  const KernelInfo& kernel = (*graph)->kernels().at(0);
  EXPECT_NE(kernel.text("loop").find("for i0 < s0"), std::string::npos) << kernel.text("loop");
  EXPECT_NE(kernel.text("loop").find("for i1 < s1 (reduced)"), std::string::npos) << kernel.text("loop");
  EXPECT_NE(kernel.text("llvm").find("(ptr %0, i64 %1, i64 %2, ptr %3)"), std::string::npos) << kernel.text("llvm");
}

TEST(SymbolicGraphs, GraphsWithoutSymbolsHaveNoBounds) {
  SymbolicFixture f({});
  const NodeId x = f.tensor("x", DType::Float32, {"6", "5"});
  f.output({f.call("aten.exp.default", {x})});
  const auto graph = compileFx(f.module);
  ASSERT_TRUE(graph) << graph.error().text();
  EXPECT_NE((*graph)->kernels().at(0).text("llvm").find("(ptr %0, i64 %1, i64 %2)"), std::string::npos);
  EXPECT_TRUE((*graph)->artifacts().guards.empty());
  EXPECT_EQ((*graph)->artifacts().plannedBytesText, "");
}

TEST(SymbolicGraphs, AttentionBlock) {
  SymbolicFixture f({{"s0", 3}, {"s1", 10}});
  const NodeId x = f.tensor("x", DType::Float32, {"s0", "s1", "16"});
  const NodeId w = f.tensor("w", DType::Float32, {"48", "16"});
  const NodeId b = f.tensor("b", DType::Float32, {"48"});
  const NodeId n = f.size(x, 0), t = f.size(x, 1), rows = f.times(n, t), heads = f.times(n, 4);
  const auto view = [&](NodeId of, ArgumentList sizes) {
    return f.call("aten.view.default", {of, Argument::list(std::move(sizes))});
  };
  const auto permute = [&](NodeId of, ArgumentList order) {
    return f.call("aten.permute.default", {of, Argument::list(std::move(order))});
  };
  const auto contiguous = [&](NodeId of) {
    return f.call("aten.clone.default", {of}, {{"memory_format", MemoryFormat::Contiguous}});
  };
  const NodeId stats =
      f.call("aten.var_mean.correction", {x, Argument::list({2})}, {{"correction", 0}, {"keepdim", true}});
  const NodeId scale = f.call("aten.rsqrt.default", {f.call("aten.add.Tensor", {f.item(stats, 0), 1e-5})});
  const NodeId normal = f.call("aten.mul.Tensor", {f.call("aten.sub.Tensor", {x, f.item(stats, 1)}), scale});
  const NodeId linear = f.call("aten.addmm.default", {b, view(normal, {rows, 16}), permute(w, {1, 0})});
  const NodeId parts = f.call("aten.split.Tensor", {view(linear, {n, t, 48}), 16, 2});
  std::vector<NodeId> perHead;
  for (int i = 0; i < 3; ++i)
    perHead.push_back(view(contiguous(permute(view(f.item(parts, i), {n, t, 4, 4}), {0, 2, 1, 3})), {heads, t, 4}));
  const NodeId scores = f.call("aten.bmm.default", {perHead[0], permute(perHead[1], {0, 2, 1})});
  const NodeId scaled = f.call("aten.mul.Tensor", {view(scores, {n, 4, t, t}), 0.5});
  const NodeId amax = f.call("aten.amax.default", {scaled, Argument::list({-1}), true});
  const NodeId exp = f.call("aten.exp.default", {f.call("aten.sub.Tensor", {scaled, amax})});
  const NodeId sum = f.call("aten.sum.dim_IntList", {exp, Argument::list({-1}), true});
  const NodeId softmax = f.call("aten.div.Tensor", {exp, sum});
  const NodeId mixed = view(f.call("aten.bmm.default", {view(softmax, {heads, t, t}), perHead[2]}), {n, 4, t, 4});
  const NodeId out = view(contiguous(permute(mixed, {0, 2, 1, 3})), {n, t, 16});
  f.output({f.call("aten.add.Tensor", {x, f.call("aten.gelu.default", {out})}), softmax});
  expectServes(f, sizesOfTwo, 1e-3);
}

TEST(SymbolicGraphs, MutatedInputsAndLaidOutViews) {
  SymbolicFixture f({{"s0", 6}, {"s1", 5}});
  const NodeId x = f.tensor("x", DType::Float32, {"s0", "s1"});
  const NodeId y = f.tensor("y", DType::Float32, {"s0", "s1"});
  const NodeId sum = f.call("aten.add.Tensor", {x, f.call("aten.exp.default", {y})});
  const NodeId copied = f.call("aten.copy_.default", {x, sum});
  const NodeId s0 = f.size(y, 0), s1 = f.size(y, 1);
  const NodeId turned = f.call("aten.as_strided.default",
                               {f.call("aten.neg.default", {y}), Argument::list({s1, s0}), Argument::list({1, s1})});
  f.output({f.call("aten.relu.default", {copied}), f.call("aten.sin.default", {turned}), sum});
  for (const SymbolBindings& values : sizesOfTwo) {
    const auto graph = compileFx(f.module);
    ASSERT_TRUE(graph) << graph.error().text();
    const ValueList inputs = f.inputsFor(values);
    ValueList copies;
    for (const Value& input : inputs) copies.push_back(*input.tensor().clone());
    const auto result = (*graph)->run(inputs);
    const auto reference = Interpreter(f.module, referenceOps()).run(copies);
    ASSERT_TRUE(result) << result.error().text();
    ASSERT_TRUE(reference) << reference.error().text();
    for (std::size_t i = 0; i < 3; ++i)
      testing_support::expectClose(reference->list()[i].tensor(), result->list()[i].tensor(), 1e-5, textOf(values));
    testing_support::expectClose(copies[0].tensor(), inputs[0].tensor(), 1e-5, "x at " + textOf(values));
  }
}

TEST(SymbolicGraphs, StridesTellSymbolsThatSizesLeaveOpen) {
  SymbolicFixture f({{"s0", 6}, {"s1", 5}, {"s2", 9}});
  const NodeId x = f.tensor("x", DType::Float32, {"s0", "s1"});
  const NodeId y = f.tensor("y", DType::Float32, {"s0", "s1"});
  ValueMeta meta = f.module.graph.node(y).meta().value;
  std::get<TensorMeta>(meta.value).strides[0] = {"s2", 9};
  f.module.graph.setValueMeta(y, std::move(meta));
  f.output({f.call("aten.add.Tensor", {x, f.call("aten.exp.default", {y})})});
  const auto graph = compileFx(f.module);
  ASSERT_TRUE(graph) << graph.error().text();
  const Tensor wide = f.inputsFor({{"s0", 8}, {"s1", 12}})[0].tensor();
  const Tensor part = wide.viewAs({4, 6}, {24, 2}, 1), rows = wide.viewAs({4, 6}, {12, 1}, 6);
  for (const Tensor& first : {part, rows}) {
    const auto result = (*graph)->run({first, rows});
    ASSERT_TRUE(result) << result.error().text();
    const auto reference = Interpreter(f.module, referenceOps()).run({first, rows});
    testing_support::expectClose(reference->list()[0].tensor(), result->list()[0].tensor(), 1e-5, "strided");
  }
  EXPECT_EQ((*graph)->compilations(), 1);
}

TEST(SymbolicGraphs, StridedInputsAreCopied) {
  SymbolicFixture f({{"s0", 6}, {"s1", 5}});
  const NodeId x = f.tensor("x", DType::Float32, {"s0", "s1"});
  f.output({f.call("aten.exp.default", {f.call("aten.permute.default", {x, Argument::list({1, 0})})})});
  const auto graph = compileFx(f.module);
  ASSERT_TRUE(graph) << graph.error().text();
  const Tensor wide = f.inputsFor({{"s0", 8}, {"s1", 12}})[0].tensor();
  const Tensor turned = wide.viewAs({12, 8}, {1, 12}, 0), part = wide.viewAs({4, 6}, {24, 2}, 1);
  for (const Tensor& input : {turned, part, wide}) {
    const auto result = (*graph)->run({input});
    ASSERT_TRUE(result) << result.error().text();
    const auto reference = Interpreter(f.module, referenceOps()).run({input});
    testing_support::expectClose(reference->list()[0].tensor(), result->list()[0].tensor(), 1e-5, "strided");
  }
  EXPECT_EQ((*graph)->compilations(), 1);
}

TEST(SymbolicGraphs, PlantedFaultsShowAtEverySize) {
  SymbolicFixture f({{"s0", 6}, {"s1", 5}});
  const NodeId x = f.tensor("x", DType::Float32, {"s0", "s1"});
  f.output({f.call("aten.relu.default", {x})});
  CompileOptions options;
  options.faults.faults.push_back(*parseFault("relu=accuracy"));
  const auto graph = compileFx(f.module, options);
  ASSERT_TRUE(graph) << graph.error().text();
  for (const SymbolBindings& values : sizesOfTwo) {
    const ValueList inputs = f.inputsFor(values);
    const auto result = (*graph)->run(inputs);
    ASSERT_TRUE(result) << result.error().text();
    EXPECT_NEAR(result->list()[0].tensor().itemAsDouble(), std::max(0.0, inputs[0].tensor().itemAsDouble()) + 1, 1e-5);
  }
  EXPECT_EQ((*graph)->compilations(), 1);
}

TEST(SymbolicGraphs, TheInterpreterBackendTakesEverySize) {
  SymbolicFixture f({{"s0", 6}, {"s1", 5}});
  const NodeId x = f.tensor("x", DType::Float32, {"s0", "s1"});
  f.output({f.call("aten.view.default", {x, Argument::list({SymExpr{"s0*s1", 30}})})});
  const auto graph = compileFx(f.module, {.backend = "interp"});
  ASSERT_TRUE(graph) << graph.error().text();
  for (const SymbolBindings& values : sizesOfTwo)
    expectLikeInterpreter(f.module, **graph, f.inputsFor(values), values, 0, textOf(values));
}

TEST(SymbolicGraphs, SizesThatDependOnDataRunOutsideOfKernels) {
  SymbolicFixture f({{"s0", 6}, {"s1", 5}});
  const NodeId x = f.tensor("x", DType::Float32, {"s0", "s1"});
  const NodeId where = f.call("aten.nonzero.default", {f.call("aten.gt.Scalar", {x, 0})});
  const NodeId rows = f.call("aten.select.int", {where, 1, 0});
  const NodeId picked = f.call("aten.index_select.default", {f.call("aten.exp.default", {x}), 0, rows});
  const NodeId item = f.call("aten._local_scalar_dense.default", {f.call("aten.sum.default", {rows})});
  f.output({f.call("aten.sum.dim_IntList", {f.call("aten.relu.default", {picked}), Argument::list({0})}),
            f.call("aten.mul.Tensor", {x, f.times(f.size(x, 0), 2)}), f.size(rows, 0),
            f.call("aten.clamp.default", {x, item})});
  expectServes(f, sizesOfTwo, 1e-3);
}

// PyTorch's own dynamic graphs

/// fx_graph_runnable.py of the training step of an MLP with a symbolic batch, by direction.
std::vector<std::filesystem::path> dynamicMlp() {
  std::vector<std::filesystem::path> found;
  std::error_code none;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(recordingsFolder() / "variety/dynamic_mlp/trace", none))
    if (entry.path().filename() == "fx_graph_runnable.py") found.push_back(entry.path());
  std::ranges::sort(found);
  return found;
}

TEST(SymbolicGraphs, DynamicMlpIsCompiledOnceForAllBatches) {
  const auto files = dynamicMlp();
  if (files.empty()) GTEST_SKIP() << testing::leftOut(recordingsFolder() / "variety/dynamic_mlp/trace");
  for (const auto& file : files) {
    auto capture = importCapture(file);
    ASSERT_TRUE(capture) << capture.error().text();
    CapturedGraph& graph = capture->graphs.at(0);
    ASSERT_TRUE(graph.annotateShapes());
    ASSERT_FALSE(graph.symbols().empty());
    const std::string symbol = graph.symbols()[0].text;
    const auto compiled = compileFx(graph.module);
    ASSERT_TRUE(compiled) << compiled.error().text();
    EXPECT_EQ((*compiled)->artifacts().fixedSizesReason, "");
    for (const std::int64_t batch : {4, 2, 7, 64, 1000}) {
      const SymbolBindings values{{symbol, batch}};
      LoadOptions options;
      options.symbols = values;
      const auto inputs = graph.loadInputs(options, nullptr);
      ASSERT_TRUE(inputs) << inputs.error().text();
      expectLikeInterpreter(graph.module, **compiled, *inputs, values, 1e-3, textOf(values));
      EXPECT_EQ((*compiled)->compilations(), 1) << batch;
    }
  }
}

}  // namespace
}  // namespace kerf
