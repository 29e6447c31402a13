#include <gtest/gtest.h>

#include <algorithm>

#include "engine/distributed/graphs/shard_graph.h"
#include "engine/ir/interpreter.h"
#include "engine/ir/parser.h"
#include "engine/ir/value_meta.h"
#include "engine/ops/core/op_registry.h"

namespace kerf {
namespace {

/// relu(x @ w1) @ w2, as a tensor-parallel layer has it.
GraphModule layer() {
  GraphModule module;
  Graph& graph = module.graph;
  const auto input = [&](const char* name, std::int64_t rows, std::int64_t columns) {
    const NodeId id = graph.placeholder(name);
    graph.setValueMeta(id, {TensorMeta{DType::Float32, {dim(rows), dim(columns)}, {dim(columns), dim(1)}}});
    return id;
  };
  const NodeId x = input("x", 6, 8), w1 = input("w1", 8, 10), w2 = input("w2", 10, 8);
  const NodeId up = graph.callFunction("torch.ops.aten.mm.default", {Argument(x), Argument(w1)}, {}, "up");
  const NodeId relu = graph.callFunction("torch.ops.aten.relu.default", {Argument(up)}, {}, "relu");
  const NodeId down = graph.callFunction("torch.ops.aten.mm.default", {Argument(relu), Argument(w2)}, {}, "down");
  const NodeId again = graph.callFunction("torch.ops.aten.relu.default", {Argument(down)}, {}, "again");
  graph.output(Argument::list({Argument(again)}));
  return module;
}

Tensor counting(const Sizes& sizes, double scale) {
  Tensor tensor = *Tensor::zeros(DType::Float32, sizes);
  for (std::int64_t i = 0; i < tensor.numel(); ++i) tensor.data<float>()[i] = float(double(i % 7) - 3) * float(scale);
  return tensor;
}

void expectSameValues(const ShardedGraph& graph, const DeviceMesh& mesh) {
  const ValueList inputs{counting({6, 8}, 0.5), counting({8, 10}, 0.25), counting({10, 8}, 1)};
  const auto whole = Interpreter(layer(), referenceOps()).run(inputs);
  const auto parts = runShardedGraph(graph, mesh, inputs);
  ASSERT_TRUE(whole && parts) << (parts ? "" : parts.error().text());
  const Tensor &a = whole->list()[0].tensor(), &b = (*parts)[0].tensor();
  ASSERT_EQ(a.sizes(), b.sizes());
  for (std::int64_t i = 0; i < a.numel(); ++i) EXPECT_NEAR(a.itemAsDouble(i), b.itemAsDouble(i), 1e-4);
}

TEST(ShardGraph, SplitsALayerByColumnsThenRows) {
  const auto mesh = DeviceMesh::ofSizes({4});
  const auto graph =
      shardGraph(layer(), *mesh, {{{"w1", {Placement::shard(1)}}, {"w2", {Placement::shard(0)}}}, false});
  ASSERT_TRUE(graph) << graph.error().text();
  ASSERT_EQ(graph->ranks.size(), 4U);
  EXPECT_EQ(graph->collectives, (std::map<std::string, int>{{"torch.ops._c10d_functional.all_reduce.default", 1}}));
  EXPECT_EQ(graph->nodes[3].placements, "[S(1)]");
  EXPECT_EQ(graph->nodes[5].name, "down");
  EXPECT_EQ(graph->nodes[5].placements, "[P(sum)]");
  EXPECT_EQ(graph->nodes[6].moved.size(), 1U);
  EXPECT_EQ(graph->nodes[6].moved[0].from, "[P(sum)]");
  EXPECT_EQ(graph->nodes[6].moved[0].operand, "self");
  EXPECT_EQ(graph->nodes[6].moved[0].source, "down");
  EXPECT_EQ(graph->nodes[6].inputs, std::vector<std::string>{"down"});
  EXPECT_FALSE(graph->nodes[5].others.empty());
  EXPECT_EQ(graph->nodes[5].others[0].call, "aten.mm.default");
  EXPECT_GE(graph->nodes[5].others.back().cost, graph->nodes[5].others[0].cost);
  EXPECT_GT(graph->nodes[6].cost, 0);
  expectSameValues(*graph, *mesh);
}

TEST(ShardGraph, KeepsUnevenBatchesApart) {
  for (const Sizes& sizes : {Sizes{4}, Sizes{2, 2}}) {
    const auto mesh = DeviceMesh::ofSizes(sizes);
    const Placements batch(sizes.size(), Placement::shard(0));
    const auto graph = shardGraph(layer(), *mesh, {{{"x", batch}}, false});
    ASSERT_TRUE(graph) << graph.error().text();
    EXPECT_TRUE(graph->collectives.empty());
    EXPECT_EQ(graph->outputs[0], batch);
    expectSameValues(*graph, *mesh);
    const auto gathered = shardGraph(layer(), *mesh, {{{"x", batch}}, true});
    ASSERT_TRUE(gathered) << gathered.error().text();
    EXPECT_FALSE(gathered->collectives.empty());
    expectSameValues(*gathered, *mesh);
  }
}

TEST(ShardGraph, RefusesInputsThatAreNotThere) {
  const auto mesh = DeviceMesh::ofSizes({2});
  const auto graph = shardGraph(layer(), *mesh, {{{"y", {Placement::shard(0)}}}, false});
  ASSERT_FALSE(graph);
  EXPECT_EQ(graph.error().message, "the graph has no input 'y'");
}

TEST(ShardGraph, SplitsStridedShards) {
  for (const Sizes& sizes : {Sizes{2}, Sizes{4}, Sizes{2, 2}}) {
    const auto mesh = DeviceMesh::ofSizes(sizes);
    Placements rows(sizes.size()), columns(sizes.size());
    rows[0] = Placement::strided(0, 2);
    columns[0] = Placement::strided(1, 3);
    const auto graph = shardGraph(layer(), *mesh, {{{"x", rows}, {"w1", columns}}, false});
    ASSERT_TRUE(graph) << graph.error().text();
    expectSameValues(*graph, *mesh);
  }
}

/// Numbers stay inputs, and groups of a mesh of two dimensions have names that tell them apart.
TEST(ShardGraph, KeepsNumbersAsInputsAndNamesEachGroup) {
  GraphModule module = layer();
  {
    const InsertionScope scope(module.graph, InsertionScope::Where::Before, *module.graph.find("w2"));
    const NodeId number = module.graph.placeholder("n");
    module.graph.setValueMeta(number, {SymMeta{SymExpr{"4", 4}}});
  }
  const auto mesh = DeviceMesh::ofSizes({2, 2});
  const Placements rows{Placement::shard(0), Placement::replicate()},
      columns{Placement::replicate(), Placement::shard(0)};
  const auto graph =
      shardGraph(module, *mesh, {{{"x", rows}, {"w2", columns}, {"w1", {{}, Placement::shard(1)}}}, true});
  ASSERT_TRUE(graph) << graph.error().text();
  for (const GraphModule& rank : graph->ranks) EXPECT_EQ(rank.graph.placeholders().size(), 4U);
  EXPECT_NE(groupsOfMesh(*mesh, 0)[0].name, groupsOfMesh(*mesh, 1)[0].name);
  EXPECT_EQ(groupsOfMesh(*mesh, 0)[0].name, groupsOfMesh(*mesh, 2)[0].name);
}

/// Inputs that count, of the sizes that a graph says.
ValueList countingInputs(const GraphModule& module) {
  ValueList inputs;
  for (const NodeId id : module.graph.placeholders()) {
    const auto value = valueOf(module.graph.node(id).meta().value);
    inputs.emplace_back(counting(value->tensor().sizes(), 0.25 + 0.125 * double(inputs.size())));
  }
  return inputs;
}

/// The ranks' graphs give what the whole graph gives.
void expectValuesOfWhole(const GraphModule& module, const ShardedGraph& graph, const DeviceMesh& mesh) {
  const ValueList inputs = countingInputs(module);
  const auto whole = Interpreter(module, referenceOps()).run(inputs);
  const auto parts = runShardedGraph(graph, mesh, inputs);
  ASSERT_TRUE(whole) << whole.error().text();
  ASSERT_TRUE(parts) << parts.error().text();
  ASSERT_EQ(whole->list().size(), parts->size());
  for (std::size_t k = 0; k < parts->size(); ++k) {
    const Tensor &a = whole->list()[k].tensor(), &b = (*parts)[k].tensor();
    ASSERT_EQ(a.sizes(), b.sizes());
    for (std::int64_t i = 0; i < a.numel(); ++i) EXPECT_NEAR(a.itemAsDouble(i), b.itemAsDouble(i), 1e-4);
  }
}

const ShardedNode& nodeNamed(const ShardedGraph& graph, std::string_view name) {
  return *std::ranges::find(graph.nodes, name, &ShardedNode::name);
}

struct SizesAmongArguments {
  const char* graph;
  Sizes mesh;
  std::map<std::string, Placements> inputs;
  std::string placements;  ///< of node g
};

/// Ops whose arguments say sizes of whole tensors: they run as the steps that their strategy comes from.
TEST(ShardGraph, RunsOpsThatTakeSizesOfWholeTensors) {
  constexpr const char* groupNorm = R"py(class GraphModule(torch.nn.Module):
    def forward(self, x: "f32[8, 4, 5][20, 5, 1]cpu", w: "f32[4][1]cpu", b: "f32[4][1]cpu"):
        a = torch.ops.aten.native_group_norm.default(x, w, b, 8, 4, 5, 2, 1e-05)
        g = a[0]
        m = a[1]
        r = a[2]
        return (g, m, r)
)py";
  constexpr const char* gradient = R"py(class GraphModule(torch.nn.Module):
    def forward(self, d: "f32[8, 4, 5][20, 5, 1]cpu", x: "f32[8, 4, 5][20, 5, 1]cpu", m: "f32[8, 2][2, 1]cpu", r: "f32[8, 2][2, 1]cpu", w: "f32[4][1]cpu"):
        a = torch.ops.aten.native_group_norm_backward.default(d, x, m, r, w, 8, 4, 5, 2, [True, True, True])
        g = a[0]
        h = a[1]
        i = a[2]
        return (g, h, i)
)py";
  constexpr const char* shuffle = R"py(class GraphModule(torch.nn.Module):
    def forward(self, x: "f32[8, 5, 6][30, 6, 1]cpu"):
        g = torch.ops.aten.channel_shuffle.default(x, 5)
        return (g,)
)py";
  const Placements rows{Placement::shard(0)}, channels{Placement::shard(1)};
  const std::vector<SizesAmongArguments> cases{
      {groupNorm, {4}, {{"x", rows}}, "[S(0)]"},
      {groupNorm, {2}, {{"x", channels}}, ""},
      {groupNorm, {2}, {{"w", rows}}, ""},
      {groupNorm, {2, 2}, {{"x", {Placement::shard(0), Placement::shard(0)}}}, "[S(0), S(0)]"},
      {gradient, {4}, {{"x", rows}, {"d", rows}, {"m", rows}, {"r", rows}}, "[S(0)]"},
      {shuffle, {2}, {{"x", channels}}, "[S(1)]"},
      {shuffle, {4}, {{"x", rows}}, "[S(0)]"},
  };
  for (const SizesAmongArguments& one : cases) {
    const auto module = parseReadable(one.graph);
    ASSERT_TRUE(module) << module.error().text();
    const auto mesh = DeviceMesh::ofSizes(one.mesh);
    const auto graph = shardGraph(*module, *mesh, {one.inputs, false});
    ASSERT_TRUE(graph) << graph.error().text();
    const std::string asked = one.placements.empty() ? nodeNamed(*graph, "g").placements : one.placements;
    EXPECT_EQ(nodeNamed(*graph, "g").placements, asked);
    if (const ShardedNode& g = nodeNamed(*graph, "g"); g.target.ends_with("getitem")) {
      EXPECT_EQ(g.inputs, std::vector<std::string>{"a"});
    }
    expectValuesOfWhole(*module, *graph, *mesh);
  }
}

}  // namespace
}  // namespace kerf
