#include <gtest/gtest.h>

#include "engine/distributed/dtensor/dtensor_ops.h"
#include "engine/distributed/graphs/shard_graph.h"
#include "engine/distributed/group/in_process.h"
#include "engine/distributed/sharding/halo_plan.h"
#include "engine/ir/interpreter.h"
#include "engine/ops/core/op_registry.h"

namespace kerf {
namespace {

TEST(HaloPlan, FollowsTheWindow) {
  const auto plan = planHalo({.kernel = 3, .stride = 1, .padding = 1}, 8, 4);
  ASSERT_TRUE(plan) << plan.error().text();
  EXPECT_EQ(plan->parts[0].reads, (IndexRange{0, 3}));
  EXPECT_EQ(plan->parts[0].zerosBefore, 1);
  EXPECT_EQ(plan->parts[1].reads, (IndexRange{1, 5}));
  EXPECT_EQ(plan->parts[1].zerosBefore + plan->parts[1].zerosAfter, 0);
  EXPECT_EQ(plan->parts[3].reads, (IndexRange{5, 8}));
  EXPECT_EQ(plan->parts[3].zerosAfter, 1);
  EXPECT_EQ(plan->piece(0, 1), (IndexRange{1, 2}));
  EXPECT_EQ(plan->piece(0, 3).size(), 0);
  EXPECT_EQ(plan->widest(), 1);
}

TEST(HaloPlan, NeedsNothingWhereWindowsLieSideBySide) {
  const auto plan = planHalo({.kernel = 4, .stride = 4}, 64, 4);
  ASSERT_TRUE(plan) << plan.error().text();
  EXPECT_EQ(plan->widest(), 0);
}

TEST(HaloPlan, SaysWhyItIsNone) {
  const auto plan = planHalo({.kernel = 3, .stride = 2}, 8, 4);
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().code, ErrorCode::UnsupportedOp);
  EXPECT_EQ(plan.error().message, "a window of 3 with stride 2 gives 3 results of 8 elements: none for rank 3 of 4");
  EXPECT_FALSE(planHalo({.kernel = 9}, 8, 2));
}

struct ConvolutionCase {
  Sizes mesh;
  Placements images;
  Sizes input, weight;
  std::int64_t stride, padding, dilation, groups;
};

Tensor waves(const Sizes& sizes, double step) {
  Tensor tensor = *Tensor::zeros(DType::Float64, sizes);
  for (std::int64_t i = 0; i < tensor.numel(); ++i) tensor.data<double>()[i] = std::sin(double(i) * step) + 0.1;
  return tensor;
}

ValueList convolutionOf(const ConvolutionCase& test, const Tensor& input, const Tensor& weight, const Value& bias) {
  const Sizes stride(2, test.stride), padding(2, test.padding), dilation(2, test.dilation);
  return {input, weight,          bias,       intList(stride), intList(padding), intList(dilation),
          false, intList({0, 0}), test.groups};
}

/// The result and the three gradients of the sum of its squares.
Result<ValueList> withGradients(const ConvolutionCase& test, const Tensor& input, const Tensor& weight,
                                const Tensor& bias, const OpCaller& ops) {
  KERF_TRY(const Value result, ops.call("aten.convolution.default", convolutionOf(test, input, weight, bias), {}));
  ValueList args = convolutionOf(test, input, weight, intList({weight.size(0)}));
  args.insert(args.begin(), result);
  args.emplace_back(ValueList{true, true, true});
  KERF_TRY(const Value gradients, ops.call("aten.convolution_backward.default", args, {}));
  ValueList all{result};
  all.insert(all.end(), gradients.list().begin(), gradients.list().end());
  return all;
}

void expectNear(const Tensor& own, const Tensor& whole, const std::string& what) {
  ASSERT_EQ(own.sizes(), whole.sizes()) << what;
  for (std::int64_t i = 0; i < own.numel(); ++i)
    ASSERT_NEAR(own.itemAsDouble(i), whole.itemAsDouble(i), 1e-9 * (1 + std::abs(whole.itemAsDouble(i))))
        << what << " " << i;
}

void expectSameOnRanks(const ConvolutionCase& test) {
  const Tensor input = waves(test.input, 0.37), weight = waves(test.weight, 0.73), bias = waves({test.weight[0]}, 1.1);
  const auto whole = withGradients(test, input, weight, bias, referenceOps());
  ASSERT_TRUE(whole) << whole.error().text();
  const auto mesh = DeviceMesh::ofSizes(test.mesh);
  std::vector<ValueList> ranks(std::size_t(mesh->ranks()));
  int collectives = 0;
  const auto results = runRanks(mesh->ranks(), [&](Communicator& link) -> Result<void> {
    MeshRank rank(*mesh, link);
    const DTensorOps ops(rank);
    const Placements replicated(mesh->dims());
    KERF_TRY(const Tensor x, ops.distribute(input, test.images));
    KERF_TRY(const Tensor w, ops.distribute(weight, replicated));
    KERF_TRY(const Tensor b, ops.distribute(bias, replicated));
    KERF_TRY(const ValueList own, withGradients(test, x, w, b, ops));
    EXPECT_EQ(ops.specOf(own[0].tensor())->placements, test.images);
    EXPECT_EQ(ops.specOf(own[1].tensor())->placements, test.images);
    if (link.rank() == 0)
      for (const auto& [name, count] : rank.issued) collectives += count;
    for (const Value& value : own) {
      KERF_TRY(Tensor full, ops.full(value.tensor()));
      ranks[std::size_t(link.rank())].emplace_back(std::move(full));
    }
    return {};
  });
  const auto ran = firstCause(results);
  ASSERT_TRUE(ran) << ran.error().text();
  EXPECT_EQ(collectives, 0) << "halos are messages between two ranks";
  for (const ValueList& own : ranks)
    for (std::size_t i = 0; i < own.size(); ++i)
      expectNear(own[i].tensor(), (*whole)[i].tensor(), fmt::format("value {}", i));
}

TEST(ShardedConvolution, EqualsTheWholeOne) {
  const Placement height = Placement::shard(2), width = Placement::shard(3), batch = Placement::shard(0);
  const ConvolutionCase cases[] = {
      {{4}, {width}, {2, 3, 8, 32}, {4, 3, 7, 7}, 1, 3, 1, 1},   // wider halos than parts are none here
      {{4}, {width}, {1, 4, 5, 10}, {4, 1, 7, 7}, 1, 3, 1, 4},   // uneven, halos over several ranks, depthwise
      {{4}, {height}, {2, 3, 13, 4}, {2, 3, 3, 3}, 1, 1, 2, 1},  // dilated
      {{4}, {width}, {1, 2, 6, 21}, {3, 2, 3, 3}, 2, 1, 1, 1},   // strided
      {{4}, {width}, {1, 2, 6, 23}, {3, 2, 2, 2}, 3, 0, 1, 1},   // elements that no window reads
      {{4}, {width}, {1, 2, 4, 5}, {3, 2, 3, 3}, 1, 4, 1, 1},    // windows that see padding alone
      {{3}, {height}, {1, 4, 7, 3}, {2, 2, 3, 3}, 2, 2, 1, 2},   // groups
      {{2, 2}, {height, width}, {1, 2, 9, 10}, {3, 2, 5, 5}, 1, 2, 1, 1},  // corners
      {{2, 2}, {batch, width}, {3, 2, 4, 10}, {3, 2, 3, 3}, 1, 1, 1, 1},
  };
  for (const ConvolutionCase& test : cases) {
    SCOPED_TRACE(fmt::format("input [{}], weight [{}], stride {}, {}", fmt::join(test.input, ", "),
                             fmt::join(test.weight, ", "), test.stride, placementsText(test.images)));
    expectSameOnRanks(test);
  }
}

/// relu(convolution(x, w)).
GraphModule convolutionGraph() {
  GraphModule module;
  Graph& graph = module.graph;
  const auto input = [&](const char* name, const Sizes& sizes) {
    const NodeId id = graph.placeholder(name);
    TensorMeta meta{DType::Float64, {}, {}};
    std::int64_t stride = 1;
    for (std::size_t d = sizes.size(); d-- > 0; stride *= sizes[d]) {
      meta.sizes.insert(meta.sizes.begin(), dim(sizes[d]));
      meta.strides.insert(meta.strides.begin(), dim(stride));
    }
    graph.setValueMeta(id, {meta});
    return id;
  };
  const NodeId x = input("x", {2, 2, 4, 13}), w = input("w", {3, 2, 3, 5});
  const auto pair = [](std::int64_t a, std::int64_t b) { return Argument::list({Argument(a), Argument(b)}); };
  const NodeId conv = graph.callFunction("torch.ops.aten.convolution.default",
                                         {Argument(x), Argument(w), Argument(), pair(1, 1), pair(1, 2), pair(1, 1),
                                          Argument(false), pair(0, 0), Argument(std::int64_t{1})},
                                         {}, "conv");
  const NodeId relu = graph.callFunction("torch.ops.aten.relu.default", {Argument(conv)}, {}, "relu");
  graph.output(Argument::list({Argument(relu)}));
  return module;
}

TEST(ShardGraph, ExchangesHalosOfAConvolution) {
  const auto mesh = DeviceMesh::ofSizes({4});
  const auto graph = shardGraph(convolutionGraph(), *mesh, {{{"x", {Placement::shard(3)}}}, false});
  ASSERT_TRUE(graph) << graph.error().text();
  EXPECT_EQ(graph->collectives,
            (std::map<std::string, int>{{"torch.ops._c10d_functional.all_to_all_single.default", 1}}));
  EXPECT_EQ(graph->outputs[0], Placements{Placement::shard(3)});
  const ValueList inputs{waves({2, 2, 4, 13}, 0.4), waves({3, 2, 3, 5}, 0.7)};
  const auto whole = Interpreter(convolutionGraph(), referenceOps()).run(inputs);
  const auto parts = runShardedGraph(*graph, *mesh, inputs);
  ASSERT_TRUE(whole && parts) << (parts ? whole.error().text() : parts.error().text());
  expectNear((*parts)[0].tensor(), whole->list()[0].tensor(), "result");
}

}  // namespace
}  // namespace kerf
