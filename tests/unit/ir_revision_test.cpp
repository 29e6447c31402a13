// Revisions: every change of a graph or module gives a new one, nothing else does, and copies keep theirs.
#include <gtest/gtest.h>

#include "engine/ir/graph_module.h"

namespace kerf {
namespace {

constexpr const char* reluTarget = "torch.ops.aten.relu.default";

/// x, relu(x), dead = relu(x), late = relu(relu): the nodes that the mutators below work on.
struct Sample {
  Graph graph;
  NodeId x = graph.placeholder("x");
  NodeId relu = graph.callFunction(reluTarget, {x}, {}, "relu");
  NodeId dead = graph.callFunction(reluTarget, {x}, {}, "dead");
  NodeId late = graph.callFunction(reluTarget, {relu}, {}, "late");
  NodeId out = graph.output(Argument::tuple({late}));
};

struct Mutator {
  const char* name;
  void (*change)(Sample&);
};

const Mutator mutators[] = {
    {"placeholder", [](Sample& s) { s.graph.insertBefore(s.relu), s.graph.placeholder("y"); }},
    {"callFunction", [](Sample& s) { s.graph.insertBefore(s.out), s.graph.callFunction(reluTarget, {s.x}); }},
    {"callMethod", [](Sample& s) { s.graph.insertBefore(s.out), s.graph.callMethod("relu", {s.x}); }},
    {"callModule", [](Sample& s) { s.graph.insertBefore(s.out), s.graph.callModule("block", {s.x}); }},
    {"getAttr", [](Sample& s) { s.graph.insertBefore(s.out), s.graph.getAttr("w"); }},
    {"createNamed",
     [](Sample& s) { s.graph.insertBefore(s.out), s.graph.createNamed(Opcode::GetAttr, "w", {}, {}, "w"); }},
    {"setArgs", [](Sample& s) { s.graph.setArgs(s.late, {s.x}); }},
    {"setKwargs", [](Sample& s) { s.graph.setKwargs(s.late, {{"inplace", true}}); }},
    {"setTarget", [](Sample& s) { s.graph.setTarget(s.late, "torch.ops.aten.neg.default"); }},
    {"setMeta", [](Sample& s) { s.graph.setMeta(s.late, {}); }},
    {"setValueMeta", [](Sample& s) { s.graph.setValueMeta(s.late, {TensorMeta{}}); }},
    {"rename", [](Sample& s) { s.graph.rename(s.late, "other"); }},
    {"replaceInput", [](Sample& s) { s.graph.replaceInput(s.late, s.relu, s.x); }},
    {"replaceAllUsesWith", [](Sample& s) { s.graph.replaceAllUsesWith(s.relu, s.x); }},
    {"eraseNode", [](Sample& s) { EXPECT_TRUE(s.graph.eraseNode(s.dead)); }},
    {"moveBefore", [](Sample& s) { s.graph.moveBefore(s.dead, s.relu); }},
    {"eliminateDeadCode",
     [](Sample& s) { EXPECT_EQ(s.graph.eliminateDeadCode([](const Node&) { return false; }), 1u); }},
    {"topologicalSort",
     [](Sample& s) {
       s.graph.moveBefore(s.late, s.relu);
       const std::uint64_t moved = s.graph.revision();
       EXPECT_TRUE(s.graph.topologicalSort());
       EXPECT_NE(s.graph.revision(), moved);
     }},
    {"copyFrom",
     [](Sample& s) {
       std::unordered_map<NodeId, NodeId> map;
       s.graph.insertBefore(s.out);
       s.graph.copyFrom(Sample().graph, map);
     }},
};

TEST(Revision, EveryMutatorGivesANewOneAndLeavesCopiesAlone) {
  for (const auto& [name, change] : mutators) {
    Sample sample;
    const Graph copy = sample.graph;
    const std::uint64_t before = sample.graph.revision();
    ASSERT_EQ(copy.revision(), before) << name;
    change(sample);
    EXPECT_NE(sample.graph.revision(), before) << name;
    EXPECT_EQ(copy.revision(), before) << name;
    EXPECT_EQ(copy.contentHash(), Sample().graph.contentHash()) << name;
  }
}

TEST(Revision, StaysWhereNothingChanges) {
  Sample s;
  ASSERT_TRUE(s.graph.eraseNode(s.dead));
  const std::uint64_t before = s.graph.revision();
  EXPECT_EQ(s.graph.eliminateDeadCode([](const Node&) { return false; }), 0u);
  EXPECT_TRUE(s.graph.topologicalSort());
  EXPECT_TRUE(s.graph.lint());
  s.graph.insertBefore(s.relu);
  s.graph.insertAtEnd();
  s.graph.moveBefore(s.relu, s.relu);
  EXPECT_FALSE(s.graph.eraseNode(s.relu)) << "it has users";
  EXPECT_EQ(s.graph.revision(), before);
}

TEST(Revision, NoTwoGraphsShareOneUnlessTheyAreCopies) {
  EXPECT_NE(Sample().graph.revision(), Sample().graph.revision());
  Sample s;
  Graph copy = s.graph;
  copy.rename(s.late, "a");
  s.graph.rename(s.late, "a");
  EXPECT_EQ(copy.contentHash(), s.graph.contentHash());
  EXPECT_NE(copy.revision(), s.graph.revision());
  const Graph moved = std::move(copy);
  EXPECT_NE(copy.revision(), moved.revision());  // NOLINT(bugprone-use-after-move): what is left is no copy
}

TEST(Revision, OfAModuleSeesAttributesAndNestedGraphs) {
  GraphModule module;
  module.graph.output(module.graph.getAttr("w"));
  const ModuleRevision first = module.revision();
  EXPECT_EQ(GraphModule(module).revision(), first);
  module.attributes.add("w", {Tensor::scalar(1.0, DType::Float32), false, {}});
  const ModuleRevision second = module.revision();
  EXPECT_NE(second, first);
  module.submodules.add("m", {std::make_shared<GraphModule>(module), {}});
  const ModuleRevision third = module.revision();
  EXPECT_NE(third, second);
  EXPECT_EQ(module.attributes.eraseIf([](const auto& entry) { return entry.first == "none"; }), 0u);
  EXPECT_EQ(module.revision(), third);
  EXPECT_EQ(module.attributes.eraseIf([](const auto& entry) { return entry.first == "w"; }), 1u);
  EXPECT_NE(module.revision(), third);
}

TEST(NamedTable, CopiesShareUntilOneIsEdited) {
  NamedTable<int> table;
  table.add("a", 1);
  NamedTable<int> copy = table;
  EXPECT_EQ(copy.revision(), table.revision());
  copy.edit()[0].second = 2;
  EXPECT_NE(copy.revision(), table.revision());
  EXPECT_EQ(*table.find("a"), 1);
  EXPECT_EQ(*copy.find("a"), 2);
  EXPECT_EQ(copy.find("b"), nullptr);
  copy.clear();
  EXPECT_TRUE(copy.empty());
}

}  // namespace
}  // namespace kerf
