// What a joint graph passes on beside tensors of known size: symbolic sizes, floats, objects.
#include <gmock/gmock.h>

#include "engine/ir/parser.h"
#include "tests/support/graph_fixture.h"
#include "tests/support/partition_values.h"

namespace kerf {
namespace {

using namespace testing;
using ::testing::ElementsAre;
using testing_support::randomTensor;

using Names = std::vector<std::string>;

GraphModule parsed(const char* text) {
  auto module = parseReadable(text);
  EXPECT_TRUE(module) << module.error().text();
  return module ? std::move(*module) : GraphModule();
}

Partition partitioned(const GraphModule& module, PartitionMethod method = PartitionMethod::MinCut, double budget = 1) {
  PartitionOptions options;
  options.method = method;
  auto partition = partitionJoint(module, options, budget);
  EXPECT_TRUE(partition) << partition.error().text();
  return partition ? std::move(*partition) : Partition();
}

Names placeholdersOf(const GraphModule& module) {
  Names names;
  for (const NodeId id : module.graph.placeholders()) names.push_back(module.graph.node(id).name());
  return names;
}

/// The backward part views by a size, and by another that is computed of it.
constexpr const char* sized = R"py(class joint(torch.nn.Module):
    def forward(self, primals_1: "Sym(s0)", primals_2: "f32[s0, 4][4, 1]cpu", tangents_1: "f32[s0, 4][4, 1]cpu"):
        mul: "Sym(4*s0)" = primals_1 * 4
        sin: "f32[s0, 4][4, 1]cpu" = torch.ops.aten.sin.default(primals_2)
        cos: "f32[s0, 4][4, 1]cpu" = torch.ops.aten.cos.default(primals_2)
        mul_1: "f32[s0, 4][4, 1]cpu" = torch.ops.aten.mul.Tensor(tangents_1, cos)
        view: "f32[4*s0][1]cpu" = torch.ops.aten.view.default(mul_1, [mul])
        view_1: "f32[s0, 4][4, 1]cpu" = torch.ops.aten.view.default(view, [primals_1, 4])
        return [sin, None, view_1]
)py";

TEST(SymbolicSizes, ArePassedOnFirstAndComputedAgainWhereThatIsCheaper) {
  const GraphModule module = parsed(sized);
  const Partition cut = partitioned(module);
  EXPECT_THAT(cut.symbols, ElementsAre("primals_1"));
  EXPECT_TRUE(cut.backward.graph.find("mul")) << "computed there alone, since nothing else needs it";
  EXPECT_FALSE(cut.forward.graph.find("mul"));
  EXPECT_THAT(placeholdersOf(cut.backward), ElementsAre("primals_1", "primals_2", "tangents_1"));
  const Partition all = partitioned(module, PartitionMethod::Default);
  EXPECT_THAT(all.symbols, ElementsAre("primals_1", "mul"));
  EXPECT_TRUE(all.forward.graph.find("mul"));
}

TEST(SymbolicSizes, GiveTheValuesOfTheJointGraphAtEverySize) {
  const GraphModule module = parsed(sized);
  std::mt19937 random(5);
  for (const std::int64_t rows : {1, 3, 8}) {
    const ValueList inputs{rows, randomTensor(DType::Float32, {rows, 4}, random),
                           randomTensor(DType::Float32, {rows, 4}, random)};
    const RunValues expected = runJoint(module, inputs);
    for (const PartitionMethod method : {PartitionMethod::MinCut, PartitionMethod::Default})
      for (const double budget : {1.0, 0.4, 0.0})
        EXPECT_EQ(firstDifference(runPartition(module, partitioned(module, method, budget), inputs), expected), "");
  }
}

/// A tangent of a symbolic size needs its symbol, though no call reads it.
TEST(SymbolicSizes, OfTangentsBindTheirSymbols) {
  const GraphModule module = parsed(R"py(class joint(torch.nn.Module):
    def forward(self, primals_1: "Sym(s0)", primals_2: "f32[s0][1]cpu", tangents_1: "f32[s0][1]cpu"):
        neg: "f32[s0][1]cpu" = torch.ops.aten.neg.default(primals_2)
        neg_1: "f32[s0][1]cpu" = torch.ops.aten.neg.default(tangents_1)
        return [neg, None, neg_1]
)py");
  const Partition cut = partitioned(module);
  EXPECT_THAT(cut.symbols, ElementsAre("primals_1"));
  EXPECT_TRUE(cut.saved.empty());
}

/// Weighing next to nothing, but not banned: cheaper to save the integers that it is computed of only where both are.
TEST(SymbolicFloats, AreNeverBanned) {
  const GraphModule module = parsed(R"py(class joint(torch.nn.Module):
    def forward(self, primals_1: "Sym(s0)", primals_2: "f32[s0][1]cpu", tangents_1: "f32[s0][1]cpu"):
        sym_float: "Sym(ToFloat(s0))" = torch.sym_float(primals_1)
        div: "f32[s0][1]cpu" = torch.ops.aten.div.Tensor(primals_2, sym_float)
        div_1: "f32[s0][1]cpu" = torch.ops.aten.div.Tensor(tangents_1, sym_float)
        return [div, None, div_1]
)py");
  const auto joint = readJointGraph(module, {});
  ASSERT_TRUE(joint) << joint.error().text();
  const Bans bans = banNodes(*joint, {}, {});
  for (int place = 0; place < int(joint->nodes.size()); ++place) {
    if (joint->name(place) != "sym_float") continue;
    EXPECT_EQ(joint->nodes[std::size_t(place)].kind, SavedKind::SymFloat);
    EXPECT_FALSE(bans.banned(place));
  }
  const Partition cut = partitioned(module);
  EXPECT_THAT(cut.symbols, ElementsAre("primals_1"));
  EXPECT_THAT(cut.recomputed, ElementsAre("sym_float"));
}

TEST(OpaqueValues, ArePassedOnAndWeighNothing) {
  const GraphModule module = parsed(R"py(class joint(torch.nn.Module):
    def forward(self, primals_1: "f32[8][1]cpu", primals_2: "Reader", tangents_1: "f32[8][1]cpu"):
        sin: "f32[8][1]cpu" = torch.ops.aten.sin.default(primals_1)
        read: "f32[8][1]cpu" = torch.ops.mylib.read.default(tangents_1, primals_2)
        return [sin, read, None]
)py");
  for (const PartitionMethod method : {PartitionMethod::MinCut, PartitionMethod::Default}) {
    const Partition partition = partitioned(module, method);
    ASSERT_EQ(partition.saved.size(), 1u);
    EXPECT_EQ(partition.saved[0].name, "primals_2");
    EXPECT_EQ(partition.saved[0].bytes, 0);
    EXPECT_EQ(partition.savedBytes, 0);
    EXPECT_THAT(placeholdersOf(partition.backward), ElementsAre("primals_2", "tangents_1"));
  }
}

/// The backward part reads what an input held before the forward part wrote it.
constexpr const char* written = R"py(class joint(torch.nn.Module):
    def forward(self, primals_1: "f32[4, 4][4, 1]cpu", primals_2: "f32[4, 4][4, 1]cpu", tangents_1: "f32[4, 4][4, 1]cpu"):
        add: "f32[4, 4][4, 1]cpu" = torch.ops.aten.add.Tensor(primals_2, primals_1)
        mul: "f32[4, 4][4, 1]cpu" = torch.ops.aten.mul.Tensor(primals_1, primals_2)
        mul_1: "f32[4, 4][4, 1]cpu" = torch.ops.aten.mul.Tensor(tangents_1, primals_2)
        copy_: "f32[4, 4][4, 1]cpu" = torch.ops.aten.copy_.default(primals_2, add)
        return [mul, mul_1, None]
)py";

TEST(WrittenInputs, AreSavedAsTheyWere) {
  const GraphModule module = parsed(written);
  std::mt19937 random(9);
  ValueList inputs;
  for (int i = 0; i < 3; ++i) inputs.emplace_back(randomTensor(DType::Float32, {4, 4}, random));
  const RunValues expected = runJoint(module, inputs);
  for (const PartitionMethod method : {PartitionMethod::MinCut, PartitionMethod::Default}) {
    const Partition partition = partitioned(module, method);
    ASSERT_EQ(partition.saved.size(), 1u);
    EXPECT_EQ(partition.saved[0].name, "primals_2_saved");
    EXPECT_THAT(placeholdersOf(partition.backward), ElementsAre("primals_2_saved", "tangents_1"));
    EXPECT_EQ(firstDifference(runPartition(module, partition, inputs), expected), "");
  }
}

/// The write would go into the copy that the backward part is given.
TEST(WrittenInputs, MayNotBeWrittenThroughAViewWhereTheyAreSaved) {
  const auto partition = partitionJoint(parsed(R"py(class joint(torch.nn.Module):
    def forward(self, primals_1: "f32[2, 2][2, 1]cpu", tangents_1: "f32[2, 2][2, 1]cpu"):
        sin: "f32[2, 2][2, 1]cpu" = torch.ops.aten.sin.default(primals_1)
        view: "f32[4][1]cpu" = torch.ops.aten.view.default(primals_1, [4])
        view_1: "f32[4][1]cpu" = torch.ops.aten.view.default(sin, [4])
        mul: "f32[2, 2][2, 1]cpu" = torch.ops.aten.mul.Tensor(tangents_1, primals_1)
        copy_: "f32[4][1]cpu" = torch.ops.aten.copy_.default(view, view_1)
        return [sin, mul]
)py"));
  ASSERT_FALSE(partition);
  EXPECT_EQ(partition.error().code, ErrorCode::UnsupportedOp);
  EXPECT_EQ(partition.error().message,
            "copy_ writes primals_1 through a view, and the backward part reads it as it was");
}

/// Nothing says what a call reads that the graph, in another order, has written already.
TEST(WrittenInputs, MayNotBeReadBehindTheWrite) {
  const GraphModule module = parsed(R"py(class joint(torch.nn.Module):
    def forward(self, primals_1: "f32[4][1]cpu", tangents_1: "f32[4][1]cpu"):
        sin: "f32[4][1]cpu" = torch.ops.aten.sin.default(primals_1)
        copy_: "f32[4][1]cpu" = torch.ops.aten.copy_.default(primals_1, sin)
        cos: "f32[4][1]cpu" = torch.ops.aten.cos.default(primals_1)
        mul: "f32[4][1]cpu" = torch.ops.aten.mul.Tensor(tangents_1, cos)
        return [sin, mul]
)py");
  const auto partition = partitionJoint(module);
  ASSERT_FALSE(partition);
  EXPECT_EQ(partition.error().code, ErrorCode::BadInput);
  EXPECT_EQ(partition.error().message,
            "cos reads primals_1 behind copy_, which writes it: a joint graph writes inputs at its end alone");
}

}  // namespace
}  // namespace kerf
