// What is written out before a graph is lowered: whole norms as their parts, and writes in place as results.
#include "engine/lower/write_out.h"
#include "tests/support/pass_fixture.h"

namespace kerf {
namespace {

using namespace kerf::testing;
using Calls = std::vector<std::string>;

bool calls(const GraphModule& module, std::string_view op) {
  const Calls all = kerf::testing::calls(module.graph);
  return std::ranges::find(all, op) != all.end();
}

/// The graph as loops are made of it; values are checked.
GraphModule written(const PassGraph& graph, double tolerance = 2e-6) {
  const auto result = writeOut(std::make_shared<const GraphModule>(graph.module));
  EXPECT_TRUE(result) << result.error().text();
  if (!result) return graph.module;
  EXPECT_TRUE((*result)->graph.lint());
  EXPECT_LE(difference(runGraph(graph.module, graph.inputs()), runGraph(**result, graph.inputs())), tolerance);
  return **result;
}

/// layer_norm(x), of which the items given are returned.
PassGraph layerNorm(std::initializer_list<std::int64_t> items, DType dtype = DType::Float32) {
  PassGraph g;
  const NodeId x = g.input("x", {3, 8}, dtype), w = g.input("w", {8}, dtype), b = g.input("b", {8}, dtype);
  const NodeId norm = g.call("aten.native_layer_norm.default", {x, numbers({8}), w, b, 1e-5});
  ArgumentList outputs;
  for (const std::int64_t item : items) outputs.emplace_back(g.item(norm, item));
  g.finish(std::move(outputs));
  return g;
}

TEST(WriteLoops, WritesLayerNormAsItsParts) {
  const GraphModule whole = written(layerNorm({0, 1, 2}));
  EXPECT_FALSE(calls(whole, "aten.native_layer_norm.default"));
  EXPECT_TRUE(calls(whole, "aten.var_mean.correction"));
  EXPECT_FALSE(calls(written(layerNorm({0})), "aten.native_layer_norm.default"));
  EXPECT_FALSE(calls(written(layerNorm({2, 0})), "aten.native_layer_norm.default"));
}

/// Inductor's program computes in float32 and rounds once, as the op's own kernel does.
TEST(WriteLoops, RoundsSixteenBitsOnce) {
  const GraphModule module = written(layerNorm({0}, DType::BFloat16));
  EXPECT_FALSE(calls(module, "aten.native_layer_norm.default"));
  EXPECT_TRUE(calls(module, "aten._to_copy.default") || calls(module, "prims.convert_element_type.default"));
}

TEST(WriteLoops, WritesSoftmaxesAndNormsOfChannels) {
  PassGraph g;
  const NodeId x = g.input("x", {2, 4, 3, 3}), w = g.input("w", {4}), b = g.input("b", {4}), mean = g.input("m", {4});
  const NodeId variance = g.call("aten.exp.default", {mean});
  const NodeId norm = g.call("aten._native_batch_norm_legit_no_training.default", {x, w, b, mean, variance, 0.1, 1e-5});
  const NodeId groups = g.call("aten.native_group_norm.default", {x, w, b, 2, 4, 9, 2, 1e-5});
  g.finish({g.item(norm, 0), g.item(groups, 0), g.call("aten._softmax.default", {x, 1, false}),
            g.call("aten._log_softmax.default", {x, 3, false})});
  const GraphModule module = written(g);
  EXPECT_FALSE(calls(module, "aten._native_batch_norm_legit_no_training.default"));
  EXPECT_FALSE(calls(module, "aten.native_group_norm.default"));
  EXPECT_FALSE(calls(module, "aten._softmax.default"));
  EXPECT_FALSE(calls(module, "aten._log_softmax.default"));
}

/// A gradient that is not asked for is none; the decomposition gives it all the same.
TEST(WriteLoops, GivesNoneWhereTheOpDoes) {
  for (const bool wanted : {false, true}) {
    PassGraph g;
    const NodeId x = g.input("x", {2, 4, 3}), w = g.input("w", {4});
    const NodeId all = g.call("aten.native_batch_norm_backward.default",
                              {x, x, w, w, w, w, w, true, 1e-5, Argument::list({wanted, true, true})});
    g.finish({g.item(all, 0), g.item(all, 1)});
    EXPECT_EQ(calls(written(g, 1e-5), "aten.native_batch_norm_backward.default"), !wanted);
  }
}

/// Statistics of bfloat16 images are float32 beside float32 weights, which the decomposition rounds: it is seen in a
/// tuple that is returned as it is.
TEST(WriteLoops, ChecksEveryResultOfATupleThatIsUsedWhole) {
  PassGraph g;
  const NodeId x = g.input("x", {2, 4, 3}, DType::BFloat16), w = g.input("w", {4});
  g.finish({g.call("aten._native_batch_norm_legit.no_stats", {x, w, w, true, 0.1, 1e-5})});
  EXPECT_TRUE(calls(written(g, 0), "aten._native_batch_norm_legit.no_stats"));
}

/// The gradient of a layer norm divides the inverse deviation, of 16 bits here, before it is used.
TEST(WriteLoops, RoundsNothingButResults) {
  for (const DType dtype : {DType::Float16, DType::Float32}) {
    PassGraph g;
    const NodeId x = g.input("x", {4, 8}, dtype), m = g.input("m", {4, 1}, dtype), r = g.input("r", {4, 1}, dtype);
    const NodeId all = g.call("aten.native_layer_norm_backward.default",
                              {x, x, numbers({8}), m, r, {}, {}, Argument::list({true, false, false})});
    g.finish({g.item(all, 0)});
    EXPECT_EQ(calls(written(g, 1e-5), "aten.native_layer_norm_backward.default"), dtype == DType::Float16);
  }
}

/// neg of truths is an error where the op's own kernel has a result.
TEST(WriteLoops, LeavesWholeNumbersToTheOp) {
  PassGraph g;
  const NodeId x = g.input("x", {6}, DType::Int64);
  g.finish({g.call("aten.fmax.default", {x, g.input("y", {6}, DType::Int64)})});
  EXPECT_TRUE(calls(written(g, 0), "aten.fmax.default"));
}

/// The op's kernel refuses inputs beyond 0 and 1; the decomposition would take their logarithms.
TEST(WriteLoops, LeavesChecksOfValuesToTheOp) {
  PassGraph g;
  const NodeId x = g.call("aten.sigmoid.default", {g.input("x", {6})});
  g.finish({g.call("aten.binary_cross_entropy.default", {x, x})});
  EXPECT_TRUE(calls(written(g), "aten.binary_cross_entropy.default"));
}

/// A kernel may round after each step, which its parts do in no other way than by being kernels themselves.
TEST(WriteLoops, LeavesSixteenBitsOfOtherOpsToThem) {
  for (const DType dtype : {DType::BFloat16, DType::Float32}) {
    PassGraph g;
    const NodeId x = g.input("x", {6}, dtype);
    g.finish({g.call("aten.mish.default", {x})});
    EXPECT_EQ(calls(written(g, 1e-6), "aten.mish.default"), dtype == DType::BFloat16);
  }
}

/// Of a threshold below zero the kernel makes something else than the decomposition.
TEST(WriteLoops, LeavesLossesWithThresholdsToTheOp) {
  PassGraph g;
  const NodeId x = g.input("x", {6}), y = g.input("y", {6});
  g.finish({g.call("aten.huber_loss_backward.default", {x, x, y, 0, -0.5})});
  EXPECT_TRUE(calls(written(g), "aten.huber_loss_backward.default"));
}

TEST(WriteLoops, CopiesWhereNoViewReshapes) {
  PassGraph g;
  const NodeId x = g.input("x", {3, 4}), turned = g.call("aten.permute.default", {x, numbers({1, 0})});
  g.finish(
      {g.call("aten.reshape.default", {turned, numbers({12})}), g.call("aten.reshape.default", {x, numbers({2, 6})})});
  EXPECT_EQ(kerf::testing::calls(written(g, 0).graph),
            (Calls{"aten.permute.default", "aten.clone.default", "aten._unsafe_view.default", "aten.reshape.default"}));
}

TEST(WriteLoops, LeavesProductsAndRandomNumbers) {
  PassGraph g;
  const NodeId x = g.input("x", {4, 4});
  g.finish({g.call("aten.mm.default", {x, x}), g.item(g.call("aten.native_dropout.default", {x, 0.5, true}), 0)});
  EXPECT_EQ(kerf::testing::calls(written(g).graph), kerf::testing::calls(g.module.graph));
}

/// Between the call and its first item the operand is written: the parts read what was there before.
TEST(WriteLoops, ReadsOperandsWhereTheCallDid) {
  PassGraph g;
  const NodeId x = g.input("x", {3, 8}), y = g.call("aten.exp.default", {x});
  const NodeId norm = g.call("aten.native_layer_norm.default", {y, numbers({8}), {}, {}, 1e-5});
  const NodeId view = g.call("aten.view.default", {y, numbers({24})});
  const NodeId changed = g.call("aten.mul_.Tensor", {view, view});
  g.finish({g.item(norm, 0), changed});
  EXPECT_FALSE(calls(written(g), "aten.native_layer_norm.default"));
}

/// In training a batch norm writes its running statistics.
TEST(WriteLoops, LeavesABatchNormThatWrites) {
  for (const bool trains : {false, true}) {
    PassGraph g;
    const NodeId x = g.input("x", {2, 4, 3}), mean = g.call("aten.sin.default", {g.input("m", {4})});
    const NodeId variance = g.call("aten.exp.default", {mean});
    const NodeId norm = g.call("aten.native_batch_norm.default", {x, {}, {}, mean, variance, trains, 0.1, 1e-5});
    g.finish({g.item(norm, 0), mean, variance});
    EXPECT_EQ(calls(written(g), "aten.native_batch_norm.default"), trains);
  }
}

TEST(WriteLoops, WritesANormThatIsWrittenOverLater) {
  PassGraph g;
  const NodeId x = g.input("x", {3, 8});
  const NodeId norm = g.item(g.call("aten.native_layer_norm.default", {x, numbers({8}), {}, {}, 1e-5}), 0);
  const NodeId relu = g.call("aten.relu_.default", {norm});
  g.finish({g.call("aten.add_.Tensor", {relu, x})});
  EXPECT_FALSE(calls(written(g), "aten.native_layer_norm.default"));
}

TEST(WriteResults, GivesResultsThatFollowOneAnother) {
  PassGraph g;
  const NodeId x = g.input("x", {6}), y = g.input("y", {6});
  const NodeId e = g.call("aten.sin.default", {x});
  const NodeId before = g.call("aten.neg.default", {e});
  const NodeId relu = g.call("aten.relu_.default", {e});
  const NodeId between = g.call("aten.neg.default", {e});
  const NodeId sum = g.call("aten.add_.Tensor", {e, y}, {{"alpha", 2}});
  g.call("aten.mul_.Tensor", {relu, sum});
  g.finish({before, between, g.call("aten.exp.default", {sum}), e});
  EXPECT_EQ(kerf::testing::calls(written(g, 0).graph),
            (Calls{"aten.sin.default", "aten.neg.default", "aten.relu.default", "aten.neg.default", "aten.add.Tensor",
                   "aten.mul.Tensor", "aten.exp.default"}));
}

TEST(WriteResults, LeavesWhatOthersSee) {
  const auto stays = [](auto build) {
    PassGraph g;
    const NodeId x = g.input("x", {6});
    build(g, x);
    EXPECT_TRUE(calls(written(g, 0), "aten.relu_.default"));
  };
  stays([](PassGraph& g, NodeId x) { g.finish({g.call("aten.relu_.default", {x})}); });
  stays([](PassGraph& g, NodeId x) {
    const NodeId e = g.call("aten.sin.default", {x}), view = g.call("aten.view.default", {e, numbers({2, 3})});
    g.call("aten.relu_.default", {e});
    g.finish({g.call("aten.neg.default", {view})});
  });
  stays([](PassGraph& g, NodeId x) {
    const NodeId e = g.call("aten.sin.default", {x});
    g.call("aten.relu_.default", {g.call("aten.view.default", {e, numbers({2, 3})})});
    g.finish({g.call("aten.neg.default", {e})});
  });
  stays([](PassGraph& g, NodeId x) {
    const NodeId e = g.call("aten.sin.default", {x}), relu = g.call("aten.relu_.default", {e});
    g.finish({g.call("aten.index_fill_.int_Scalar", {relu, 0, g.call("aten.arange.default", {2}), 1.0})});
  });
}

/// An item of what split gives is a view, too, and may be written itself.
TEST(WriteResults, SeesViewsAmongItems) {
  for (const bool writesItem : {false, true}) {
    PassGraph g;
    const NodeId x = g.input("x", {2, 4}), a = g.call("aten.sin.default", {x});
    const NodeId item = g.item(
        g.call(writesItem ? "aten.unbind.int" : "aten.split.Tensor", writesItem ? ArgumentList{a} : ArgumentList{a, 1}),
        1);
    g.call("aten.mul_.Tensor", {a, a});
    const NodeId last = writesItem ? g.call("aten.neg_.default", {item}) : g.call("aten.neg.default", {item});
    g.finish({a, last});
    EXPECT_TRUE(calls(written(g, 0), "aten.mul_.Tensor"));
  }
}

/// A view of what was written last is one of the newest result; one from before, that is read no more, of an older.
TEST(WriteResults, FollowsViewsThatNoWriteChanges) {
  PassGraph g;
  const NodeId x = g.input("x", {2, 3}), y = g.input("y", {2, 3});
  const NodeId e = g.call("aten.sin.default", {x});
  const NodeId early = g.call("aten.sum.default", {g.call("aten.view.default", {e, numbers({6})})});
  const NodeId sum = g.call("aten.add_.Tensor", {e, y});
  const NodeId turned = g.call("aten.permute.default", {sum, numbers({1, 0})});
  const NodeId whole = g.call("aten.view.default", {e, numbers({3, 2})});
  g.finish({early, g.call("aten.exp.default", {turned}), whole});
  EXPECT_FALSE(calls(written(g, 0), "aten.add_.Tensor"));
}

/// x.add_(y) where y was written too: both results are the newest.
TEST(WriteResults, TakesTheNewestOfTwoThatWereWritten) {
  PassGraph g;
  const NodeId x = g.input("x", {6}), a = g.call("aten.sin.default", {x}), b = g.call("aten.cos.default", {x});
  const NodeId first = g.call("aten.relu_.default", {a});
  g.call("aten.mul_.Tensor", {b, first});
  g.call("aten.add_.Tensor", {a, b});
  g.call("aten.add_.Tensor", {a, a});
  g.finish({a, b});
  const GraphModule module = written(g, 0);
  for (const char* op : {"aten.relu_.default", "aten.mul_.Tensor", "aten.add_.Tensor"}) EXPECT_FALSE(calls(module, op));
}

/// What a write rounds to the memory's dtype is another result: the write stays, and later ones follow it.
TEST(WriteResults, LeavesAWriteOfAnotherDtype) {
  PassGraph g;
  const NodeId x = g.input("x", {6}), e = g.call("aten.sin.default", {x});
  const NodeId half = g.call("aten._to_copy.default", {e}, {{"dtype", DType::BFloat16}});
  const NodeId sum = g.call("aten.add_.Tensor", {half, x});
  const NodeId relu = g.call("aten.relu_.default", {sum});
  g.finish({g.call("aten.neg.default", {half}), relu});
  EXPECT_EQ(kerf::testing::calls(written(g, 0).graph),
            (Calls{"aten.sin.default", "aten._to_copy.default", "aten.add_.Tensor", "aten.relu.default",
                   "aten.neg.default"}));
}

}  // namespace
}  // namespace kerf
