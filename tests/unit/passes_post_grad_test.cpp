// The post-grad passes on small graphs: what each changes, a near miss, and the same values before and after.
#include "engine/passes/post_grad/collective_bucketing.h"
#include "tests/support/pass_fixture.h"

namespace kerf {
namespace {

using namespace kerf::testing;
using Calls = std::vector<std::string>;

Argument ints(std::initializer_list<std::int64_t> values) {
  return Argument::list(ArgumentList(values.begin(), values.end()));
}

TEST(AssertRemoval, DropsWhatIsKnownAndKeepsWhatIsNot) {
  PassGraph g;
  const NodeId x = g.input("x", {2, 3});
  const NodeId y = g.call("aten.exp.default", {x});
  const auto claim = [&](DType dtype) {
    g.call("aten._assert_tensor_metadata.default", {y, ints({2, 3}), Argument(), dtype});
  };
  claim(DType::Float32);
  g.finish({y});
  const InsertionScope scope(g.module.graph, InsertionScope::Where::Before, g.module.graph.outputNode());
  claim(DType::Float16);
  PassConfig config{.only = std::vector<std::string>{"assert_removal"}};
  const auto after = PassManager(*selectPasses(config)).run(g.module);
  ASSERT_TRUE(after) << after.error().text();
  EXPECT_EQ(calls(after->graph), (Calls{"aten.exp.default", "aten._assert_tensor_metadata.default"}));
}

/// relu(product + c), or that twice.
PassGraph productSum(const char* op, const Sizes& a, const Sizes& b, const Sizes& c, bool second = false) {
  PassGraph g;
  const NodeId x = g.input("a", a), y = g.input("b", b), z = g.input("c", c);
  const NodeId product = g.call(op, {x, y});
  ArgumentList outputs{g.call("aten.sum.default", {g.call("aten.add.Tensor", {z, product})})};
  if (second) outputs.emplace_back(g.call("aten.exp.default", {product}));
  g.finish(std::move(outputs));
  return g;
}

TEST(AddmmFusion, MakesOneCallOfProductAndSum) {
  EXPECT_EQ(calls(afterPass(productSum("aten.mm.default", {2, 3}, {3, 4}, {4}), "addmm_fusion", {}, 1e-6).graph),
            (Calls{"aten.addmm.default", "aten.sum.default"}));
  const auto batches = productSum("aten.bmm.default", {2, 2, 3}, {2, 3, 4}, {2, 2, 4});
  EXPECT_EQ(calls(afterPass(batches, "addmm_fusion").graph).size(), 3u);
  EXPECT_EQ(calls(afterPass(batches, "addmm_fusion", {"addmm_fusion.batches=true"}, 1e-6).graph),
            (Calls{"aten.baddbmm.default", "aten.sum.default"}));
}

TEST(AddmmFusion, KeepsProductsThatOthersReadAndTermsThatAreLarger) {
  const auto read = productSum("aten.mm.default", {2, 3}, {3, 4}, {4}, true);
  const auto larger = productSum("aten.mm.default", {2, 3}, {3, 4}, {5, 2, 4});
  EXPECT_EQ(calls(afterPass(read, "addmm_fusion").graph).size(), 4u);
  EXPECT_EQ(calls(afterPass(larger, "addmm_fusion").graph).size(), 3u);
}

TEST(AddmmFusion, AddsOneProductToAnother) {
  PassGraph g;
  const NodeId a = g.input("a", {2, 3}), b = g.input("b", {3, 4}), c = g.input("c", {2, 5}), d = g.input("d", {5, 4});
  const NodeId sum = g.call("aten.add.Tensor", {g.call("aten.mm.default", {a, b}), g.call("aten.mm.default", {c, d})});
  g.finish({g.call("aten.sum.default", {sum})});
  EXPECT_EQ(calls(afterPass(g, "addmm_fusion", {}, 1e-6).graph),
            (Calls{"aten.mm.default", "aten.addmm.default", "aten.sum.default"}));
}

PassGraph biased(const char* reader, double beta = 1) {
  PassGraph g;
  const NodeId bias = g.input("bias", {4}), x = g.input("x", {2, 3}), w = g.input("w", {3, 4});
  KeywordArguments kwargs;
  if (beta != 1) kwargs.emplace_back("beta", beta);
  const NodeId sum = g.call("aten.addmm.default", {bias, x, w}, std::move(kwargs));
  g.finish({g.call(reader, {g.call("aten.view.default", {sum, ints({8})})})}, "cuda");
  return g;
}

TEST(AddmmUnfusing, AddsTheBiasWithPointwiseReaders) {
  EXPECT_EQ(calls(afterPass(biased("aten.gelu.default"), "addmm_unfusing", {}, 1e-6).graph),
            (Calls{"aten.mm.default", "aten.add.Tensor", "aten.view.default", "aten.gelu.default"}));
  EXPECT_EQ(calls(afterPass(biased("aten.gelu.default", 0.5), "addmm_unfusing", {}, 1e-6).graph),
            (Calls{"aten.mm.default", "aten.mul.Tensor", "aten.add.Tensor", "aten.view.default", "aten.gelu.default"}));
}

TEST(AddmmUnfusing, KeepsItForReductionsAndOtherDevices) {
  EXPECT_EQ(calls(afterPass(biased("aten.sum.default"), "addmm_unfusing").graph).front(), "aten.addmm.default");
  const std::vector<std::string> elsewhere{"addmm_unfusing.devices=xpu"};
  EXPECT_EQ(calls(afterPass(biased("aten.gelu.default"), "addmm_unfusing", elsewhere).graph).front(),
            "aten.addmm.default");
}

PassGraph biasedBatch(const char* reader, double beta) {
  PassGraph g;
  const NodeId bias = g.input("bias", {2, 3, 5}), a = g.input("a", {2, 3, 4}), b = g.input("b", {2, 4, 5});
  const NodeId product = g.call("aten.baddbmm.default", {bias, a, b}, {{"beta", beta}, {"alpha", 2}});
  g.finish({g.call(reader, {product})}, "cuda");
  return g;
}

TEST(AddmmUnfusing, TakesABatchOfProductsApartToo) {
  EXPECT_EQ(calls(afterPass(biasedBatch("aten.gelu.default", 1), "addmm_unfusing", {}, 1e-6).graph),
            (Calls{"aten.bmm.default", "aten.mul.Tensor", "aten.add.Tensor", "aten.gelu.default"}));
  EXPECT_EQ(calls(afterPass(biasedBatch("aten.sum.default", 1), "addmm_unfusing").graph).front(), "aten.baddbmm.default");
}

/// The bias is not read then: what it holds does not matter, NaN too.
TEST(AddmmUnfusing, KeepsABiasOfNoWeight) {
  EXPECT_EQ(calls(afterPass(biasedBatch("aten.gelu.default", 0), "addmm_unfusing").graph).front(),
            "aten.baddbmm.default");
  EXPECT_EQ(calls(afterPass(biased("aten.gelu.default", 0.0), "addmm_unfusing").graph).front(), "aten.addmm.default");
}

TEST(SmallMatmul, MultipliesAndSums) {
  const std::vector<std::string> on{"small_matmul.enabled=true", "small_matmul.min_rows=8",
                                    "small_matmul.max_columns=5"};
  PassGraph g;
  const NodeId c = g.input("c", {4}), a = g.input("a", {9, 3}), b = g.input("b", {3, 4}), d = g.input("d", {7, 3});
  const NodeId batch = g.input("batch", {8, 2, 3}), other = g.input("other", {8, 3, 4});
  g.finish({g.call("aten.mm.default", {a, b}), g.call("aten.addmm.default", {c, a, b}),
            g.call("aten.bmm.default", {batch, other}), g.call("aten.mm.default", {d, b})});
  EXPECT_EQ(calls(afterPass(g, "small_matmul").graph), calls(g.module.graph));
  const auto names = calls(afterPass(g, "small_matmul", on, 1e-6).graph);
  EXPECT_EQ(std::ranges::count(names, "aten.sum.dim_IntList"), 3);
  EXPECT_EQ(std::ranges::count(names, "aten.mm.default"), 1);  // of seven rows
}

PassGraph softmax(std::int64_t summed) {
  PassGraph g;
  const NodeId x = g.input("x", {3, 3});
  const NodeId difference = g.call("aten.sub.Tensor", {x, g.call("aten.amax.default", {x, ints({-1}), true})});
  const NodeId exponential = g.call("aten.exp.default", {difference});
  const NodeId sum = g.call("aten.sum.dim_IntList", {exponential, ints({summed}), true});
  g.finish({g.call("aten.div.Tensor", {exponential, sum})}, "cuda");
  return g;
}

TEST(OnlineSoftmax, FindsMaximumAndSumAtOnce) {
  EXPECT_EQ(calls(afterPass(softmax(1), "online_softmax", {}, 1e-6).graph),
            (Calls{"prims.prepare_softmax_online.default", "operator.getitem", "operator.getitem", "aten.sub.Tensor",
                   "aten.exp.default", "aten.div.Tensor"}));
}

TEST(OnlineSoftmax, KeepsOtherDimensionsAndDevices) {
  EXPECT_EQ(calls(afterPass(softmax(0), "online_softmax").graph), calls(softmax(0).module.graph));
  EXPECT_EQ(calls(afterPass(softmax(1), "online_softmax", {"online_softmax.devices=xpu"}).graph).size(), 5u);
}

TEST(SplitCat, TakesTheWholeForItsPieces) {
  PassGraph g;
  const NodeId x = g.input("x", {2, 5});
  const NodeId split = g.call("aten.split_with_sizes.default", {x, ints({2, 3}), 1});
  const NodeId first = g.item(split, 0), second = g.item(split, 1);
  const NodeId cat = g.call("aten.cat.default", {Argument::list({first, second}), 1});
  const NodeId left = g.call("aten.slice.Tensor", {x, 1, 0, 2}), right = g.call("aten.slice.Tensor", {x, 1, 2, 5});
  const NodeId sliced = g.call("aten.cat.default", {Argument::list({left, right}), -1});
  g.finish({g.call("aten.relu.default", {cat}), g.call("aten.exp.default", {sliced})});
  EXPECT_EQ(calls(afterPass(g, "split_cat").graph), (Calls{"aten.relu.default", "aten.exp.default"}));
}

TEST(SplitCat, TakesThePartsForPiecesOfThem) {
  PassGraph g;
  const NodeId a = g.input("a", {2, 3}), b = g.input("b", {3, 3});
  const NodeId cat = g.call("aten.cat.default", {Argument::list({a, b})});
  const NodeId split = g.call("aten.split_with_sizes.default", {cat, ints({2, 3})});
  g.finish({g.call("aten.relu.default", {g.item(split, 0)}), g.call("aten.exp.default", {g.item(split, 1)})});
  EXPECT_EQ(calls(afterPass(g, "split_cat").graph), (Calls{"aten.relu.default", "aten.exp.default"}));
}

TEST(SplitCat, KeepsOtherOrdersCutsAndOutputs) {
  PassGraph g;
  const NodeId x = g.input("x", {2, 5});
  const NodeId split = g.call("aten.split_with_sizes.default", {x, ints({2, 3}), 1});
  const NodeId first = g.item(split, 0), second = g.item(split, 1);
  const NodeId swapped = g.call("aten.cat.default", {Argument::list({second, first}), 1});
  const NodeId returned = g.call("aten.cat.default", {Argument::list({first, second}), 1});
  const NodeId left = g.call("aten.slice.Tensor", {x, 1, 0, 2}), right = g.call("aten.slice.Tensor", {x, 1, 3, 5});
  const NodeId gap = g.call("aten.cat.default", {Argument::list({left, right}), 1});
  g.finish({g.call("aten.relu.default", {swapped}), returned, g.call("aten.exp.default", {gap})});
  EXPECT_EQ(calls(afterPass(g, "split_cat").graph), calls(g.module.graph));
}

TEST(SplitCat, JoinsACatOfACatAndItsBeginning) {
  PassGraph g;
  const NodeId a = g.input("a", {2, 4}), b = g.input("b", {2, 3});
  const NodeId inner = g.call("aten.cat.default", {Argument::list({a, b}), 1});
  const NodeId start = g.call("aten.slice.Tensor", {inner, 1, 0, 3});
  g.finish({g.call("aten.cat.default", {Argument::list({inner, start}), 1})});
  EXPECT_EQ(calls(afterPass(g, "split_cat").graph), (Calls{"aten.slice.Tensor", "aten.cat.default"}));
}

/// slice_scatter of f32[6, 4] along dimension 0.
NodeId scattered(PassGraph& g, NodeId self, NodeId source, std::int64_t start, std::int64_t end) {
  return g.call("aten.slice_scatter.default", {self, source, 0, start, end});
}

TEST(SliceScatters, NeitherReadNorWriteTwice) {
  PassGraph g;
  const NodeId x = g.input("x", {6, 4}), a = g.input("a", {2, 4}), b = g.input("b", {2, 4});
  const NodeId first = g.call("aten.exp.default", {a});
  const NodeId once = scattered(g, x, first, 2, 4);
  const NodeId read = g.call("aten.relu.default", {g.call("aten.slice.Tensor", {once, 0, 2, -2})});
  const NodeId twice = scattered(g, once, b, 2, 4);
  const NodeId y = g.call("aten.sin.default", {x});
  const NodeId same = scattered(g, y, g.call("aten.slice.Tensor", {y, 0, 4}), 4, 6);
  g.finish({read, twice, g.call("aten.neg.default", {same})});
  const GraphModule after = afterPass(g, "slice_scatters");
  EXPECT_EQ(calls(after.graph), (Calls{"aten.exp.default", "aten.relu.default", "aten.slice_scatter.default",
                                       "aten.sin.default", "aten.neg.default"}));
}

TEST(SliceScatters, KeepOtherRegionsStridesAndOutputs) {
  PassGraph g;
  const NodeId x = g.input("x", {6, 4}), a = g.input("a", {2, 4}), b = g.input("b", {6, 2});
  const NodeId once = scattered(g, x, a, 2, 4);
  const NodeId other = g.call("aten.relu.default", {g.call("aten.slice.Tensor", {once, 0, 1, 3})});
  const NodeId beside = scattered(g, once, a, 3, 5);
  const NodeId columns = g.call("aten.slice_scatter.default", {x, b, 1, 0, 2});
  const NodeId strided = g.call("aten.relu.default", {g.call("aten.slice.Tensor", {columns, 1, 0, 2})});
  const NodeId given = scattered(g, x, g.call("aten.slice.Tensor", {x, 0, 4}), 4, 6);
  g.finish({other, beside, strided, given});
  EXPECT_EQ(calls(afterPass(g, "slice_scatters").graph), calls(g.module.graph));
}

/// all_reduce(x), all_reduce(sin(y)), all_reduce of the first of another group's, and one that needs the first.
PassGraph reductions() {
  PassGraph g;
  const NodeId x = g.input("x", {4}), y = g.input("y", {2, 3});
  const auto reduced = [&](NodeId of, const char* group) {
    return g.call("_c10d_functional.all_reduce.default", {of, std::string("sum"), std::string(group)});
  };
  const NodeId a = reduced(x, "dp"), b = reduced(g.call("aten.sin.default", {y}), "dp"), c = reduced(x, "tp");
  const NodeId later = reduced(g.call("aten.exp.default", {a}), "dp");
  ArgumentList outputs;
  for (const NodeId of : {a, b, c, later}) outputs.emplace_back(g.call("_c10d_functional.wait_tensor.default", {of}));
  g.finish(std::move(outputs));
  return g;
}

TEST(CollectiveBucketing, FindsCallsOfOneGroupThatDoNotNeedEachOther) {
  const PassGraph g = reductions();
  const auto buckets = collectiveBuckets(g.module.graph, 1000);
  ASSERT_EQ(buckets.size(), 1u);
  EXPECT_EQ(buckets[0].calls.size(), 2u);
  EXPECT_EQ(buckets[0].bytes, 4 * 4 + 6 * 4);
  EXPECT_EQ(buckets[0].op, "_c10d_functional.all_reduce.default"_op);
  EXPECT_TRUE(collectiveBuckets(g.module.graph, 39).empty());
}

TEST(CollectiveBucketing, AsksHooksAndDoesNothingByItself) {
  const PassGraph g = reductions();
  const PassConfig config{.only = std::vector<std::string>{"collective_bucketing"}};
  const auto alone = PassManager(*selectPasses(config)).run(g.module);
  ASSERT_TRUE(alone) << alone.error().text();
  EXPECT_EQ(alone->revision(), g.module.revision());
  int asked = 0, others = 0;
  BucketingHooks hooks{.allGather = [&](GraphModule&, std::span<const CollectiveBucket>) -> Result<void> {
                         ++others;
                         return {};
                       },
                       .allReduce = [&](GraphModule&, std::span<const CollectiveBucket> buckets) -> Result<void> {
                         asked += int(buckets.size());
                         return {};
                       }};
  const auto passes = selectPasses({.only = std::vector<std::string>{"collective_bucketing"},
                                    .replacements = {collectiveBucketingPass(std::move(hooks))}});
  ASSERT_TRUE(passes) << passes.error().text();
  const auto after = PassManager(*passes).run(g.module);
  ASSERT_TRUE(after) << after.error().text();
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(others, 0);
  EXPECT_EQ(after->revision(), g.module.revision());
}

TEST(PartialReductions, ReduceWhatWasReduced) {
  const std::vector<std::string> small{"partial_reductions.min_elements=8"};
  PassGraph g;
  const NodeId x = g.input("x", {4, 6});
  const NodeId rows = g.call("aten.amax.default", {x, ints({1})});
  const NodeId most = g.call("aten.max.default", {x});
  const NodeId least = g.call("aten.min.default", {x});
  g.finish({rows, most, least});
  EXPECT_EQ(calls(afterPass(g, "partial_reductions").graph), calls(g.module.graph));
  const GraphModule after = afterPass(g, "partial_reductions", small);
  const auto nodes = after.graph.order();
  EXPECT_EQ(after.graph.node(nodes[2]).args()[0], Argument(rows));
  EXPECT_EQ(after.graph.node(nodes[3]).args()[0], Argument(x));
}

TEST(PartialReductions, KeepOtherValuesOtherExtremaAndNoReduction) {
  const std::vector<std::string> small{"partial_reductions.min_elements=8"};
  PassGraph g;
  const NodeId x = g.input("x", {4, 6}), y = g.input("y", {4, 6});
  const NodeId least = g.call("aten.amin.default", {x, ints({1})});
  g.finish({least, g.call("aten.max.default", {x}), g.call("aten.min.default", {y})});
  EXPECT_EQ(afterPass(g, "partial_reductions", small).revision(), g.module.revision());
}

TEST(ViewMoves, KeepsViewsThatOthersReadAndOtherDimensions) {
  const std::vector<std::string> on{"view_moves.enabled=true"};
  for (const bool read : {false, true}) {
    PassGraph g;
    const NodeId a = g.input("a", {2, 6}), b = g.input("b", {2, 6});
    const NodeId left = g.call("aten.view.default", {a, ints({2, 2, 3})}),
                 right = g.call("aten.view.default", {b, ints({2, 2, 3})});
    ArgumentList outputs{g.call("aten.cat.default", {Argument::list({left, right}), read ? 0 : 1})};
    if (read) outputs.emplace_back(g.call("aten.relu.default", {left}));
    g.finish(std::move(outputs));
    EXPECT_EQ(std::ranges::count(calls(afterPass(g, "view_moves", on).graph), "aten.view.default"), 2) << read;
  }
}

TEST(ViewMoves, ViewsWhatWasPutTogether) {
  const std::vector<std::string> on{"view_moves.enabled=true"};
  PassGraph g;
  const NodeId a = g.input("a", {2, 6}), b = g.input("b", {4, 6}), c = g.input("c", {4, 3});
  const auto viewed = [&](NodeId id, std::int64_t rows, std::int64_t columns) {
    return g.call("aten.view.default", {id, ints({rows, 2, columns})});
  };
  const NodeId cat = g.call("aten.cat.default", {Argument::list({viewed(a, 2, 3), viewed(b, 4, 3)})});
  const NodeId uneven = g.call("aten.cat.default", {Argument::list({viewed(a, 2, 3), viewed(c, 2, 3)})});
  g.finish({cat, uneven});
  EXPECT_EQ(calls(afterPass(g, "view_moves").graph), calls(g.module.graph));
  EXPECT_EQ(
      calls(afterPass(g, "view_moves", on).graph),
      (Calls{"aten.cat.default", "aten.view.default", "aten.view.default", "aten.view.default", "aten.cat.default"}));
}

TEST(ViewMoves, MovesAViewAboveCallsWhereAnotherViewIs) {
  const std::vector<std::string> on{"view_moves.above=true"};
  PassGraph g;
  const NodeId x = g.input("x", {2, 3});
  const NodeId flat = g.call("aten.view.default", {x, ints({6})});
  const NodeId scaled = g.call("aten.mul.Tensor", {g.call("aten.relu.default", {flat}), 0.5});
  g.finish({g.call("aten.view.default", {scaled, ints({3, 2})})});
  EXPECT_EQ(calls(afterPass(g, "view_moves").graph), calls(g.module.graph));
  EXPECT_EQ(calls(afterPass(g, "view_moves", on).graph),
            (Calls{"aten.view.default", "aten.relu.default", "aten.mul.Tensor"}));
}

TEST(ViewMoves, KeepsAViewBelowCallsThatOthersReadOrThatReadMore) {
  const std::vector<std::string> on{"view_moves.above=true"};
  for (const std::string near : {"read", "two", "no view", "reduced", "strided"}) {
    PassGraph g;
    const NodeId x = g.input("x", {2, 3}), y = g.input("y", {6});
    const NodeId flat = near == "no view"   ? g.call("aten.add.Tensor", {y, y})
                        : near == "strided" ? g.call("aten.permute.default", {x, ints({1, 0})})
                                            : g.call("aten.view.default", {x, ints({6})});
    const NodeId call = near == "two"       ? g.call("aten.mul.Tensor", {flat, y})
                        : near == "reduced" ? g.call("aten.cumsum.default", {flat, 0})
                                            : g.call("aten.relu.default", {flat});
    const NodeId kept = near == "strided"
                            ? g.call("aten.clone.default", {call}, {{"memory_format", MemoryFormat::Contiguous}})
                            : call;
    ArgumentList outputs{g.call("aten.view.default", {kept, ints({6, 1})})};
    if (near == "read") outputs.emplace_back(g.call("aten.neg.default", {call}));
    g.finish(std::move(outputs));
    EXPECT_EQ(calls(afterPass(g, "view_moves", on).graph), calls(g.module.graph)) << near;
  }
}

TEST(LocalityOrder, ComputesBeforeTheFirstUseAndKeepsWrites) {
  const std::vector<std::string> on{"locality_order.enabled=true"};
  PassGraph g;
  const NodeId x = g.input("x", {3}), y = g.input("y", {3});
  const NodeId early = g.call("aten.exp.default", {x});
  const NodeId read = g.call("aten.neg.default", {y});
  g.call("aten.add_.Tensor", {y, 1});
  const NodeId late = g.call("aten.relu.default", {x});
  g.finish({g.call("aten.mul.Tensor", {early, late}), read});
  EXPECT_EQ(calls(afterPass(g, "locality_order").graph), calls(g.module.graph));
  EXPECT_EQ(
      calls(afterPass(g, "locality_order", on).graph),
      (Calls{"aten.neg.default", "aten.add_.Tensor", "aten.exp.default", "aten.relu.default", "aten.mul.Tensor"}));
}

TEST(ConstructorMoves, MakesIndicesWhereTheyAreUsed) {
  for (const bool returned : {false, true}) {
    PassGraph g;
    const NodeId x = g.input("x", {4}, DType::Float32, "cuda");
    const NodeId iota =
        g.call("prims.iota.default", {4},
               {{"start", 0}, {"step", 1}, {"dtype", DType::Int64}, {"device", Device{}}, {"requires_grad", false}});
    const NodeId back = g.call("aten.sub.Tensor", {g.call("aten.neg.default", {iota}), iota});
    const NodeId picked = g.call("aten.index.Tensor", {x, Argument::list({iota})});
    ArgumentList outputs{picked};
    if (returned) outputs.emplace_back(back);
    g.finish(std::move(outputs));
    ValueMeta meta = g.module.graph.node(picked).meta().value;
    std::get<TensorMeta>(meta.value).device.type = "cuda";
    g.module.graph.setValueMeta(picked, meta);
    const GraphModule after = afterPass(g, "constructor_moves");
    const auto* device = after.graph.node(iota).kwargs()[3].second.as<Device>();
    ASSERT_NE(device, nullptr);
    EXPECT_EQ(device->type, returned ? "cpu" : "cuda");
  }
}

TEST(AutoFunctionalized, KeepsCallsOfOpsThatItDoesNotKnow) {
  PassGraph g;
  const NodeId x = g.input("x", {4});
  const NodeId base = g.call("aten.exp.default", {x});
  const NodeId wrapped =
      g.call("higher_order.auto_functionalized", {PythonName{"torch.ops.mine.scale_.default"}}, {{"self", base}});
  g.module.graph.output(Argument::tuple({g.item(wrapped, 1)}));
  PassConfig config{.only = std::vector<std::string>{"auto_functionalized"}};
  config.patches.push_back(*parsePassPatch("auto_functionalized.enabled=true"));
  const auto after = PassManager(*selectPasses(config)).run(g.module);
  ASSERT_TRUE(after) << after.error().text();
  EXPECT_EQ(after->revision(), g.module.revision());
}

TEST(AutoFunctionalized, CallsTheOpThatWrites) {
  for (const bool later : {false, true}) {
    PassGraph g;
    const NodeId x = g.input("x", {4}), y = g.input("y", {4});
    const NodeId base = g.call("aten.exp.default", {x});
    const NodeId wrapped = g.call("higher_order.auto_functionalized", {PythonName{"torch.ops.aten.add_.Tensor"}},
                                  {{"self", base}, {"other", y}});
    const NodeId written = g.item(wrapped, 1);
    ArgumentList outputs{g.call("aten.neg.default", {written})};
    if (later) outputs.emplace_back(g.call("aten.relu.default", {base}));
    g.finish(std::move(outputs));
    EXPECT_EQ(calls(afterPass(g, "auto_functionalized").graph), calls(g.module.graph));
    const auto names = calls(afterPass(g, "auto_functionalized", {"auto_functionalized.enabled=true"}).graph);
    EXPECT_EQ(std::ranges::count(names, "aten.clone.default"), later ? 1 : 0);
    EXPECT_EQ(std::ranges::count(names, "aten.add_.Tensor"), 1);
  }
}

/// x @ w.t() * scales of int8 weights that are made from numbers.
PassGraph weightProduct(Argument turn, std::int64_t scales) {
  PassGraph g;
  const NodeId x = g.input("x", {3, 4}), w = g.input("w", {5, 4}, DType::Int64), s = g.input("s", {scales});
  const NodeId narrow = g.call("prims.convert_element_type.default", {w, DType::Int8});
  const NodeId wide = g.call("prims.convert_element_type.default", {narrow, DType::Float32});
  const NodeId turned = g.call("aten.permute.default", {wide, std::move(turn)});
  const NodeId product = g.call("aten.mm.default", {x, turned});
  g.finish({g.call("aten.mul.Tensor", {product, s})});
  return g;
}

TEST(Int8WeightProducts, TakesWeightsAndScalesInOneCall) {
  const PassGraph g = weightProduct(Argument::list({1, 0}), 5);
  EXPECT_EQ(calls(afterPass(g, "int8_weight_products", {"int8_weight_products.enabled=true"}, 1e-6).graph),
            (std::vector<std::string>{"prims.convert_element_type.default", "aten._weight_int8pack_mm.default"}));
}

TEST(Int8WeightProducts, TakesProductsWithoutScalesWhereAsked) {
  PassGraph g;
  const NodeId x = g.input("x", {3, 4}), w = g.input("w", {5, 4}, DType::Int8), n = g.input("n", {4, 5}, DType::Int8);
  const auto wide = [&](NodeId id) { return g.call("prims.convert_element_type.default", {id, DType::Float32}); };
  const NodeId turned = g.call("aten.permute.default", {wide(w), ints({1, 0})});
  g.finish({g.call("aten.mm.default", {x, turned}), g.call("aten.mm.default", {x, wide(n)})});
  const std::string on = "int8_weight_products.enabled=true";
  EXPECT_EQ(calls(afterPass(g, "int8_weight_products", {on}).graph), calls(g.module.graph));
  const auto after = afterPass(g, "int8_weight_products", {on, "int8_weight_products.unscaled=true"}, 1e-6);
  EXPECT_EQ(calls(after.graph), (Calls{"aten.full.default", "aten._weight_int8pack_mm.default",
                                       "prims.convert_element_type.default", "aten.mm.default"}));
}

/// _int_mm of x [3, 4] and the weight, converted to float32.
NodeId intSums(PassGraph& g, bool turned, bool computed = false) {
  const NodeId x = g.input("x", {3, 4}, DType::Int8);
  NodeId w = turned ? g.input("w", {5, 4}, DType::Int8) : g.input("w", {4, 5}, DType::Int8);
  if (computed) w = g.call("aten.neg.default", {w});
  if (turned) w = g.call("aten.permute.default", {w, ints({1, 0})});
  return g.call("prims.convert_element_type.default", {g.call("aten._int_mm.default", {x, w}), DType::Float32});
}

const std::vector<std::string> intMmScaling{"int_mm_scaling.enabled=true"};

TEST(IntMmScaling, TakesANumberIntoTheProduct) {
  PassGraph g;
  g.finish({g.call("aten.mul.Tensor", {intSums(g, false), 0.01})});
  const GraphModule after = afterPass(g, "int_mm_scaling", intMmScaling, 1e-6);
  EXPECT_EQ(calls(after.graph),
            (Calls{"aten.permute.default", "onednn.qlinear_prepack.default", "aten.full.default", "aten.full.default",
                   "onednn.qlinear_pointwise.default"}));
  EXPECT_EQ(calls(afterPass(g, "int_mm_scaling").graph), calls(g.module.graph));
}

TEST(IntMmScaling, TakesScalesOfColumnsAndLeavesThoseOfRowsBehindIt) {
  PassGraph g;
  const NodeId rows = g.input("rows", {3, 1}), columns = g.input("columns", {1, 5});
  const NodeId sums = intSums(g, true);
  g.finish({g.call("aten.mul.Tensor", {columns, g.call("aten.mul.Tensor", {sums, rows})})});
  EXPECT_EQ(calls(afterPass(g, "int_mm_scaling", intMmScaling, 1e-6).graph),
            (Calls{"onednn.qlinear_prepack.default", "aten.view.default", "aten.full.default",
                   "onednn.qlinear_pointwise.default", "aten.mul.Tensor"}));
}

TEST(IntMmScaling, KeepsSumsThatOthersReadComputedWeightsAndScalesOfRows) {
  const auto isKept = [](PassGraph& g, ArgumentList outputs) {
    g.finish(std::move(outputs));
    return calls(afterPass(g, "int_mm_scaling", intMmScaling).graph) == calls(g.module.graph);
  };
  PassGraph read, computed, rows;
  const NodeId sums = intSums(read, false);
  EXPECT_TRUE(isKept(read, {read.call("aten.mul.Tensor", {sums, 0.5}), read.call("aten.neg.default", {sums})}));
  EXPECT_TRUE(isKept(computed, {computed.call("aten.mul.Tensor", {intSums(computed, false, true), 0.5})}));
  const NodeId scales = rows.input("rows", {3, 1});
  EXPECT_TRUE(isKept(rows, {rows.call("aten.mul.Tensor", {intSums(rows, false), scales})}));
}

TEST(Int8WeightProducts, KeepsOneScaleForAllAndIsOffByDefault) {
  const PassGraph one = weightProduct(Argument::list({1, 0}), 1);
  EXPECT_EQ(calls(afterPass(one, "int8_weight_products", {"int8_weight_products.enabled=true"}).graph).size(), 5u);
  EXPECT_EQ(calls(afterPass(weightProduct(Argument::list({1, 0}), 5), "int8_weight_products").graph).size(), 5u);
}

}  // namespace
}  // namespace kerf
