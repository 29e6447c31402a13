// The post-grad passes on small graphs: what each changes, a near miss, and the same values before and after.
#include "engine/passes/post_grad/collective_bucketing.h"
#include "tests/support/pass_fixture.h"

namespace kerf {
namespace {

using namespace kerf::testing;
using Calls = std::vector<std::string>;

TEST(RemoveAssertOps, DropsWhatIsKnownAndKeepsWhatIsNot) {
  PassGraph g;
  const NodeId x = g.input("x", {2, 3});
  const NodeId y = g.call("aten.exp.default", {x});
  const auto claim = [&](DType dtype) {
    g.call("aten._assert_tensor_metadata.default", {y, numbers({2, 3}), Argument(), dtype});
  };
  claim(DType::Float32);
  g.finish({y});
  const InsertionScope scope(g.module.graph, InsertionScope::Where::Before, g.module.graph.outputNode());
  claim(DType::Float16);
  PassConfig config{.only = std::vector<std::string>{"remove_assert_ops"}};
  const auto after = PassManager(*selectPasses(config)).run(g.module);
  ASSERT_TRUE(after) << after.error().text();
  EXPECT_EQ(calls(after->graph), (Calls{"aten.exp.default", "aten._assert_tensor_metadata.default"}));
}

PassGraph softmax(std::int64_t summed) {
  PassGraph g;
  const NodeId x = g.input("x", {3, 3});
  const NodeId difference = g.call("aten.sub.Tensor", {x, g.call("aten.amax.default", {x, numbers({-1}), true})});
  const NodeId exponential = g.call("aten.exp.default", {difference});
  const NodeId sum = g.call("aten.sum.dim_IntList", {exponential, numbers({summed}), true});
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

TEST(SplitwithsizesCatReplace, TakesTheWholeForItsPieces) {
  PassGraph g;
  const NodeId x = g.input("x", {2, 5});
  const NodeId split = g.call("aten.split_with_sizes.default", {x, numbers({2, 3}), 1});
  const NodeId first = g.item(split, 0), second = g.item(split, 1);
  const NodeId cat = g.call("aten.cat.default", {Argument::list({first, second}), 1});
  const NodeId left = g.call("aten.slice.Tensor", {x, 1, 0, 2}), right = g.call("aten.slice.Tensor", {x, 1, 2, 5});
  const NodeId sliced = g.call("aten.cat.default", {Argument::list({left, right}), -1});
  g.finish({g.call("aten.relu.default", {cat}), g.call("aten.exp.default", {sliced})});
  EXPECT_EQ(calls(afterPass(g, "splitwithsizes_cat_replace").graph), (Calls{"aten.relu.default", "aten.exp.default"}));
}

TEST(SplitwithsizesCatReplace, TakesThePartsForPiecesOfThem) {
  PassGraph g;
  const NodeId a = g.input("a", {2, 3}), b = g.input("b", {3, 3});
  const NodeId cat = g.call("aten.cat.default", {Argument::list({a, b})});
  const NodeId split = g.call("aten.split_with_sizes.default", {cat, numbers({2, 3})});
  g.finish({g.call("aten.relu.default", {g.item(split, 0)}), g.call("aten.exp.default", {g.item(split, 1)})});
  EXPECT_EQ(calls(afterPass(g, "splitwithsizes_cat_replace").graph), (Calls{"aten.relu.default", "aten.exp.default"}));
}

TEST(SplitwithsizesCatReplace, KeepsOtherOrdersCutsAndOutputs) {
  PassGraph g;
  const NodeId x = g.input("x", {2, 5});
  const NodeId split = g.call("aten.split_with_sizes.default", {x, numbers({2, 3}), 1});
  const NodeId first = g.item(split, 0), second = g.item(split, 1);
  const NodeId swapped = g.call("aten.cat.default", {Argument::list({second, first}), 1});
  const NodeId returned = g.call("aten.cat.default", {Argument::list({first, second}), 1});
  const NodeId left = g.call("aten.slice.Tensor", {x, 1, 0, 2}), right = g.call("aten.slice.Tensor", {x, 1, 3, 5});
  const NodeId gap = g.call("aten.cat.default", {Argument::list({left, right}), 1});
  g.finish({g.call("aten.relu.default", {swapped}), returned, g.call("aten.exp.default", {gap})});
  EXPECT_EQ(calls(afterPass(g, "splitwithsizes_cat_replace").graph), calls(g.module.graph));
}

TEST(SplitwithsizesCatReplace, JoinsACatOfACatAndItsBeginning) {
  PassGraph g;
  const NodeId a = g.input("a", {2, 4}), b = g.input("b", {2, 3});
  const NodeId inner = g.call("aten.cat.default", {Argument::list({a, b}), 1});
  const NodeId start = g.call("aten.slice.Tensor", {inner, 1, 0, 3});
  g.finish({g.call("aten.cat.default", {Argument::list({inner, start}), 1})});
  EXPECT_EQ(calls(afterPass(g, "splitwithsizes_cat_replace").graph), (Calls{"aten.slice.Tensor", "aten.cat.default"}));
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

TEST(ReusePartial, ReducesWhatWasReduced) {
  const std::vector<std::string> small{"reuse_partial.min_elements=8"};
  PassGraph g;
  const NodeId x = g.input("x", {4, 6});
  const NodeId rows = g.call("aten.amax.default", {x, numbers({1})});
  const NodeId most = g.call("aten.max.default", {x});
  const NodeId least = g.call("aten.min.default", {x});
  g.finish({rows, most, least});
  EXPECT_EQ(calls(afterPass(g, "reuse_partial").graph), calls(g.module.graph));
  const GraphModule after = afterPass(g, "reuse_partial", small);
  const auto nodes = after.graph.order();
  EXPECT_EQ(after.graph.node(nodes[2]).args()[0], Argument(rows));
  EXPECT_EQ(after.graph.node(nodes[3]).args()[0], Argument(x));
}

TEST(ReusePartial, KeepsOtherValuesOtherExtremaAndNoReduction) {
  const std::vector<std::string> small{"reuse_partial.min_elements=8"};
  PassGraph g;
  const NodeId x = g.input("x", {4, 6}), y = g.input("y", {4, 6});
  const NodeId least = g.call("aten.amin.default", {x, numbers({1})});
  g.finish({least, g.call("aten.max.default", {x}), g.call("aten.min.default", {y})});
  EXPECT_EQ(afterPass(g, "reuse_partial", small).revision(), g.module.revision());
}

TEST(MoveViewAfterCat, KeepsViewsThatOthersReadAndOtherDimensions) {
  const std::vector<std::string> on{"move_view_after_cat_aten_pass.enabled=true"};
  for (const bool read : {false, true}) {
    PassGraph g;
    const NodeId a = g.input("a", {2, 6}), b = g.input("b", {2, 6});
    const NodeId left = g.call("aten.view.default", {a, numbers({2, 2, 3})}),
                 right = g.call("aten.view.default", {b, numbers({2, 2, 3})});
    ArgumentList outputs{g.call("aten.cat.default", {Argument::list({left, right}), read ? 0 : 1})};
    if (read) outputs.emplace_back(g.call("aten.relu.default", {left}));
    g.finish(std::move(outputs));
    EXPECT_EQ(std::ranges::count(calls(afterPass(g, "move_view_after_cat_aten_pass", on).graph), "aten.view.default"),
              2)
        << read;
  }
}

TEST(MoveViewAfterCat, ViewsWhatWasPutTogether) {
  const std::vector<std::string> on{"move_view_after_cat_aten_pass.enabled=true"};
  PassGraph g;
  const NodeId a = g.input("a", {2, 6}), b = g.input("b", {4, 6}), c = g.input("c", {4, 3});
  const auto viewed = [&](NodeId id, std::int64_t rows, std::int64_t columns) {
    return g.call("aten.view.default", {id, numbers({rows, 2, columns})});
  };
  const NodeId cat = g.call("aten.cat.default", {Argument::list({viewed(a, 2, 3), viewed(b, 4, 3)})});
  const NodeId uneven = g.call("aten.cat.default", {Argument::list({viewed(a, 2, 3), viewed(c, 2, 3)})});
  g.finish({cat, uneven});
  EXPECT_EQ(calls(afterPass(g, "move_view_after_cat_aten_pass").graph), calls(g.module.graph));
  EXPECT_EQ(
      calls(afterPass(g, "move_view_after_cat_aten_pass", on).graph),
      (Calls{"aten.cat.default", "aten.view.default", "aten.view.default", "aten.view.default", "aten.cat.default"}));
}

TEST(MoveViewAfterCat, MovesAViewAboveCallsWhereAnotherViewIs) {
  const std::vector<std::string> on{"move_view_after_cat_aten_pass.above=true"};
  PassGraph g;
  const NodeId x = g.input("x", {2, 3});
  const NodeId flat = g.call("aten.view.default", {x, numbers({6})});
  const NodeId scaled = g.call("aten.mul.Tensor", {g.call("aten.relu.default", {flat}), 0.5});
  g.finish({g.call("aten.view.default", {scaled, numbers({3, 2})})});
  EXPECT_EQ(calls(afterPass(g, "move_view_after_cat_aten_pass").graph), calls(g.module.graph));
  EXPECT_EQ(calls(afterPass(g, "move_view_after_cat_aten_pass", on).graph),
            (Calls{"aten.view.default", "aten.relu.default", "aten.mul.Tensor"}));
}

TEST(MoveViewAfterCat, KeepsAViewBelowCallsThatOthersReadOrThatReadMore) {
  const std::vector<std::string> on{"move_view_after_cat_aten_pass.above=true"};
  for (const std::string near : {"read", "two", "no view", "reduced", "strided"}) {
    PassGraph g;
    const NodeId x = g.input("x", {2, 3}), y = g.input("y", {6});
    const NodeId flat = near == "no view"   ? g.call("aten.add.Tensor", {y, y})
                        : near == "strided" ? g.call("aten.permute.default", {x, numbers({1, 0})})
                                            : g.call("aten.view.default", {x, numbers({6})});
    const NodeId call = near == "two"       ? g.call("aten.mul.Tensor", {flat, y})
                        : near == "reduced" ? g.call("aten.cumsum.default", {flat, 0})
                                            : g.call("aten.relu.default", {flat});
    const NodeId kept =
        near == "strided" ? g.call("aten.clone.default", {call}, {{"memory_format", MemoryFormat::Contiguous}}) : call;
    ArgumentList outputs{g.call("aten.view.default", {kept, numbers({6, 1})})};
    if (near == "read") outputs.emplace_back(g.call("aten.neg.default", {call}));
    g.finish(std::move(outputs));
    EXPECT_EQ(calls(afterPass(g, "move_view_after_cat_aten_pass", on).graph), calls(g.module.graph)) << near;
  }
}

TEST(ReorderForLocality, ComputesBeforeTheFirstUseAndKeepsWrites) {
  const std::vector<std::string> on{"reorder_for_locality.enabled=true"};
  PassGraph g;
  const NodeId x = g.input("x", {3}), y = g.input("y", {3});
  const NodeId early = g.call("aten.exp.default", {x});
  const NodeId read = g.call("aten.neg.default", {y});
  g.call("aten.add_.Tensor", {y, 1});
  const NodeId late = g.call("aten.relu.default", {x});
  g.finish({g.call("aten.mul.Tensor", {early, late}), read});
  EXPECT_EQ(calls(afterPass(g, "reorder_for_locality").graph), calls(g.module.graph));
  EXPECT_EQ(
      calls(afterPass(g, "reorder_for_locality", on).graph),
      (Calls{"aten.neg.default", "aten.add_.Tensor", "aten.exp.default", "aten.relu.default", "aten.mul.Tensor"}));
}

TEST(MoveConstructorsToGpu, MakesIndicesWhereTheyAreUsed) {
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
    const GraphModule after = afterPass(g, "move_constructors_to_gpu");
    const auto* device = after.graph.node(iota).kwargs()[3].second.as<Device>();
    ASSERT_NE(device, nullptr);
    EXPECT_EQ(device->type, returned ? "cpu" : "cuda");
  }
}

TEST(DecomposeAutoFunctionalized, KeepsCallsOfOpsThatItDoesNotKnow) {
  PassGraph g;
  const NodeId x = g.input("x", {4});
  const NodeId base = g.call("aten.exp.default", {x});
  const NodeId wrapped =
      g.call("higher_order.auto_functionalized", {PythonName{"torch.ops.mine.scale_.default"}}, {{"self", base}});
  g.module.graph.output(Argument::tuple({g.item(wrapped, 1)}));
  PassConfig config{.only = std::vector<std::string>{"decompose_auto_functionalized"}};
  config.patches.push_back(*parsePassPatch("decompose_auto_functionalized.enabled=true"));
  const auto after = PassManager(*selectPasses(config)).run(g.module);
  ASSERT_TRUE(after) << after.error().text();
  EXPECT_EQ(after->revision(), g.module.revision());
}

TEST(DecomposeAutoFunctionalized, CallsTheOpThatWrites) {
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
    EXPECT_EQ(calls(afterPass(g, "decompose_auto_functionalized").graph), calls(g.module.graph));
    const auto names =
        calls(afterPass(g, "decompose_auto_functionalized", {"decompose_auto_functionalized.enabled=true"}).graph);
    EXPECT_EQ(std::ranges::count(names, "aten.clone.default"), later ? 1 : 0);
    EXPECT_EQ(std::ranges::count(names, "aten.add_.Tensor"), 1);
  }
}

}  // namespace
}  // namespace kerf
