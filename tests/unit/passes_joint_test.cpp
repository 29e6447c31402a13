// The joint passes on small graphs: what each changes, a near miss, and the same values before and after.
#include <cmath>
#include <filesystem>
#include <fstream>

#include "engine/passes/joint/padding_benchmark.h"
#include "tests/support/pass_fixture.h"

namespace kerf {
namespace {

using namespace kerf::testing;
using Calls = std::vector<std::string>;

Argument ints(std::initializer_list<std::int64_t> values) {
  return Argument::list(ArgumentList(values.begin(), values.end()));
}

TEST(JointNoOps, KnowsPaddingRepeatsPowersAndWholeNumbers) {
  PassGraph g;
  const NodeId x = g.input("x", {4});
  const NodeId n = g.input("n", {4}, DType::Int64);
  const NodeId padded = g.call("aten.constant_pad_nd.default", {x, ints({0, 0})});
  const NodeId repeated = g.call("aten.repeat.default", {padded, ints({1})});
  const NodeId power = g.call("aten.pow.Tensor_Scalar", {repeated, 1});
  const NodeId whole = g.call("aten.floor.default", {n});
  g.finish({g.call("aten.relu.default", {power}), g.call("aten.neg.default", {whole})});
  EXPECT_EQ(calls(afterPass(g, "joint_remove_noop_ops").graph), (Calls{"aten.relu.default", "aten.neg.default"}));
}

TEST(JointNoOps, KeepsPaddingThatShiftsAndFloorsOfFractions) {
  PassGraph g;
  const NodeId x = g.input("x", {4});
  const NodeId shifted = g.call("aten.constant_pad_nd.default", {x, ints({1, -1})});
  g.finish({g.call("aten.relu.default", {shifted}), g.call("aten.neg.default", {g.call("aten.floor.default", {x})})});
  EXPECT_EQ(calls(afterPass(g, "joint_remove_noop_ops").graph).size(), 4u);
}

TEST(JointNoOps, TakesTheSourceOfASliceThatIsAllOfATensor) {
  PassGraph g;
  const NodeId x = g.input("x", {4}), y = g.input("y", {4});
  const NodeId all = g.call("aten.slice_scatter.default", {x, y, 0, 0, 4});
  const NodeId half = g.call("aten.slice_scatter.default", {x, g.call("aten.slice.Tensor", {y, 0, 0, 2}), 0, 0, 2});
  g.finish({g.call("aten.relu.default", {all}), g.call("aten.relu.default", {half})});
  EXPECT_EQ(calls(afterPass(g, "joint_remove_noop_ops").graph),
            (Calls{"aten.slice.Tensor", "aten.slice_scatter.default", "aten.relu.default", "aten.relu.default"}));
}

TEST(ConstantFoldUniformValue, FollowsOneNumberThroughCallsAndViews) {
  PassGraph g;
  const NodeId x = g.input("x", {2, 4});
  const NodeId three = g.call("aten.mul.Tensor", {g.full({4}, 1.5), 2});
  const NodeId viewed = g.call("aten.view.default", {three, ints({1, 4})});
  const NodeId root = g.call("aten.sqrt.default", {viewed});
  const NodeId wide = g.call("aten.clone.default", {g.call("aten.expand.default", {root, ints({2, 4})})},
                             {{"memory_format", MemoryFormat::Contiguous}});
  g.finish({g.call("aten.add.Tensor", {x, wide})});
  const GraphModule after = afterPass(g, "constant_fold_uniform_value");
  EXPECT_EQ(calls(after.graph), (Calls{"aten.full.default", "aten.add.Tensor"}));
  const Node& full = after.graph.node(*after.graph.find("full_default_1"));
  EXPECT_EQ(full.args()[1], Argument(double(std::sqrt(3.0f))));
}

TEST(ConstantFoldUniformValue, KnowsThatOnlyIntegersTimesZeroAreZero) {
  PassGraph g;
  const NodeId x = g.input("x", {4}), n = g.input("n", {4}, DType::Int64);
  const NodeId zero = g.call("aten.mul.Tensor", {n, 0}), maybe = g.call("aten.mul.Tensor", {x, 0});
  g.finish({g.call("aten.add.Tensor", {n, zero}), g.call("aten.add.Tensor", {x, maybe})});
  EXPECT_EQ(calls(afterPass(g, "constant_fold_uniform_value").graph),
            (Calls{"aten.full.default", "aten.mul.Tensor", "aten.add.Tensor", "aten.add.Tensor"}));
}

TEST(ConstantFoldUniformValue, LeavesWrittenAndReturnedViewsAlone) {
  PassGraph g;
  const NodeId x = g.input("x", {4});
  const NodeId written = g.full({4}, 1.0);
  const NodeId sum = g.call("aten.neg.default", {written});
  g.call("aten.add_.Tensor", {written, x});
  const NodeId base = g.full({4}, 2.0);
  g.finish({sum, written, base, g.call("aten.view.default", {base, ints({2, 2})})});
  EXPECT_EQ(calls(afterPass(g, "constant_fold_uniform_value").graph), calls(g.module.graph));
}

TEST(PointlessView, MakesOneViewOfAChain) {
  PassGraph g;
  const NodeId x = g.input("x", {2, 3});
  const NodeId twice = g.call("aten.view.default", {g.call("aten.view.default", {x, ints({6})}), ints({3, 2})});
  const NodeId once = g.call("aten.permute.default", {x, ints({1, 0})});
  const NodeId turned = g.call("aten.permute.default", {once, ints({1, 0})});
  g.finish({g.call("aten.relu.default", {twice}), g.call("aten.exp.default", {turned})});
  const GraphModule after = afterPass(g, "pointless_view");
  EXPECT_EQ(calls(after.graph), (Calls{"aten.view.default", "aten.relu.default", "aten.exp.default"}));
}

TEST(PointlessView, ComposesPermutationsAndDropsAddedDimensions) {
  PassGraph g;
  const NodeId x = g.input("x", {2, 3, 4});
  const NodeId once = g.call("aten.permute.default", {x, ints({1, 2, 0})});
  const NodeId twice = g.call("aten.permute.default", {once, ints({2, -2, 0})});
  const NodeId wide = g.call("aten.unsqueeze.default", {x, 1});
  g.finish({g.call("aten.relu.default", {twice}), g.call("aten.exp.default", {g.call("aten.squeeze.dim", {wide, 1})})});
  const GraphModule after = afterPass(g, "pointless_view");
  EXPECT_EQ(calls(after.graph), (Calls{"aten.permute.default", "aten.relu.default", "aten.exp.default"}));
  EXPECT_EQ(after.graph.node(twice).args()[1], ints({0, 2, 1}));
}

TEST(PointlessView, KeepsAViewAcrossAPermutationAndReturnedPairs) {
  PassGraph g;
  const NodeId x = g.input("x", {2, 3});
  const NodeId turned = g.call("aten.permute.default", {x, ints({1, 0})});
  const NodeId copied = g.call("aten.clone.default", {turned}, {{"memory_format", MemoryFormat::Contiguous}});
  const NodeId viewed = g.call("aten.view.default", {copied, ints({2, 3})});
  const NodeId back = g.call("aten.permute.default", {turned, ints({1, 0})});
  g.finish({g.call("aten.relu.default", {viewed}), back});
  EXPECT_EQ(calls(afterPass(g, "pointless_view").graph).size(), 5u);
}

TEST(PointlessConvert, DropsWhatLosesNothing) {
  PassGraph g;
  const NodeId x = g.input("x", {4});
  const auto to = [&](NodeId id, DType dtype) { return g.call("prims.convert_element_type.default", {id, dtype}); };
  const NodeId same = to(to(x, DType::Float64), DType::Float32);
  const NodeId half = to(to(x, DType::Float64), DType::Float16);
  const NodeId rounded = to(to(x, DType::BFloat16), DType::Float32);
  g.finish({g.call("aten.relu.default", {same}), g.call("aten.relu.default", {half}),
            g.call("aten.relu.default", {rounded})});
  const GraphModule after = afterPass(g, "pointless_convert");
  EXPECT_EQ(after.graph.node(half).args()[0], Argument(x));
  EXPECT_EQ(calls(after.graph).size(), 6u);  // three relus, one conversion to half, two that round
}

TEST(PointlessConvert, DropsRoundingWhenAsked) {
  PassGraph g;
  const NodeId x = g.input("x", {4}, DType::Float32);
  const NodeId half = g.call("prims.convert_element_type.default", {x, DType::BFloat16});
  const NodeId other = g.call("prims.convert_element_type.default", {half, DType::Float16});
  g.finish({g.call("aten.relu.default", {other})});
  EXPECT_EQ(calls(afterPass(g, "pointless_convert").graph).size(), 3u);
  const std::vector<std::string> asked{"pointless_convert.drop_rounding=true"};
  EXPECT_EQ(calls(afterPass(g, "pointless_convert", asked, 1e-2).graph).size(), 2u);
}

TEST(PointlessCumsumReplacement, CountsInstead) {
  PassGraph g;
  const NodeId ones = g.call("aten.cumsum.default", {g.full({2, 5}, 1, DType::Int64), 1});
  const NodeId threes = g.call("aten.cumsum.default", {g.full({6}, 3.0), 0});
  g.finish({g.call("aten.neg.default", {ones}), g.call("aten.neg.default", {threes})});
  const auto names = calls(afterPass(g, "pointless_cumsum_replacement").graph);
  EXPECT_EQ(std::ranges::count(names, "aten.cumsum.default"), 0);
  EXPECT_EQ(std::ranges::count(names, "prims.iota.default"), 2);
}

TEST(PointlessCumsumReplacement, KeepsSumsThatRound) {
  PassGraph g;
  const NodeId tenths = g.call("aten.cumsum.default", {g.full({6}, 0.1), 0});
  const NodeId large = g.call("aten.cumsum.default", {g.full({300}, 1.0, DType::BFloat16), 0});
  g.finish({g.call("aten.neg.default", {tenths}), g.call("aten.neg.default", {large})});
  EXPECT_EQ(calls(afterPass(g, "pointless_cumsum_replacement").graph), calls(g.module.graph));
}

TEST(BmmToMm, MultipliesMatricesOnTheDevicesItIsToldOf) {
  PassGraph g;
  const NodeId a = g.input("a", {1, 2, 3}), b = g.input("b", {1, 3, 4});
  g.finish({g.call("aten.bmm.default", {a, b})});
  EXPECT_EQ(calls(afterPass(g, "bmm_to_mm").graph), (Calls{"aten.bmm.default"}));
  EXPECT_EQ(calls(afterPass(g, "bmm_to_mm", {"bmm_to_mm.devices=all"}, 1e-6).graph),
            (Calls{"aten.squeeze.dim", "aten.squeeze.dim", "aten.mm.default", "aten.unsqueeze.default"}));
}

TEST(BmmToMm, KeepsBatchesOfTwo) {
  PassGraph g;
  const NodeId a = g.input("a", {2, 2, 3}), b = g.input("b", {2, 3, 4});
  g.finish({g.call("aten.bmm.default", {a, b})});
  EXPECT_EQ(calls(afterPass(g, "bmm_to_mm", {"bmm_to_mm.devices=all"}).graph).size(), 1u);
}

TEST(ScatterUponConstTensor, ComparesPositions) {
  PassGraph g;
  const NodeId index = g.input("index", {3, 1}, DType::Int64);
  g.finish({g.call("aten.neg.default", {g.call("aten.scatter.value", {g.full({3, 5}, 0.0), 1, index, -1.0})})});
  const auto names = calls(afterPass(g, "scatter_upon_const_tensor").graph);
  EXPECT_EQ(std::ranges::count(names, "aten.where.self"), 1);
  EXPECT_EQ(std::ranges::count(names, "aten.scatter.value"), 0);
}

TEST(ScatterUponConstTensor, KeepsScattersOfSeveralPlacesOrFewerRows) {
  PassGraph g;
  const NodeId two = g.input("two", {3, 2}, DType::Int64), fewer = g.input("fewer", {2, 1}, DType::Int64);
  const NodeId full = g.full({3, 5}, 0.0);
  g.finish({g.call("aten.scatter.value", {full, 1, two, -1.0}), g.call("aten.scatter.value", {full, 1, fewer, -1.0})});
  EXPECT_EQ(calls(afterPass(g, "scatter_upon_const_tensor").graph), calls(g.module.graph));
}

/// s - max(s) of scaled scores.
PassGraph scaledScores(const char* op, double factor, std::int64_t dim) {
  PassGraph g;
  const NodeId x = g.input("x", {3, 8});
  const NodeId scaled = g.call(op, {x, factor});
  const NodeId maximum = g.call("aten.amax.default", {scaled, ints({dim}), true});
  g.finish({g.call("aten.sub.Tensor", {scaled, maximum})});
  return g;
}

TEST(MulSoftmaxPattern, ScalesAfterwardsAndMindsTheSign) {
  const std::vector<std::string> on{"mul_softmax_pattern.enabled=true"};
  for (const double factor : {0.3, -0.7}) {
    EXPECT_EQ(
        calls(afterPass(scaledScores("aten.mul.Tensor", factor, -1), "mul_softmax_pattern", on, 1e-6).graph).back(),
        "aten.mul.Tensor");
    EXPECT_EQ(
        calls(afterPass(scaledScores("aten.div.Tensor", factor, 0), "mul_softmax_pattern", on, 1e-6).graph).back(),
        "aten.div.Tensor");
  }
}

TEST(MulSoftmaxPattern, ScalesByTensorsThatAreOneNumberARow) {
  const std::vector<std::string> on{"mul_softmax_pattern.enabled=true"};
  for (const char* op : {"aten.mul.Tensor", "aten.div.Tensor"})
    for (const std::int64_t columns : {1, 8}) {
      PassGraph g;
      const NodeId x = g.input("x", {3, 8}), by = g.input("by", {3, columns});
      const NodeId scaled = g.call(op, {x, by});
      const NodeId maximum = g.call("aten.amax.default", {scaled, ints({1}), true});
      g.finish({g.call("aten.sub.Tensor", {scaled, maximum})});
      const auto names = calls(afterPass(g, "mul_softmax_pattern", on, 1e-6).graph);
      EXPECT_EQ(names.back(), columns == 1 ? "aten.where.self" : "aten.sub.Tensor") << op;
    }
}

TEST(MulSoftmaxPattern, IsOffByDefaultAndKeepsZeroFactors) {
  const auto one = scaledScores("aten.mul.Tensor", 0.3, -1), zero = scaledScores("aten.mul.Tensor", 0, -1);
  EXPECT_EQ(calls(afterPass(one, "mul_softmax_pattern").graph), calls(one.module.graph));
  EXPECT_EQ(calls(afterPass(zero, "mul_softmax_pattern", {"mul_softmax_pattern.enabled=true"}).graph),
            calls(zero.module.graph));
}

TEST(StableSort, PutsNodesAfterTheirInputs) {
  for (const char* name : {"stable_sort", "joint_stable_sort"}) {
    PassGraph g;
    const NodeId x = g.input("x", {2});
    const NodeId a = g.call("aten.exp.default", {x});
    const NodeId c = g.call("aten.neg.default", {x});
    const NodeId b = g.call("aten.relu.default", {a});
    g.finish({b, c});
    const Pass sort = selectPasses({.only = std::vector<std::string>{name}})->front();
    const std::uint64_t sorted = g.module.graph.revision();
    ASSERT_TRUE(sort.run(g.module, {sort.options, {}}));
    EXPECT_EQ(g.module.graph.revision(), sorted) << name;
    g.module.graph.moveBefore(b, a);
    EXPECT_FALSE(g.module.graph.lint());
    ASSERT_TRUE(sort.run(g.module, {sort.options, {}}));
    EXPECT_TRUE(g.module.graph.lint()) << name;
  }
}

TEST(PadMm, PadsWhatTensorCoresDoNotTakeWhole) {
  PassGraph g;
  const NodeId a = g.input("a", {6, 10}), b = g.input("b", {10, 7});
  const NodeId c = g.input("c", {2, 8, 5}), d = g.input("d", {2, 5, 4});
  g.finish({g.call("aten.mm.default", {a, b}), g.call("aten.bmm.default", {c, d})});
  const GraphModule after = afterPass(g, "pad_mm", {"pad_mm.devices=all", "pad_mm.min_intensity=1.0"}, 1e-6);
  EXPECT_EQ(calls(after.graph),
            (Calls{"aten.constant_pad_nd.default", "aten.constant_pad_nd.default", "aten.mm.default",
                   "aten.slice.Tensor", "aten.slice.Tensor", "aten.clone.default", "aten.constant_pad_nd.default",
                   "aten.constant_pad_nd.default", "aten.bmm.default"}));
}

TEST(PadMm, KeepsAlignedSmallAndOtherDevices) {
  PassGraph g;
  const NodeId a = g.input("a", {8, 12}), b = g.input("b", {12, 4}), c = g.input("c", {4, 5});
  g.finish({g.call("aten.mm.default", {g.call("aten.mm.default", {a, b}), c})});
  EXPECT_EQ(calls(afterPass(g, "pad_mm", {"pad_mm.devices=all"}).graph).size(), 2u);
  EXPECT_EQ(calls(afterPass(g, "pad_mm", {"pad_mm.min_intensity=0.1"}).graph).size(), 2u);
  const std::vector<std::string> every = {"pad_mm.devices=all", "pad_mm.min_intensity=0.1"};
  EXPECT_EQ(calls(afterPass(g, "pad_mm", every, 1e-6).graph).front(), "aten.mm.default");
}

TEST(PadMm, LeavesRowsThatLieAsFarApartAsBefore) {
  const std::vector<std::string> every = {"pad_mm.devices=all", "pad_mm.min_intensity=0.1"};
  PassGraph g;
  const NodeId a = g.input("a", {6, 8}), b = g.input("b", {8, 4}), stored = g.input("stored", {8, 6});
  const NodeId turned = g.call("aten.t.default", {stored});
  g.finish({g.call("aten.mm.default", {a, b}), g.call("aten.mm.default", {turned, b})});
  const auto names = calls(afterPass(g, "pad_mm", every, 1e-6).graph);
  EXPECT_EQ(std::ranges::count(names, "aten.constant_pad_nd.default"), 1);  // 6 is how far the stored rows lie apart
}

TEST(PadMm, WeighsWhatIsCopiedAgainstWhatIsMultiplied) {
  const std::vector<std::string> everywhere = {"pad_mm.devices=all"};
  PassGraph g;  // as Inductor decided by measuring: gpt2's vocabulary (a part of it), a weight's gradient of vit_b_16
  const NodeId hidden = g.input("hidden", {256, 768}), words = g.input("words", {768, 2049});
  const NodeId grad = g.input("grad", {768, 394}), x = g.input("x", {394, 768});
  g.finish({g.call("aten.mm.default", {hidden, words}), g.call("aten.mm.default", {grad, x})});
  EXPECT_EQ(
      calls(afterPass(g, "pad_mm", everywhere, 1e-5).graph),
      (Calls{"aten.mm.default", "aten.constant_pad_nd.default", "aten.constant_pad_nd.default", "aten.mm.default"}));
}

TEST(PadMm, PadsWhatIsAddedWhereItGrows) {
  const std::vector<std::string> every = {"pad_mm.devices=all", "pad_mm.min_intensity=0.1"};
  for (const Sizes& term : {Sizes{7}, Sizes{6, 7}, Sizes{6, 1}, Sizes{}}) {
    PassGraph g;
    const NodeId c = g.input("c", term), a = g.input("a", {6, 8}), b = g.input("b", {8, 7});
    g.finish({g.call("aten.addmm.default", {c, a, b}, {{"beta", 0.5}})});
    const auto names = calls(afterPass(g, "pad_mm", every, 1e-6).graph);
    EXPECT_EQ(std::ranges::count(names, "aten.addmm.default"), 1);
    const bool grows = !term.empty();
    EXPECT_EQ(std::ranges::count(names, "aten.constant_pad_nd.default"), grows ? 3 : 2) << term.size();
    EXPECT_EQ(names.back(), "aten.clone.default");
  }
}

TEST(PadMm, MeasuresAProductOnce) {
  PaddingBenchmark& benchmark = PaddingBenchmark::shared();
  PassGraph g;
  const NodeId a = g.input("a", {6, 10}), b = g.input("b", {10, 7});
  g.finish({g.call("aten.mm.default", {a, b}), g.call("aten.mm.default", {a, b})});
  const std::vector<std::string> measured = {"pad_mm.devices=all", "pad_mm.benchmark=true"};
  const std::size_t before = benchmark.measured();
  const auto names = calls(afterPass(g, "pad_mm", measured, 1e-6).graph);
  EXPECT_EQ(benchmark.measured(), before + 1);
  const auto product = paddedProductOf(g.module.graph, g.module.graph.node(*g.module.graph.find("mm_default")));
  ASSERT_TRUE(product);
  const auto times = benchmark.times(*product);
  ASSERT_TRUE(times) << times.error().text();
  EXPECT_EQ(benchmark.measured(), before + 1);
  EXPECT_GT(times->plain, 0);
  EXPECT_EQ(std::ranges::count(names, "aten.constant_pad_nd.default"), times->padded < times->plain ? 4 : 0);
}

TEST(PadMm, KeepsWhatItMeasuredInAFile) {
  const std::filesystem::path folder = std::filesystem::path(::testing::TempDir()) / "kerf_padding_times";
  const std::filesystem::path file = folder / "padding.times";
  std::filesystem::remove_all(folder);
  PassGraph g;
  const NodeId a = g.input("a", {6, 10}), b = g.input("b", {10, 7});
  g.finish({g.call("aten.mm.default", {a, b})});
  const auto product = paddedProductOf(g.module.graph, g.module.graph.node(*g.module.graph.find("mm_default")));
  ASSERT_TRUE(product);
  PaddingBenchmark first;
  first.keepIn(file);
  const auto measured = first.times(*product);
  ASSERT_TRUE(measured) << measured.error().text();

  PaddingBenchmark second;
  second.keepIn(file);
  EXPECT_EQ(second.measured(), 1u);
  const auto known = second.times(*product);
  ASSERT_TRUE(known);
  EXPECT_EQ(known->plain, measured->plain);
  EXPECT_EQ(known->padded, measured->padded);

  std::ofstream(file, std::ios::app) << "half a line\n\0\xff";
  PaddingBenchmark third;
  third.keepIn(file);
  EXPECT_EQ(third.measured(), 1u);
  std::fstream(file, std::ios::in | std::ios::out).seekp(40).put('#');  // inside the one whole line
  PaddingBenchmark fourth;
  fourth.keepIn(file);
  EXPECT_EQ(fourth.measured(), 0u);
  EXPECT_TRUE(fourth.times(*product));
  PaddingBenchmark fifth;
  fifth.keepIn(file);
  EXPECT_EQ(fifth.measured(), 1u) << "written anew";
  std::filesystem::remove_all(folder);
}

/// After passes whose numbers are others: values are not compared.
GraphModule withOtherNumbers(const PassGraph& graph, const std::vector<std::string>& passes) {
  PassConfig config{.only = passes};
  for (const std::string& pass : passes) config.patches.push_back(*parsePassPatch(pass + ".inductor_numbers=true"));
  const auto result = PassManager(*selectPasses(config)).run(graph.module);
  EXPECT_TRUE(result.has_value()) << result.error().text();
  return result ? *result : graph.module;
}

TEST(ReplaceRandom, DrawsAllSeedsOfADeviceAtOnce) {
  PassGraph g;
  const NodeId x = g.input("x", {4, 8});
  const NodeId a = g.call("aten.rand.default", {ints({4, 8})}, {{"dtype", DType::Float32}});
  const NodeId b = g.call("aten.randn_like.default", {x});
  const NodeId c = g.call("aten.rand.default", {ints({4, 8})}, {{"dtype", DType::Float64}});
  g.finish({g.call("aten.add.Tensor", {a, b}), c});
  const GraphModule after = withOtherNumbers(g, {"replace_random"});
  EXPECT_EQ(calls(after.graph), (Calls{"prims.inductor_seeds.default", "prims.inductor_lookup_seed.default",
                                       "prims.inductor_random.default", "prims.inductor_lookup_seed.default",
                                       "prims.inductor_random.default", "aten.rand.default", "aten.add.Tensor"}));
  const Node& seeds = after.graph.node(*after.graph.find("inductor_seeds_default"));
  EXPECT_EQ(seeds.args()[0], Argument(2));
  // the numbers are those of the seeds, whatever was drawn before
  const ValueList first = runGraph(after, g.inputs()), again = runGraph(after, g.inputs());
  EXPECT_EQ(difference(first, again), 0);
  EXPECT_GT(difference(runGraph(g.module, g.inputs()), first), 0.01);
  EXPECT_EQ(calls(afterPass(g, "replace_random").graph).size(), 4u);
}

TEST(ReplaceRandom, KeepsDrawsOfAGeneratorAndOfWholeNumbersFromTensors) {
  PassGraph g;
  const NodeId x = g.input("x", {4});
  g.finish({g.call("aten.bernoulli.default", {g.call("aten.sigmoid.default", {x})}),
            g.call("aten.rand.default", {ints({4})}, {{"dtype", DType::Float64}})});
  EXPECT_EQ(withOtherNumbers(g, {"replace_random"}).revision(), g.module.revision());
}

TEST(ReplaceBernoulli, KeepsProbabilitiesThatAreTensors) {
  PassGraph g;
  const NodeId p = g.call("aten.sigmoid.default", {g.input("x", {4})});
  g.finish({g.call("aten.bernoulli.default", {p})});
  EXPECT_EQ(withOtherNumbers(g, {"replace_bernoulli"}).revision(), g.module.revision());
}

TEST(ReplaceBernoulli, ComparesUniformNumbersWithTheProbability) {
  PassGraph g;
  const NodeId x = g.input("x", {50, 40});
  const NodeId draw = g.call("aten.bernoulli.p", {x, 0.25});
  g.finish({draw});
  const GraphModule after = withOtherNumbers(g, {"replace_bernoulli"});
  EXPECT_EQ(calls(after.graph), (Calls{"aten.rand.default", "aten.lt.Scalar", "prims.convert_element_type.default"}));
  const Tensor drawn = runGraph(after, g.inputs())[0].tensor();
  double ones = 0;
  for (std::int64_t i = 0; i < drawn.numel(); ++i) {
    EXPECT_TRUE(drawn.itemAsDouble(i) == 0 || drawn.itemAsDouble(i) == 1);
    ones += drawn.itemAsDouble(i);
  }
  EXPECT_NEAR(ones / 2000, 0.25, 0.04);
  EXPECT_EQ(calls(afterPass(g, "replace_bernoulli").graph), (Calls{"aten.bernoulli.p"}));
}

}  // namespace
}  // namespace kerf
