// Groups: by modules, by repeated blocks, without cycles; what is opened.
#include <algorithm>

#include <functional>
#include <map>
#include <set>
#include <string>

#include <gmock/gmock.h>

#include "tests/support/cpu_time.h"
#include "tests/support/made_documents.h"
#include "ui/layout/acyclic_parts.h"
#include "ui/layout/fold_repeats.h"
#include "ui/layout/group_tree.h"
#include "ui/layout/repeats.h"

namespace kerf::ui {
namespace {

using ::testing::ElementsAre;
using testing::MadeCall, testing::residualModel;
using workbench::GraphDoc;

std::vector<std::string> namesIn(const GroupTree& tree, int group) {
  std::vector<std::string> names;
  for (const int inner : tree.groups[std::size_t(group)].groups) names.push_back(tree.groups[std::size_t(inner)].name);
  return names;
}

/// Whether the items of any group (its nodes and the groups in it) feed each other in a circle.
bool hasCycle(const GraphDoc& graph, const GroupTree& tree) {
  for (int group = 0; group < int(tree.groups.size()); ++group) {
    std::map<int, std::set<int>> next;
    const auto itemOf = [&](int node) {
      int at = tree.groupOf[std::size_t(node)], below = ~node;
      for (; at >= 0 && at != group; at = tree.groups[std::size_t(at)].parent) below = at;
      return std::pair(at == group, below);
    };
    for (int i = 0; i < int(graph.nodes.size()); ++i)
      for (const int input : graph.nodes[std::size_t(i)].inputs) {
        if (graph.nodes[std::size_t(input)].kind == workbench::NodeKind::Input) continue;
        const auto [hereTo, to] = itemOf(i);
        const auto [hereFrom, from] = itemOf(input);
        if (hereTo && hereFrom && from != to) next[from].insert(to);
      }
    std::map<int, int> state;
    const std::function<bool(int)> circles = [&](int item) {
      if (state[item] == 2) return false;
      if (state[item] == 1) return true;
      state[item] = 1;
      for (const int to : next[item])
        if (circles(to)) return true;
      state[item] = 2;
      return false;
    };
    for (const auto& [item, to] : next)
      if (circles(item)) return true;
  }
  return false;
}

TEST(Modules, AreNamedByTheParametersThatCallsUse) {
  const auto graph = testing::makeDocument(residualModel(3));
  const auto paths = inferModules(graph);
  EXPECT_EQ(paths[std::size_t(graph.find("m1"))], "layers.1.fc");
  EXPECT_EQ(paths[std::size_t(graph.find("v1"))], "layers.1.fc");  // on the same line
  EXPECT_EQ(paths[std::size_t(graph.find("r1"))], "layers.1");
  EXPECT_EQ(paths[std::size_t(graph.find("a1"))], "layers.1");  // between two blocks: the end of the first
}

TEST(Groups, AreTheRepeatedBlocksOfAModel) {
  const auto graph = testing::makeDocument(residualModel(12));
  const auto tree = buildGroups(graph);
  const auto layers = std::ranges::find(tree.groups, 12, &NodeGroup::alike);
  ASSERT_NE(layers, tree.groups.end());
  const auto names = namesIn(tree, int(layers - tree.groups.begin()));
  ASSERT_EQ(names.size(), 12u);
  EXPECT_EQ(names[3], "layers.3");
  for (const int block : layers->groups) EXPECT_EQ(tree.groups[std::size_t(block)].ops, 6);
  EXPECT_EQ(graph.nodes[std::size_t(tree.groups[std::size_t(layers->groups[3])].result)].name, "c3");
  EXPECT_FALSE(hasCycle(graph, tree));
}

/// An embedding of six calls, `layers` blocks of six, a head of six; with `odd`, one block has a call of another op.
/// Embedding and head lie beside the blocks, or `outside` of their list.
std::vector<MadeCall> stackedModel(int layers, int odd = -1, bool outside = false, int each = 6) {
  std::vector<MadeCall> calls{{"x", "", {}, "", 0}};
  const auto add = [&](const std::string& module, const std::string& mark, const char* op) {
    for (int k = 0; k < each; ++k) {
      const int last = int(calls.size()) - 1;
      calls.push_back({mark + std::to_string(k), k == 3 ? op : "add", {last, std::max(0, last - k)}, module, 0});
    }
  };
  add(outside ? "embed" : "h.embed", "e", "embedding");
  for (int i = 0; i < layers; ++i)
    add("h." + std::to_string(i), "h" + std::to_string(i) + "_", i == odd ? "tanh" : "mul");
  add(outside ? "head" : "h.head", "o", "mm");
  return calls;
}

TEST(FoldRepeats, MakesOneGroupOfAlikeBlocks) {
  const auto graph = testing::makeDocument(stackedModel(12));
  const auto tree = foldRepeats(graph, buildGroups(graph));
  const int run = tree.find("/h.*");
  ASSERT_GE(run, 0);
  const auto& folded = tree.groups[std::size_t(run)];
  EXPECT_EQ(folded.name, "h.0 … 11");
  EXPECT_EQ(folded.alike, 12);
  EXPECT_EQ(folded.ops, 72);
  EXPECT_EQ(graph.nodes[std::size_t(folded.result)].name, "h11_5");
  EXPECT_THAT(namesIn(tree, 0), ElementsAre("embed", "h.0 … 11", "head"));
  ASSERT_EQ(folded.groups.size(), 12u);
  EXPECT_EQ(tree.groups[std::size_t(folded.groups[7])].path, "/h.7") << "as without the fold";
  for (int i = 1; i < int(tree.groups.size()); ++i) EXPECT_LT(tree.groups[std::size_t(i)].parent, i);
  for (std::size_t i = 0; i < graph.nodes.size(); ++i)
    EXPECT_EQ(std::ranges::count(tree.groups[std::size_t(tree.groupOf[i])].nodes, int(i)), 1) << graph.nodes[i].name;
  EXPECT_FALSE(hasCycle(graph, tree));
}

TEST(FoldRepeats, LeavesOutABlockThatDiffersAndShortRuns) {
  const auto graph = testing::makeDocument(stackedModel(8, 5));
  const auto tree = foldRepeats(graph, buildGroups(graph));
  EXPECT_THAT(namesIn(tree, 0), ElementsAre("embed", "h.0 … 4", "h.5", "h.6", "h.7", "head"));
  EXPECT_FALSE(hasCycle(graph, tree));
}

TEST(FoldRepeats, LeavesAListThatIsAGroupOfItsOwn) {
  const auto graph = testing::makeDocument(stackedModel(12, -1, true));
  const auto tree = foldRepeats(graph, buildGroups(graph));
  EXPECT_THAT(namesIn(tree, 0), ElementsAre("embed", "h", "head"));
  const auto& list = tree.groups[std::size_t(tree.find("/h"))];
  EXPECT_EQ(list.alike, 12);
  EXPECT_EQ(list.groups.size(), 12u) << "its card says the same as a run would";
}

TEST(FoldRepeats, FoldsWithinAListWhereABlockDiffers) {
  const auto graph = testing::makeDocument(stackedModel(8, 5, true));
  const auto tree = foldRepeats(graph, buildGroups(graph));
  EXPECT_THAT(namesIn(tree, tree.find("/h")), ElementsAre("h.0 … 4", "h.5", "h.6", "h.7"));
  EXPECT_FALSE(hasCycle(graph, tree));
}

TEST(FoldRepeats, TakesCallsBetweenTheBlocksAlong) {
  auto calls = stackedModel(4, -1, false, 7);
  for (auto& call : calls)
    if (call.name.starts_with("h") && call.name.ends_with("_6"))
      call.module = "h";  // the last of a block is no part of it
  const auto graph = testing::makeDocument(calls);
  const auto tree = foldRepeats(graph, buildGroups(graph));
  EXPECT_FALSE(hasCycle(graph, tree));
  const int run = tree.find("/h.*");
  ASSERT_GE(run, 0);
  EXPECT_EQ(tree.groups[std::size_t(run)].alike, 4);
  EXPECT_GE(tree.groups[std::size_t(run)].nodes.size(), 3u);
}

TEST(Groups, OfNamelessGraphsAreBlocksThatComeAgain) {
  auto calls = residualModel(16);
  for (auto& call : calls) call.module.clear();
  const auto graph = testing::makeDocument(calls);
  const auto tree = buildGroups(graph);
  EXPECT_EQ(std::ranges::count_if(tree.groups, [](const NodeGroup& group) { return group.name.starts_with("block "); }),
            0)
      << "blocks of six calls are shorter than what counts as a block";
  std::vector<MadeCall> longer{{"x", "", {}, "", 0}};
  const std::vector<std::string> ops{"mm", "add", "relu", "mul", "view", "exp", "sum", "sub", "neg", "cos"};
  for (int i = 0; i < 100; ++i)
    longer.push_back({"n" + std::to_string(i), ops[std::size_t(i % 10)], {i}, "", i % 10 + 1});
  for (const bool own : {false, true}) {  // each call on a line of its own says as little as no lines
    for (int i = 0; i < 100; ++i) longer[std::size_t(i) + 1].line = own ? i + 1 : 0;
    EXPECT_EQ(buildGroups(testing::makeDocument(longer)).groups[0].alike, 10);
  }
  const auto blocks = buildGroups(testing::makeDocument(longer));
  EXPECT_EQ(blocks.groups[0].alike, 10);
  EXPECT_EQ(namesIn(blocks, 0)[7], "block 7");
}

TEST(Groups, FormNoCycleWhereModulesInterleave) {
  std::vector<MadeCall> calls{{"x", "", {}, "", 0}};
  for (int i = 0; i < 40; ++i)  // five calls of one module, five of the other, and so on
    calls.push_back({"n" + std::to_string(i), "relu", {i}, i / 5 % 2 == 0 ? "left" : "right", 0});
  const auto graph = testing::makeDocument(calls);
  const auto tree = buildGroups(graph);
  EXPECT_EQ(tree.groups.size(), 9u);  // the graph and eight runs
  EXPECT_FALSE(hasCycle(graph, tree));
}

TEST(Groups, SplitAJointGraphAtItsTangents) {
  const auto calls = testing::jointModel(6);
  const auto graph = testing::makeDocument(calls);
  const auto tree = buildGroups(graph);
  EXPECT_THAT(namesIn(tree, 0), ElementsAre("forward", "backward"));
  const auto paths = inferModules(graph);
  EXPECT_EQ(paths[std::size_t(graph.find("g4"))], "backward.layers.4");
  EXPECT_EQ(paths[std::size_t(graph.find("h4"))], "backward.layers.4.fc");
  EXPECT_FALSE(hasCycle(graph, tree));
  EXPECT_TRUE(tree.groups[std::size_t(tree.groups[0].groups[1])].backward);
}

TEST(Modules, OfASharedWeightAreNamedByTheSourceLine) {
  auto graph = testing::makeDocument({{"ids", "", {}, "", 0},
                                      {"w", "", {}, "model.wte", 0},
                                      {"embedding", "embedding", {1, 0}, "", 5},
                                      {"permute", "permute", {1}, "", 9},
                                      {"mm", "mm", {2, 3}, "", 9}});
  for (const char* name : {"permute", "mm"})
    graph.nodes[std::size_t(graph.find(name))].stackTrace = "File: model.py:9 in forward, code: out = self.lm_head(x)";
  const auto paths = inferModules(graph);
  EXPECT_EQ(paths[std::size_t(graph.find("embedding"))], "model.wte");
  EXPECT_EQ(paths[std::size_t(graph.find("permute"))], "lm_head");
  EXPECT_EQ(paths[std::size_t(graph.find("mm"))], "lm_head");
}

TEST(Modules, AreReadFromNamesOfWeightsWhereNothingElseIsKnown) {
  auto graph = testing::makeDocument({{"p_layers_3_self_attn_q_weight", "", {}, "", 0},
                                      {"blocks_1_fc_weight", "", {}, "", 0},
                                      {"mm", "mm", {0}, "", 0},
                                      {"add", "add", {2, 1}, "", 0}});
  graph.nodes[1].kind = workbench::NodeKind::Parameter;
  graph.nodes[1].target = "blocks.1.fc.weight";
  const auto paths = inferModules(graph);
  EXPECT_EQ(paths[2], "layers.3.self_attn_q");
  EXPECT_EQ(paths[3], "blocks.1.fc");
}

TEST(Groups, AreKernelsWhereTheseAreAskedFor) {
  const auto graph = testing::makeDocument({{"x", "", {}, "", 0},
                                            {"a", "relu", {0}, "m.one", 0},
                                            {"b", "exp", {1}, "m.two", 0},
                                            {"c", "mm", {2}, "m.two", 0},
                                            {"d", "neg", {3}, "m.two", 0}});
  const std::vector<std::string> kernels{"", "fused_relu_exp", "fused_relu_exp", "", "fused_neg"};
  const auto tree = buildGroups(graph, &kernels);
  EXPECT_THAT(namesIn(tree, 0), ElementsAre("fused_relu_exp")) << "one call alone is no group";
  EXPECT_EQ(tree.groups[1].nodes, (std::vector<int>{0, 1, 2})) << "with the input of its first call";
}

TEST(Groups, LeaveTheOutputOutside) {
  std::vector<MadeCall> calls{{"x", "", {}, "", 0}};
  for (int i = 0; i < 200; ++i) calls.push_back({"n" + std::to_string(i), "add", {i, i}, "", 0});
  calls.push_back({"output", "output", {200}, "", 0});
  const auto graph = testing::makeDocument(calls);
  const auto tree = buildGroups(graph);
  EXPECT_GT(tree.groups.size(), 2u);
  EXPECT_EQ(tree.groupOf[std::size_t(graph.find("output"))], 0);
}

TEST(OpenLevels, AsksForForwardFirstAndForAllOfOneFormAtOnce) {
  const auto graph = testing::makeDocument(testing::jointModel(6));
  const auto tree = buildGroups(graph);
  std::vector<std::string> asked;
  openLevels(tree, [&](const std::vector<int>& groups) {
    asked.push_back(tree.groups[std::size_t(groups.front())].name + " " + std::to_string(groups.size()));
    return true;
  });
  ASSERT_GE(asked.size(), 3u);
  EXPECT_EQ(asked[0], "forward 1");
  EXPECT_EQ(asked[1], "backward 1");
  EXPECT_EQ(asked[2], "layers.0 6");
}

TEST(OpenToFit, OpensAllBlocksOfOneFormOrNone) {
  const auto tree = buildGroups(testing::makeDocument(residualModel(12)));
  const auto open = openToFit(tree, 40, 10);
  int blocks = 0;
  for (std::size_t i = 0; i < tree.groups.size(); ++i) blocks += open[i] && tree.groups[i].ops == 6;
  EXPECT_EQ(blocks, 0);  // twelve times five more cards do not fit
  const auto all = openToFit(tree, 4000, 10);
  EXPECT_EQ(std::ranges::count(all, 1), std::ssize(all));
  const auto small = openToFit(tree, 1, 4000);
  EXPECT_EQ(std::ranges::count(small, 1), std::ssize(small));
}

TEST(Groups, OfFiftyThousandCallsTakeLittleTime) {
  std::vector<MadeCall> calls{{"x", "", {}, "", 0}};
  for (int i = 0; i < 50'000; ++i) calls.push_back({"n" + std::to_string(i), "add", {i, std::max(0, i - 7)}, "", 0});
  const auto graph = testing::makeDocument(calls);
  GroupTree tree;
  EXPECT_LT(testing::cpuSecondsOf([&] { tree = buildGroups(graph); }), 2 * testing::slowdown);
  const auto open = openToFit(tree, 60, 120);
  int visible = 0;
  for (std::size_t i = 0; i < tree.groups.size(); ++i)
    if (open[i])
      visible +=
          int(tree.groups[i].nodes.size()) +
          int(std::ranges::count_if(tree.groups[i].groups, [&](int inner) { return !open[std::size_t(inner)]; }));
  EXPECT_GT(visible, 5);
  EXPECT_LT(visible, 400);
}

}  // namespace
}  // namespace kerf::ui
