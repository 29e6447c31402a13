// Documents of AOTAutograd's stages: graphs, rows before the passes, backward nodes.
#include "app/workbench/workbench.h"
#include "tests/support/workbench_fixture.h"

namespace kerf::workbench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

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
  ASSERT_THAT(stageRowNames(passes),
              ElementsAre("aten", "functional", "joint", "joint, inductor decompositions"));
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

}  // namespace
}  // namespace kerf::workbench
