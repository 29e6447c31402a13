#include <gtest/gtest.h>

#include "engine/distributed/graphs/collective_passes.h"
#include "engine/distributed/replay/minify_ranks.h"
#include "engine/distributed/replay/rank_replay.h"
#include "engine/distributed/replay/whole_values.h"
#include "engine/ir/printer.h"

namespace kerf {
namespace {

constexpr const char* allReduceOp = "torch.ops._c10d_functional.all_reduce.default";
constexpr const char* gatherOp = "torch.ops._c10d_functional.all_gather_into_tensor.default";
constexpr const char* scatterOp = "torch.ops._c10d_functional.reduce_scatter_tensor.default";
constexpr const char* waitOp = "torch.ops._c10d_functional.wait_tensor.default";

NodeId call(Graph& graph, const char* op, ArgumentList args, const char* name, const Sizes& sizes) {
  const NodeId id = graph.callFunction(op, std::move(args), {}, name);
  std::vector<Dim> dims, strides;
  for (const std::int64_t size : sizes) dims.push_back(dim(size));
  for (const std::int64_t stride : contiguousStrides(sizes)) strides.push_back(dim(stride));
  graph.setValueMeta(id, {TensorMeta{DType::Float64, dims, strides}});
  return id;
}

Tensor filled(const Sizes& sizes, double first) {
  Tensor tensor = *Tensor::zeros(DType::Float64, sizes);
  for (std::int64_t i = 0; i < tensor.numel(); ++i) tensor.data<double>()[i] = first + double(i);
  return tensor;
}

NodeId input(Graph& graph, const char* name, const Sizes& sizes) {
  const NodeId id = graph.placeholder(name);
  std::vector<Dim> dims, strides;
  for (const std::int64_t size : sizes) dims.push_back(dim(size));
  for (const std::int64_t stride : contiguousStrides(sizes)) strides.push_back(dim(stride));
  graph.setValueMeta(id, {TensorMeta{DType::Float64, dims, strides}});
  return id;
}

/// relu(all_reduce(2 x)) + y: `op` is what rank 1 reduces with, `group` whom with.
std::vector<RankProgram> twoRanks(const char* op = "sum", const char* group = "0") {
  std::vector<RankProgram> programs;
  for (int rank = 0; rank < 2; ++rank) {
    RankProgram program;
    Graph& graph = program.module.graph;
    const NodeId x = input(graph, "x", {4}), y = input(graph, "y", {4});
    const NodeId twice = call(graph, "torch.ops.aten.mul.Tensor", {Argument(x), Argument(2.0)}, "twice", {4});
    const NodeId sum = call(
        graph, allReduceOp,
        {Argument(twice), Argument(std::string(rank == 1 ? op : "sum")), Argument(std::string(group))}, "sum", {4});
    const NodeId wait = call(graph, waitOp, {Argument(sum)}, "wait", {4});
    const NodeId relu = call(graph, "torch.ops.aten.relu.default", {Argument(wait)}, "relu", {4});
    const NodeId all = call(graph, "torch.ops.aten.add.Tensor", {Argument(relu), Argument(y)}, "all", {4});
    graph.output(Argument::list({Argument(all)}));
    program.inputs = {filled({4}, rank + 1.0), filled({4}, 10)};
    programs.push_back(std::move(program));
  }
  return programs;
}

TEST(RankReplays, LetCollectivesMeet) {
  const Replay replay = replayRanks(twoRanks(), {.keepsNodes = true});
  ASSERT_TRUE(replay.ran) << replay.ran.error().text();
  for (const ReplayedRank& rank : replay.ranks) {
    ASSERT_EQ(rank.outputs.size(), 1U);
    EXPECT_EQ(rank.outputs[0].tensor().itemAsDouble(0), 2 * (1 + 2) + 10);
    ASSERT_EQ(rank.nodes.size(), 5U);
    EXPECT_EQ(rank.nodes[1].first, "sum_1");
  }
  EXPECT_EQ(replay.ranks[1].nodes[0].second.tensor().itemAsDouble(0), 4);
}

TEST(RankReplays, NameTheCollectivesThatDoNotMeet) {
  const Replay replay = replayRanks(twoRanks("max"), {});
  ASSERT_FALSE(replay.ran);
  EXPECT_NE(replay.ran.error().message.find("rank 0 calls all_reduce of sum"), std::string::npos)
      << replay.ran.error().message;
  EXPECT_GE(replay.failedRank, 0);
}

TEST(RankReplays, TakeThoseWhoNameAGroupForItsMembers) {
  auto programs = twoRanks("sum", "7");
  auto others = twoRanks("sum", "9");
  programs.push_back(others[0]);
  programs.push_back(others[1]);
  const auto groups = groupsNamedBy(programs);
  ASSERT_TRUE(groups);
  ASSERT_EQ((*groups)[2].size(), 2U);
  EXPECT_EQ((*groups)[2][1].name, "9");
  EXPECT_EQ((*groups)[2][1].ranks, (std::vector<int>{2, 3}));
  const Replay replay = replayRanks(programs, {});
  ASSERT_TRUE(replay.ran) << replay.ran.error().text();
  EXPECT_EQ(replay.ranks[3].outputs[0].tensor().itemAsDouble(0), 2 * (1 + 2) + 10);
}

TEST(RankReplays, RefuseAGroupOfAnotherSizeThanItsCallsSay) {
  auto programs = twoRanks();
  Graph& graph = programs[0].module.graph;
  const InsertionScope scope(graph, InsertionScope::Where::Before, graph.outputNode());
  call(graph, gatherOp, {Argument(*graph.find("relu")), Argument(std::int64_t{4}), Argument(std::string("0"))},
       "gather", {16});
  const Replay replay = replayRanks(programs, {});
  ASSERT_FALSE(replay.ran);
  EXPECT_EQ(replay.ran.error().message,
            "node gather: group '0' has 4 ranks in this call, and 2 graphs name it (of the ranks 0, 1)");
  EXPECT_EQ(replay.failedRank, 0);
  EXPECT_EQ(groupsNamedBy(programs).error().message.substr(0, 20), "rank 0: node gather:");
}

TEST(RankReplays, ListTheReductionsThereAre) {
  std::vector<RankProgram> programs = twoRanks("frob");
  programs[0] = programs[1];
  const Replay replay = replayRanks(programs, {});
  ASSERT_FALSE(replay.ran);
  EXPECT_EQ(replay.ran.error().message,
            "there is no reduction 'frob': sum, avg, product, min, max, band, bor and bxor are");
}

/// Ranks of [3, 4] and [2, 4] would be no result that the graph's shapes tell.
TEST(RankReplays, RefuseToScatterUnevenRows) {
  std::vector<RankProgram> programs;
  for (int rank = 0; rank < 2; ++rank) {
    RankProgram program;
    Graph& graph = program.module.graph;
    const NodeId x = input(graph, "x", {5, 4});
    const Argument sum(std::string("sum")), two(std::int64_t{2}), world(std::string("0"));
    const NodeId start = call(graph, scatterOp, {Argument(x), sum, two, world}, "start", {2, 4});
    graph.output(Argument::list({Argument(call(graph, waitOp, {Argument(start)}, "wait", {2, 4}))}));
    program.inputs = {filled({5, 4}, rank)};
    programs.push_back(std::move(program));
  }
  const Replay replay = replayRanks(programs, {});
  ASSERT_FALSE(replay.ran);
  EXPECT_EQ(replay.ran.error().code, ErrorCode::ShapeMismatch);
  EXPECT_NE(replay.ran.error().text().find("node start: _c10d_functional.reduce_scatter_tensor.default: float64 [5, 4] "
                                           "cannot be scattered evenly among the 2 ranks of its group along dimension "
                                           "0"),
            std::string::npos)
      << replay.ran.error().text();
}

/// Two reductions, two gathers and two scatters, the waits at once and the starts late.
RankProgram busyRank(int rank) {
  RankProgram program;
  Graph& graph = program.module.graph;
  const NodeId a = input(graph, "a", {4, 3}), b = input(graph, "b", {2});
  std::vector<std::pair<NodeId, Sizes>> waits;
  const auto addBoth = [&](const char* op, const ArgumentList& more, const Sizes& ofA, const Sizes& ofB) {
    for (const auto& [from, sizes] : {std::pair{a, ofA}, std::pair{b, ofB}}) {
      ArgumentList args{Argument(from)};
      args.insert(args.end(), more.begin(), more.end());
      const NodeId start = call(graph, op, std::move(args), "start", sizes);
      waits.emplace_back(call(graph, waitOp, {Argument(start)}, "wait", sizes), sizes);
    }
  };
  const Argument two(std::int64_t{2}), world(std::string("0")), sum(std::string("sum"));
  addBoth(allReduceOp, {sum, world}, {4, 3}, {2});
  addBoth(gatherOp, {two, world}, {8, 3}, {4});
  addBoth(scatterOp, {sum, two, world}, {2, 3}, {1});
  ArgumentList results;
  for (const auto& [wait, sizes] : waits)
    results.emplace_back(call(graph, "torch.ops.aten.mul.Tensor", {Argument(wait), Argument(3.0)}, "mul", sizes));
  graph.output(Argument::list(std::move(results)));
  program.inputs = {filled({4, 3}, 5.0 * rank), filled({2}, 100.0 + rank)};
  return program;
}

std::size_t starts(const Graph& graph) {
  std::size_t count = 0;
  for (const NodeId id : graph.order()) {
    const std::string& target = graph.node(id).target();
    count += target.find("_c10d_functional") != std::string::npos && target != waitOp;
  }
  return count;
}

TEST(CollectivePasses, KeepValuesOnEveryRank) {
  const std::vector<RankProgram> before{busyRank(0), busyRank(1)};
  const Replay first = replayRanks(before, {});
  ASSERT_TRUE(first.ran) << first.ran.error().text();
  for (const CollectivePass& pass : collectivePasses()) {
    std::vector<RankProgram> after = before;
    for (RankProgram& program : after) {
      const auto ran = pass.run(program.module);
      ASSERT_TRUE(ran) << pass.name << ran.error().text();
      EXPECT_NE(program.module.graph.contentHash(), before[0].module.graph.contentHash()) << pass.name;
    }
    const Replay second = replayRanks(after, {});
    ASSERT_TRUE(second.ran) << pass.name << ": " << second.ran.error().text();
    for (std::size_t rank = 0; rank < 2; ++rank)
      for (std::size_t i = 0; i < first.ranks[rank].outputs.size(); ++i) {
        const Tensor &a = first.ranks[rank].outputs[i].tensor(), &b = second.ranks[rank].outputs[i].tensor();
        ASSERT_EQ(a.sizes(), b.sizes()) << pass.name;
        for (std::int64_t k = 0; k < a.numel(); ++k) EXPECT_EQ(a.itemAsDouble(k), b.itemAsDouble(k)) << pass.name;
      }
  }
}

TEST(CollectivePasses, PutCollectivesOfOneKindIntoOne) {
  RankProgram program = busyRank(0);
  EXPECT_EQ(starts(program.module.graph), 6U);
  ASSERT_TRUE(bucketCollectives(program.module));
  EXPECT_EQ(starts(program.module.graph), 3U);
}

bool areEqualTensors(const Tensor& own, const Tensor& whole) {
  for (std::int64_t i = 0; i < whole.numel(); ++i)
    if (own.itemAsDouble(i) != whole.itemAsDouble(i)) return false;
  return own.sizes() == whole.sizes();
}

TEST(WholeValues, AreFoundFromTheRanksParts) {
  const Tensor whole = filled({3, 2}, 0);
  const Tensor top = filled({2, 2}, 0), bottom = filled({1, 2}, 4), zeros = *Tensor::zeros(DType::Float64, {3, 2});
  const auto two = DeviceMesh::ofSizes({2});
  const auto fit = [&](const std::vector<Tensor>& parts) { return fitOf(parts, whole, *two, areEqualTensors); };
  EXPECT_EQ(fit({top, bottom}).placement, "S(0)");
  EXPECT_EQ(fit({whole, whole}).placement, "R");
  EXPECT_EQ(fit({zeros, whole}).placement, "P(sum)");
  EXPECT_EQ(fit({bottom, top}).placement, "");
  EXPECT_EQ(fit({top, filled({1, 2}, 9)}).wrong, std::vector<int>{1});
}

/// Six rows in four stripes of two, of which the last is empty: each rank has every other one.
TEST(WholeValues, StripesAreToldOfSplitFactorsThatSomebodyNamed) {
  const Tensor whole = filled({6, 2}, 0);
  const auto two = DeviceMesh::ofSizes({2});
  const auto parts = *partsUnder(whole, {Placement::strided(0, 2)}, *two);
  ASSERT_EQ(parts[0].sizes(), Sizes({4, 2}));
  EXPECT_EQ(fitOf(parts, whole, *two, areEqualTensors).placement, "");
  EXPECT_EQ(fitOf(parts, whole, *two, areEqualTensors, {2}).placement, "_S(0, 2)");
  EXPECT_EQ(fitOf(parts, whole, *two, areEqualTensors, {3}).placement, "");
}

/// Meshes of two dimensions, stripes and pending sums: what sizes alone do not say.
TEST(WholeValues, FitUnderPlacementsThatAreKnown) {
  const auto mesh = DeviceMesh::ofSizes({2, 2});
  const Tensor whole = filled({8, 6}, 1);
  const std::vector<Placements> all{{Placement::shard(0), Placement::replicate()},
                                    {Placement::shard(0), Placement::shard(1)},
                                    {Placement::replicate(), Placement::shard(0)},
                                    {Placement::strided(0, 2), Placement::shard(0)},
                                    {Placement::partial(), Placement::shard(1)}};
  for (const Placements& placements : all) {
    const auto parts = partsUnder(whole, placements, *mesh);
    ASSERT_TRUE(parts) << parts.error().text();
    EXPECT_TRUE(fitUnder(*parts, whole, placements, *mesh, areEqualTensors).isRight()) << placementsText(placements);
    const Fit apart = fitUnder(*parts, whole, {Placement::shard(1), Placement::shard(1)}, *mesh, areEqualTensors);
    EXPECT_TRUE(apart.hasOtherSizes || !apart.wrong.empty()) << placementsText(placements);
  }
  const auto three = DeviceMesh::ofSizes({3});
  const auto sum = partsUnder(whole, {Placement::partial()}, *three);  // thirds would be rounded
  ASSERT_TRUE(sum) << sum.error().text();
  EXPECT_TRUE(areEqualTensors((*sum)[0], whole));
  EXPECT_EQ((*sum)[2].itemAsDouble(5), 0);
  auto parts = *partsUnder(whole, all[1], *mesh);
  EXPECT_EQ(fitOf(parts, whole, *mesh, areEqualTensors).placement, "[S(0), S(1)]");
  parts[2].data<double>()[0] += 1;
  EXPECT_EQ(fitUnder(parts, whole, all[1], *mesh, areEqualTensors).wrong, std::vector<int>{2});
  EXPECT_EQ(*placementsOfSizes({8, 6}, {{4, 6}, {4, 6}, {4, 6}, {4, 6}}, *mesh),
            (Placements{Placement::replicate(), Placement::shard(0)}));
  EXPECT_EQ(partsUnder(whole, {Placement::shard(2), Placement::replicate()}, *mesh).error().code,
            ErrorCode::ShapeMismatch);
}

TEST(Placements, AreReadFromTextsOfAllDimensions) {
  const auto read = parsePlacements("[S(0), _S(1, 2), P(max)]");
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(placementsText(*read), "[S(0), _S(1, 2), P(max)]");
  EXPECT_EQ(placementsText(*parsePlacements("S0,R")), "[S(0), R]");
  const auto wrong = parsePlacements("S0,Q");
  ASSERT_FALSE(wrong);
  EXPECT_NE(wrong.error().message.find("'Q' is no placement: R (whole on every rank), S0 or S(0)"), std::string::npos)
      << wrong.error().message;
}

/// Fails where the collectives differ: relu, add and what is before them is not needed for that.
TEST(RanksMinifier, KeepsTheFailureOfAllRanks) {
  const RanksOracle oracle = [](const std::vector<RankProgram>& programs) -> Result<std::string> {
    const Replay replay = replayRanks(programs, {});
    return replay.ran ? std::string() : replay.ran.error().message.substr(0, 40);
  };
  const auto smallest = minifyRanks(twoRanks("max"), oracle);
  ASSERT_TRUE(smallest) << smallest.error().text();
  EXPECT_EQ(smallest->startNodes, 10U);
  EXPECT_EQ(smallest->nodes, 2U);
  EXPECT_TRUE(smallest->isMinimal);
  for (const RankProgram& program : smallest->programs) EXPECT_EQ(starts(program.module.graph), 1U);
  EXPECT_EQ(*oracle(smallest->programs), smallest->failure);
}

TEST(RanksMinifier, RefusesRanksThatDoNotFail) {
  const auto smallest = minifyRanks(twoRanks(), [](const auto&) -> Result<std::string> { return std::string(); });
  ASSERT_FALSE(smallest);
  EXPECT_EQ(smallest.error().code, ErrorCode::BadInput);
}

}  // namespace
}  // namespace kerf
