// Ranks as lanes: what the panel says is what `kerf ranks` says of the folder, and a cell opens the rank's graph.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QJsonArray>
#include <QPushButton>
#include <QTreeWidget>

#include "engine/support/recordings.h"
#include "tests/ui/window_fixture.h"
#include "ui/panels/ranks_panel.h"

namespace kerf::ui {
namespace {

using ::testing::HasSubstr;

constexpr int firstLane = 2;

class RankLanes : public Window {
 protected:
  void SetUp() override {
    Window::SetUp();
    m_traces = QString::fromStdString((recordingsFolder() / "distributed" / "trace").string());
    if (!QFile::exists(m_traces)) GTEST_SKIP() << "the recorded traces are not here";
  }
  void openRanks(const QString& name) {
    m_folder = m_traces + "/" + name;
    open(m_folder);
    m_window->places().go(WorkPlace::Overview);
    ASSERT_TRUE(m_window->places().raise("ranks"));
    ASSERT_TRUE(test::waitFor([&] { return m_window->idle() && session().ranks(session().location().capture); }));
  }
  RanksPanel& panel() { return m_window->ranksPanel(); }
  QString m_traces, m_folder;
};

TEST_F(RankLanes, HaveAColumnForEachRankAndWarnOfGraphsThatDiffer) {
  openRanks("cc_stride_mismatch");
  const auto told = test::cliJson({"ranks", m_folder});
  auto& lanes = panel().lanes();
  EXPECT_EQ(lanes.columnCount(), firstLane + 4);
  ASSERT_EQ(lanes.topLevelItemCount(), told["graphs"].toArray().size() + told["timeline"].toArray().size());
  const auto graph = told["graphs"].toArray()[0].toObject();
  EXPECT_THAT(lanes.topLevelItem(0)->text(1).toStdString(), HasSubstr(graph["stage"].toString().toStdString()));
  const auto groups = graph["groups"].toArray();
  EXPECT_EQ(lanes.topLevelItem(0)->text(firstLane), groups[0].toObject()["what"].toString());
  EXPECT_EQ(lanes.topLevelItem(0)->text(firstLane + 3), groups[1].toObject()["what"].toString());
  EXPECT_NE(lanes.topLevelItem(0)->foreground(firstLane), lanes.topLevelItem(0)->foreground(firstLane + 3));
  EXPECT_THAT(panel().detail().toStdString(), HasSubstr("ranks 2, 3"));
}

TEST_F(RankLanes, LeadToTheNodeOfTheRankThatDiffers) {
  openRanks("cc_stride_mismatch");
  QTest::mouseClick(panel().findChild<QPushButton*>("goToFirstRankDifference"), Qt::LeftButton);
  ASSERT_TRUE(test::waitFor([&] { return m_window->idle() && session().graph() && session().node() == 0; }));
  const auto capture = session().capture(session().location().capture);
  EXPECT_EQ(capture->graphs[std::size_t(session().location().graph)].rank, 2);
}

TEST_F(RankLanes, SayThatAllAgree) {
  openRanks("trace_fc_all_reduce_sum");
  EXPECT_EQ(panel().headline(), "All 4 ranks have the same graphs, and all collectives meet (1).");
  ASSERT_EQ(panel().lanes().topLevelItemCount(), 1);
  EXPECT_EQ(panel().lanes().topLevelItem(0)->text(firstLane + 2), "all_reduce of f32[4, 3], 'sum', '0'");
  EXPECT_FALSE(panel().findChild<QPushButton*>("goToFirstRankDifference")->isVisible());
}

TEST(RankLaneRows, BlameTheRanksWhoseCollectiveDoesNotMeet) {
  RankLanesDoc doc;
  doc.ranks = {0, 1, 3};
  doc.absent = {2};
  doc.timeline = {{0, "[0/0]", {{{0, 1, 3}, "all_reduce"}}}, {1, "[0/0]", {{{0, 3}, "all_reduce"}, {{1}, "barrier"}}}};
  doc.culprits = {{{1}, {0, 3}, 1, "all_reduce", "barrier", {{{1}, "all_reduce"}}}};
  const auto rows = laneRows(doc);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_FALSE(rows[0].isFirst);
  EXPECT_TRUE(rows[1].isFirst);
  EXPECT_EQ(rows[1].cells[1].text, "barrier");
  EXPECT_TRUE(rows[1].cells[1].blamed && rows[1].cells[1].differs);
  EXPECT_FALSE(rows[1].cells[2].blamed || rows[1].cells[2].differs);
  EXPECT_EQ(ranksHeadline(doc),
            "rank 1 issues barrier where ranks 0, 3 wait in collective 1, all_reduce. Of rank 2 there is no file.");
  EXPECT_TRUE(laneHtml(doc, rows[1]).contains("Done last"));
  EXPECT_FALSE(laneHtml(doc, rows[0]).contains("Done last"));
}

TEST(RankLaneRows, LeaveOutWhoHasNoPart) {
  RankLanesDoc doc;
  doc.ranks = {0, 1};
  doc.timeline = {{0, "[0/0]", {{{1}, "send"}}}};
  const auto rows = laneRows(doc);
  EXPECT_EQ(rows[0].cells[0].text, "—");
  EXPECT_FALSE(rows[0].cells[0].differs || rows[0].cells[1].differs);
}

TEST_F(RankLanes, AreNotOfferedForOneRank) {
  openSample();
  EXPECT_FALSE(m_window->places().buttonOf("ranks")->isVisible());
}

}  // namespace
}  // namespace kerf::ui
