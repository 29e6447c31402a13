// Documents of AOTAutograd's stages: graphs, rows before the passes, backward nodes.
#include "app/workbench/workbench.h"
#include "engine/support/recordings.h"
#include "tests/support/workbench_fixture.h"

namespace kerf::workbench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class StageDocumentTest : public WorkbenchTest {
 protected:
  template <class Request>
  typename Request::Answer ask(const Request& request) {
    auto answer = bench().perform(request);
    if (!answer) throw std::runtime_error(answer.error().text());  // the test ends here, with this message
    return std::move(*answer);
  }
  GraphAddress at(const std::string& stage) const {
    GraphAddress address{sample, 0};
    address.stage = stage;
    return address;
  }
  Workbench& bench() {
    if (!m_bench) m_bench = std::make_unique<Workbench>(WorkbenchOptions{store(), kerf, 4});
    return *m_bench;
  }
  std::unique_ptr<Workbench> m_bench;
};

std::vector<std::string> stageRowNames(const std::vector<PassDoc>& passes) {
  std::vector<std::string> names;
  for (const PassDoc& pass : passes)
    if (pass.stage == "aot") names.push_back(pass.name);
  return names;
}

TEST_F(StageDocumentTest, AGraphIsShownAsEachStage) {
  const auto captured = ask(GraphRequest{at("")}), functional = ask(GraphRequest{at("functional")});
  const auto joint = ask(GraphRequest{at("joint")}), decomposed = ask(GraphRequest{at("joint/inductor")});
  EXPECT_EQ(captured->title, "forward");
  EXPECT_EQ(functional->title, "forward (functional)");
  EXPECT_EQ(joint->title, "forward (joint)");
  EXPECT_EQ(decomposed->title, "forward (joint, inductor decompositions)");
  EXPECT_EQ(captured->nodes.size(), 94u);
  EXPECT_GT(joint->nodes.size(), 200u);
  EXPECT_GT(decomposed->nodes.size(), joint->nodes.size());
  EXPECT_EQ(ask(GraphRequest{{sample + "@stage:joint"}})->hash, joint->hash);
}

TEST_F(StageDocumentTest, BackwardNodesNameTheirForwardNode) {
  const auto joint = ask(GraphRequest{at("joint")});
  const auto backward = std::ranges::find(joint->nodes, "threshold_backward", &NodeDoc::op);
  ASSERT_NE(backward, joint->nodes.end());
  EXPECT_TRUE(backward->backward);
  EXPECT_EQ(backward->forwardNode, "relu");
  const auto& relu = joint->nodes[std::size_t(joint->find("relu"))];
  EXPECT_FALSE(relu.backward);
  EXPECT_EQ(relu.forwardNode, "");
}

TEST_F(StageDocumentTest, PassesBeginWithTheStages) {
  const auto compiled = ask(CompileRequest{at("joint/inductor")});
  EXPECT_EQ(compiled->error, "");
  const auto& passes = compiled->passes;
  ASSERT_THAT(stageRowNames(passes), ElementsAre("aten", "functional", "joint", "joint, inductor decompositions"));
  for (std::size_t i = 0; i < passes.size(); ++i) EXPECT_EQ(passes[i].index, int(i));
  EXPECT_EQ(passes[0].nodesBefore, 94);
  for (std::size_t i = 1; i < passes.size(); ++i) EXPECT_EQ(passes[i].nodesBefore, passes[i - 1].nodesAfter) << i;
  EXPECT_EQ(int(passes[2].added.size() - passes[2].removed.size()), passes[2].nodesAfter - passes[2].nodesBefore);
  EXPECT_THAT(stageRowNames(ask(CompileRequest{at("aten")})->passes), ElementsAre("aten"));
  EXPECT_TRUE(stageRowNames(ask(CompileRequest{at("")})->passes).empty());
}

TEST_F(StageDocumentTest, AGraphAfterARowIsWhatTheRowSays) {
  const auto passes = ask(CompileRequest{at("joint/inductor")})->passes;
  ASSERT_GT(passes.size(), 5u);
  for (const int row : {0, 1, 2, 3, 4, int(passes.size()) - 1}) {
    const auto graph = ask(GraphRequest{at("joint/inductor"), row});
    EXPECT_EQ(int(graph->nodes.size()), passes[std::size_t(row)].nodesAfter) << row;
  }
  EXPECT_EQ(ask(GraphRequest{at("joint/inductor"), 2})->hash, ask(GraphRequest{at("joint")})->hash);
  EXPECT_EQ(ask(GraphRequest{at("joint/inductor"), 4})->title,
            "forward (joint, inductor decompositions) after " + passes[4].name);
  const auto none = bench().perform(GraphRequest{at("joint/inductor"), int(passes.size())});
  EXPECT_EQ(none.error().code, ErrorCode::NotFound);
}

TEST_F(StageDocumentTest, TracesOfPassesHaveTheStagesWhicheverWayTheyAreAskedFor) {
  const auto byField = ask(PassesRequest{at("functional")});
  const auto byText = ask(PassesRequest{{sample + "@stage:functional"}});
  EXPECT_THAT(stageRowNames(byField.passes), ElementsAre("aten", "functional"));
  EXPECT_THAT(stageRowNames(byText.passes), ElementsAre("aten", "functional"));
  for (const PassDoc& pass : byField.passes)
    EXPECT_NE(std::ranges::find(byField.snapshots, pass.hashAfter, &SnapshotDoc::hash), byField.snapshots.end())
        << pass.name;
}

TEST_F(StageDocumentTest, AStageThatThereIsNotIsBadUsage) {
  const auto graph = bench().perform(GraphRequest{at("jointly")});
  ASSERT_FALSE(graph);
  EXPECT_EQ(graph.error().code, ErrorCode::BadUsage);
  EXPECT_THAT(graph.error().text(), HasSubstr("jointly"));
}

TEST_F(StageDocumentTest, EveryPassThatChangedTheGraphHasItsDifference) {
  const auto passes = ask(CompileRequest{at("joint")})->passes;
  const auto differences = ask(PassDifferencesRequest{at("joint")});
  std::vector<int> changed, told;
  for (const PassDoc& pass : passes)
    if (pass.changed || pass.stage == "aot") changed.push_back(pass.index);
  for (const PassDifference& difference : differences) told.push_back(difference.pass);
  EXPECT_EQ(told, changed);
  for (const PassDifference& each : differences) {
    const PassDoc& pass = passes[std::size_t(each.pass)];
    EXPECT_EQ(each.difference.nodesBefore, pass.nodesBefore) << pass.name;
    EXPECT_EQ(each.difference.nodesAfter, pass.nodesAfter) << pass.name;
    EXPECT_EQ(each.difference.same, !pass.changed) << pass.name;
  }
}

TEST_F(StageDocumentTest, AGraphAloneIsItsOnlyRecordedStage) {
  const auto recorded = ask(RecordedStagesRequest{sample, 0});
  ASSERT_EQ(recorded.stages.size(), 1u);
  EXPECT_EQ(recorded.stages[0].nodes, 94);
  EXPECT_EQ(recorded.stages[0].parent, -1);
  EXPECT_FALSE(recorded.stages[0].changes.any());
  EXPECT_TRUE(recorded.code.empty());
  EXPECT_EQ(bench().perform(RecordedStagesRequest{sample, 1}).error().code, ErrorCode::NotFound);
}

TEST_F(StageDocumentTest, RecordedStagesSayHowFarEachIsFromTheOneBefore) {
  const fs::path trace = recordingsFolder() / "variety/dynamic_mlp/trace";
  if (!fs::exists(trace)) GTEST_SKIP() << trace << " is left out of the recordings";
  const auto index = ask(OpenRequest{trace.string()}).front();
  const auto post = std::ranges::find(index.graphs, "inductor_post_grad_graph", &GraphEntry::stage);
  ASSERT_NE(post, index.graphs.end());
  const auto recorded = ask(RecordedStagesRequest{index.name, int(post - index.graphs.begin())});
  ASSERT_GT(recorded.stages.size(), 6u);
  EXPECT_EQ(recorded.stages[0].title, "Dynamo");
  EXPECT_GT(recorded.stages[0].milliseconds, 0);
  bool backward = false;
  for (const RecordedStageDoc& stage : recorded.stages) {
    EXPECT_EQ(stage.failure, "") << stage.name;
    EXPECT_LT(stage.parent, int(&stage - recorded.stages.data())) << stage.name;
    EXPECT_TRUE(!backward || stage.part == "backward") << stage.name << " stands behind the backward part";
    backward |= stage.part == "backward";
    if (stage.parent < 0) continue;
    const auto& before = recorded.stages[std::size_t(stage.parent)];
    const auto difference = ask(DiffRequest{{index.name, before.graph}, {index.name, stage.graph}});
    EXPECT_EQ(stage.changes.added, int(difference.added.size())) << stage.name;
    EXPECT_EQ(stage.changes.removed, int(difference.removed.size())) << stage.name;
  }
  EXPECT_TRUE(backward);
  ASSERT_EQ(recorded.code.size(), 2u);
  EXPECT_EQ(recorded.code[0].part, "forward");
  EXPECT_EQ(recorded.stages[std::size_t(recorded.code[1].parent)].part, "backward");
  EXPECT_GT(recorded.code[0].kernels, 0);
}

}  // namespace
}  // namespace kerf::workbench
