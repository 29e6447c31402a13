// Convolution nets, whose intermediate images the compiled code lays channels last and hands on row by row.
#include "engine/lower/lowered_graph.h"
#include "engine/ops/random/state.h"
#include "engine/pipeline/compile_fx.h"
#include "engine/support/thread_pool.h"
#include "tests/support/graph_fixture.h"

namespace kerf {
namespace {

using testing_support::expectClose;
using testing_support::GraphFixture;

Argument numbers(std::initializer_list<std::int64_t> values) {
  ArgumentList items;
  for (const std::int64_t value : values) items.emplace_back(value);
  return Argument::list(std::move(items));
}

struct Net : GraphFixture {
  int weights = 0;
  NodeId weight(const Sizes& sizes) { return input(fmt::format("w{}", ++weights), DType::Float32, sizes); }

  NodeId conv(NodeId x, NodeId filter, std::int64_t stride, std::int64_t padding, std::int64_t groups = 1,
              Argument bias = {}) {
    return call("aten.convolution.default",
                {x, filter, std::move(bias), numbers({stride, stride}), numbers({padding, padding}), numbers({1, 1}),
                 Argument(false), numbers({0, 0}), Argument(groups)});
  }
  /// (x - mean) * scale + shift, per channel.
  NodeId normalised(NodeId x, std::int64_t channels) {
    NodeId parts[3];
    for (NodeId& part : parts) {
      const NodeId vector = call("aten.unsqueeze.default", {weight({channels}), Argument(std::int64_t(-1))});
      part = call("aten.unsqueeze.default", {vector, Argument(std::int64_t(-1))});
    }
    const NodeId centred = call("aten.sub.Tensor", {x, parts[0]});
    return call("aten.add.Tensor", {call("aten.mul.Tensor", {centred, parts[1]}), parts[2]});
  }
  NodeId silu(NodeId x) { return call("aten.mul.Tensor", {x, call("aten.sigmoid.default", {x})}); }
};

LoweredGraph scheduled(const GraphModule& module) {
  auto values = classifyValues(module);
  EXPECT_TRUE(values);
  auto graph =
      scheduleGraph(std::make_shared<const ValueTable>(std::move(*values)), true, true, ImageLayout::ChannelsLast);
  EXPECT_TRUE(graph);
  return std::move(*graph);
}

/// How many convolutions run with the kernel behind them.
std::size_t joinedSteps(const LoweredGraph& graph) {
  return std::size_t(std::ranges::count_if(graph.steps, [](const LoweredStep& s) { return s.followerElements > 0; }));
}

/// What a kernel writes lies nowhere where the convolution that runs with it still reads.
void expectApart(const LoweredGraph& graph) {
  const auto lifeOf = [&](int buffer) { return std::ranges::find(graph.lifetimes, buffer, &Lifetime::buffer); };
  for (std::size_t s = 0; s + 1 < graph.steps.size(); ++s) {
    if (graph.steps[s].followerElements == 0) continue;
    for (const int read : graph.steps[s].reads)
      for (const int written : graph.steps[s + 1].writes) {
        const auto a = lifeOf(read), b = lifeOf(written);
        if (a == graph.lifetimes.end() || b == graph.lifetimes.end()) continue;
        EXPECT_TRUE(a->offset + a->bytes <= b->offset || b->offset + b->bytes <= a->offset) << "step " << s;
      }
  }
}

void expectSameAsInterpreter(const Net& net, double tolerance) {
  const auto graph = compileFx(net.module, {});
  ASSERT_TRUE(graph) << graph.error().text();
  const auto reference = net.interpret();
  ASSERT_TRUE(reference);
  const int before = threadCount();
  for (const int threads : {1, 5}) {
    setThreadCount(threads);
    for (int run = 0; run < 2; ++run) {
      const auto result = (*graph)->run(net.inputs);
      ASSERT_TRUE(result) << result.error().text();
      for (std::size_t i = 0; i < result->list().size(); ++i) {
        const Tensor &wanted = reference->list()[i].tensor(), &given = result->list()[i].tensor();
        EXPECT_EQ(wanted.strides(), given.strides());
        expectClose(wanted, given, tolerance, fmt::format("result {} with {} threads", i, threads));
      }
    }
  }
  setThreadCount(before);
}

TEST(ChannelsLast, AResidualBlockWithSqueezeAndExcitation) {
  Net net;
  const NodeId x = net.input("x", DType::Float32, {2, 3, 33, 29});
  const NodeId stem = net.silu(net.normalised(net.conv(x, net.weight({16, 3, 3, 3}), 2, 1), 16));
  const NodeId wide = net.silu(net.normalised(net.conv(stem, net.weight({24, 16, 1, 1}), 1, 0), 24));
  const NodeId deep = net.silu(net.normalised(net.conv(wide, net.weight({24, 1, 5, 5}), 1, 2, 24), 24));
  const NodeId mean = net.call("aten.mean.dim", {deep, numbers({-1, -2}), Argument(true)});
  const NodeId squeezed = net.silu(net.conv(mean, net.weight({6, 24, 1, 1}), 1, 0, 1, net.weight({6})));
  const NodeId gate =
      net.call("aten.sigmoid.default", {net.conv(squeezed, net.weight({24, 6, 1, 1}), 1, 0, 1, net.weight({24}))});
  const NodeId gated = net.call("aten.mul.Tensor", {gate, deep});
  const NodeId narrow = net.normalised(net.conv(gated, net.weight({16, 24, 1, 1}), 1, 0), 16);
  const NodeId sum = net.call("aten.add.Tensor", {narrow, stem});
  const NodeId last = net.conv(sum, net.weight({8, 16, 3, 3}), 1, 1);
  const NodeId pooled =
      net.call("aten.mean.dim", {net.call("aten.relu.default", {last}), numbers({2, 3}), Argument(true)});
  net.output({net.call("aten.view.default", {pooled, numbers({2, 8})})});
  const LoweredGraph graph = scheduled(net.module);
  EXPECT_GE(joinedSteps(graph), 5u);
  expectApart(graph);
  expectSameAsInterpreter(net, 2e-4);
}

TEST(ChannelsLast, ResultsThatTheCallerSeesLieAsRecorded) {
  Net net;
  const NodeId x = net.input("x", DType::Float32, {2, 4, 12, 10});
  const NodeId inner = net.conv(x, net.weight({8, 4, 3, 3}), 1, 1);
  const NodeId relu = net.call("aten.relu.default", {inner});
  const NodeId outer = net.conv(relu, net.weight({5, 8, 3, 3}), 1, 1);
  net.output({relu, outer, net.call("aten.permute.default", {outer, numbers({0, 2, 3, 1})})});
  expectSameAsInterpreter(net, 1e-4);
}

TEST(ChannelsLast, ViewsThatNeedRowMajorMemoryKeepIt) {
  Net net;
  const NodeId x = net.input("x", DType::Float32, {2, 4, 8, 6});
  const NodeId a = net.conv(x, net.weight({8, 4, 1, 1}), 1, 0);
  const NodeId tokens = net.call("aten.view.default", {a, numbers({2, 8, 48})});
  const NodeId b = net.conv(x, net.weight({8, 4, 3, 3}), 1, 1);
  const NodeId halves = net.call("aten.slice.Tensor",
                                 {b, Argument(std::int64_t(1)), Argument(std::int64_t(2)), Argument(std::int64_t(6))});
  const NodeId strided = net.call("aten.as_strided.default",
                                  {net.conv(x, net.weight({3, 4, 1, 1}), 1, 0), numbers({2, 9}), numbers({144, 3})});
  net.output({net.call("aten.tanh.default", {tokens}), net.call("aten.exp.default", {halves}),
              net.call("aten.neg.default", {strided})});
  expectSameAsInterpreter(net, 1e-4);
}

TEST(ChannelsLast, PiecesAreJoinedAndPadded) {
  Net net;
  const NodeId x = net.input("x", DType::Float32, {2, 4, 9, 9});
  const NodeId a = net.conv(x, net.weight({6, 4, 3, 3}), 1, 1), b = net.conv(x, net.weight({10, 4, 1, 1}), 1, 0);
  ArgumentList both{Argument(a), Argument(b)};
  const NodeId cat = net.call("aten.cat.default", {Argument::list(std::move(both)), Argument(std::int64_t(1))});
  const NodeId padded = net.call("aten.constant_pad_nd.default", {cat, numbers({1, 0, 0, 2}), Argument(0.5)});
  net.output({net.conv(net.call("aten.relu.default", {padded}), net.weight({4, 16, 3, 3}), 2, 0)});
  expectSameAsInterpreter(net, 2e-4);
}

TEST(ChannelsLast, AFilterThatChangesBetweenRunsIsPackedAgain) {
  Net net;
  const NodeId x = net.input("x", DType::Float32, {2, 4, 8, 8});
  const NodeId filter = net.weight({8, 4, 3, 3});
  const NodeId hidden = net.call("aten.relu.default", {net.conv(x, filter, 1, 1)});
  net.output({net.conv(hidden, net.weight({3, 8, 1, 1}), 1, 0)});
  const auto graph = compileFx(net.module, {});
  ASSERT_TRUE(graph);
  ASSERT_TRUE((*graph)->run(net.inputs));
  const Tensor& values = net.inputs[1].tensor();
  for (std::int64_t i = 0; i < values.numel(); ++i) values.data<float>()[i] = float(i % 5) - 2;
  const auto reference = net.interpret(), result = (*graph)->run(net.inputs);
  ASSERT_TRUE(reference && result);
  expectClose(reference->list()[0].tensor(), result->list()[0].tensor(), 1e-4, "in the same memory");
}

TEST(ChannelsLast, NumbersAreDrawnInTheRecordedOrder) {
  Net net;
  const NodeId x = net.input("x", DType::Float32, {2, 4, 8, 8});
  const NodeId hidden = net.conv(x, net.weight({8, 4, 3, 3}), 1, 1);
  const NodeId dropped = net.call("aten.native_dropout.default", {hidden, Argument(0.5), Argument(true)});
  net.output({net.call("aten.relu.default", {net.item(dropped, 0)})});
  const auto graph = compileFx(net.module, {});
  ASSERT_TRUE(graph) << graph.error().text();
  seedRandom(11);
  const auto reference = net.interpret();
  seedRandom(11);
  const auto result = (*graph)->run(net.inputs);
  ASSERT_TRUE(reference && result);
  expectClose(reference->list()[0].tensor(), result->list()[0].tensor(), 1e-4, "dropout");
}

}  // namespace
}  // namespace kerf
