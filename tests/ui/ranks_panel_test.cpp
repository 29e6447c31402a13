// Ranks as lanes: what the panel says is what `kerf ranks` says of the folder, and a cell opens the rank's graph.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QJsonArray>
#include <QPushButton>
#include <QTextBrowser>
#include <QTreeWidget>

#include "engine/support/recordings.h"
#include "tests/support/rank_traces.h"
#include "tests/ui/window_fixture.h"
#include "ui/models/theme.h"
#include "ui/panels/ranks_panel.h"

namespace kerf::ui {
namespace {

using ::testing::HasSubstr;

constexpr int firstLane = 2;

class RankFolder : public Window {
 protected:
  void openFolder(const QString& folder) {
    open(folder);
    m_window->places().go(WorkPlace::Overview);
    ASSERT_TRUE(m_window->places().raise("ranks"));
    ASSERT_TRUE(test::waitFor([&] { return m_window->idle() && session().ranks(session().location().capture); }));
  }
  RanksPanel& panel() { return m_window->ranksPanel(); }
};

class RankLanes : public RankFolder {
 protected:
  void SetUp() override {
    Window::SetUp();
    m_traces = QString::fromStdString((recordingsFolder() / "distributed" / "trace").string());
    if (!QFile::exists(m_traces)) GTEST_SKIP() << "the recorded traces are not here";
  }
  void openRanks(const QString& name) {
    m_folder = m_traces + "/" + name;
    openFolder(m_folder);
  }
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

TEST_F(RankLanes, HaveTheColoursOfTheThemeThatIsShown) {
  m_mostGap = test::mostGapOfThemes();
  openRanks("cc_stride_mismatch");
  m_window->setTheme("light");
  QApplication::processEvents();
  for (const char* look : {"dark", "light"}) {
    const auto before = theme().text.name();
    m_heart.restart();  // one change of the theme at a time; how long it takes is RudeFiles' to ask
    m_window->setTheme(look);
    QApplication::processEvents();
    m_heart.restart();
    ASSERT_NE(theme().text.name(), before);
    EXPECT_EQ(panel().lanes().topLevelItem(0)->foreground(firstLane + 3).color(), theme().warn) << look;
    for (const char* name : {"ranksDetail", "overviewDetail"}) {
      const auto html = m_window->findChild<QTextBrowser*>(name)->toHtml();
      EXPECT_TRUE(html.contains(theme().text.name())) << name << " in " << look;
      EXPECT_FALSE(html.contains(before)) << name << " in " << look;
    }
  }
}

TEST_F(RankLanes, AreAllInViewInASmallWindow) {
  m_window->resize(1366, 768);
  openRanks("cc_stride_mismatch");
  auto& lanes = panel().lanes();
  const auto last = [&] {
    const int column = lanes.columnCount() - 1;
    return lanes.columnViewportPosition(column) + lanes.columnWidth(column);
  };
  EXPECT_LE(last(), lanes.viewport()->width());
  m_window->resize(1800, 1000);
  QApplication::processEvents();
  const int wide = lanes.columnWidth(firstLane);
  EXPECT_LE(last(), lanes.viewport()->width());
  m_window->resize(1366, 768);
  QApplication::processEvents();
  EXPECT_LE(last(), lanes.viewport()->width());
  EXPECT_LT(lanes.columnWidth(firstLane), wide);
  lanes.setColumnWidth(firstLane, 300);
  m_window->resize(1500, 800);
  QApplication::processEvents();
  EXPECT_EQ(lanes.columnWidth(firstLane), 300) << "the user's own";
}

/// The first difference of this recording is the second node, and its collective, "tensor", is in the same graph.
TEST_F(RankLanes, LeadToTheNodeWhereTheyPart) {
  openRanks("cc_tensor_branch");
  QTest::mouseClick(panel().findChild<QPushButton*>("goToFirstRankDifference"), Qt::LeftButton);
  ASSERT_TRUE(test::waitFor([&] { return m_window->idle() && session().location().node == "cos"; }));
  EXPECT_EQ(session().capture(session().location().capture)->graphs[std::size_t(session().location().graph)].rank, 2);
  auto& lanes = panel().lanes();
  emit lanes.itemActivated(lanes.topLevelItem(1), firstLane + 3);
  ASSERT_TRUE(test::waitFor([&] { return m_window->idle() && session().location().node == "tensor"; }));
  EXPECT_EQ(session().capture(session().location().capture)->graphs[std::size_t(session().location().graph)].rank, 3);
}

TEST_F(RankFolder, LeadsEachRankToItsOwnNodeStageAndGraph) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "lanes_apart";
  testing_support::writeRanksApart(folder);
  openFolder(QString::fromStdString(folder.string()));
  const int capture = session().location().capture;
  const int world = int(session().ranks(capture)->graphs.size());
  auto& lanes = panel().lanes();
  const auto goTo = [&](int rank) {
    emit lanes.itemActivated(lanes.topLevelItem(world), firstLane + rank);
    EXPECT_TRUE(test::waitFor([&] {
      return m_window->idle() &&
             session().capture(capture)->graphs[std::size_t(session().location().graph)].rank == rank;
    }));
    return std::size_t(session().location().graph);
  };
  const auto doc = session().capture(capture);
  const auto& graphs = doc->graphs;
  ASSERT_EQ(graphs.size(), 4U);
  goTo(1);
  EXPECT_EQ(session().location().node, "all_reduce_1");
  const std::size_t last = goTo(2);
  EXPECT_EQ(session().location().node, "all_reduce");
  EXPECT_EQ(graphs[last].stage, "aot_inference_graph");
  EXPECT_EQ(graphs[last - 1].rank, 2) << "the second of its graphs";
  goTo(0);
  EXPECT_EQ(session().location().node, "all_reduce");
}

TEST_F(RankFolder, AreThereWhenTheLogsAreGoneAndTheStoreHasThem) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "lanes_stored";
  testing_support::writeRanksApart(folder);
  openFolder(QString::fromStdString(folder.string()));
  const auto told = panel().headline();
  const int rows = panel().lanes().topLevelItemCount();
  const auto stored = test::cliJson({"import", QString::fromStdString(folder.string())});
  const auto name = stored["captures"].toArray()[0].toObject()["id"].toString();
  std::filesystem::remove_all(folder);
  openFolder(name);
  EXPECT_TRUE(session().capture(session().location().capture)->isStored());
  EXPECT_EQ(panel().headline(), told);
  EXPECT_EQ(panel().lanes().topLevelItemCount(), rows);
}

TEST_F(RankFolder, SayWhichTwoLogsAreOfOneRank) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "lanes_twice";
  testing_support::writeRanksApart(folder);
  std::filesystem::copy_file(folder / "rank1.log", folder / "rank1_again.log");
  openFolder(QString::fromStdString(folder.string()));
  EXPECT_THAT(panel().hint().toStdString(), HasSubstr("rank1.log and rank1_again.log are both of rank 1"));
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
  doc.culprits = {{{1}, {0, 3}, 1, "all_reduce", "barrier", {{{1}, "all_reduce"}}, false, 1}};
  const auto rows = laneRows(doc);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_FALSE(rows[0].isFirst);
  EXPECT_TRUE(rows[1].isFirst);
  EXPECT_EQ(rows[1].cells[1].text, "barrier");
  EXPECT_TRUE(rows[1].cells[1].blamed && rows[1].cells[1].differs);
  EXPECT_FALSE(rows[1].cells[2].blamed || rows[1].cells[2].differs);
  EXPECT_EQ(ranksHeadline(doc),
            "rank 1 issues barrier where ranks 0, 3 wait in collective 1, all_reduce. There is no file of rank 2.");
  EXPECT_TRUE(laneHtml(rows[1]).contains("Done last"));
  EXPECT_FALSE(laneHtml(rows[0]).contains("Done last"));
}

/// Numbers repeat where flight records stand beside traces: the row says which of them it is.
TEST(RankLaneRows, BlameTheRowAndNotItsNumber) {
  RankLanesDoc doc;
  doc.ranks = {0, 1};
  doc.timeline = {{0, "[0/0]", {{{0, 1}, "all_reduce"}}}, {0, "group 0", {{{0, 1}, "all_reduce (started)"}}}};
  doc.uncomparedMessages = 3;
  doc.culprits = {{{0, 1}, {0, 1}, 0, "all_reduce", "", {}, true, 1}};
  const auto rows = laneRows(doc);
  EXPECT_FALSE(rows[0].isFirst || rows[0].cells[0].blamed);
  EXPECT_TRUE(rows[1].isFirst && rows[1].cells[0].blamed);
  EXPECT_EQ(
      ranksHeadline(doc),
      "Collective 0, all_reduce, does not end: ranks 0, 1 wait in it. Messages that are not compared: 3, since the "
      "other end is in no record, or its record no longer holds its first entries.");
}

TEST(RankLaneRows, AreAsManyAsAWindowHoldsAroundTheFirstThatDoesNotMeet) {
  RankLanesDoc doc;
  for (int rank = 0; rank < 500; ++rank) doc.ranks.push_back(rank);
  doc.timeline.resize(10'000);
  for (int row = 0; row < 10'000; ++row) doc.timeline[std::size_t(row)] = {row, "[0/0]", {{doc.ranks, "all_reduce"}}};
  doc.culprits = {{{7}, {8}, 9'000, "all_reduce", "barrier", {}, false, 9'000}};
  const auto rows = laneRows(doc);
  ASSERT_EQ(rows.size(), 400U);
  const auto first = std::ranges::find(rows, true, &LaneRow::isFirst);
  ASSERT_NE(first, rows.end());
  EXPECT_EQ(first->number, "9000");
  EXPECT_TRUE(first->cells[7].blamed && !first->cells[8].blamed);
  EXPECT_TRUE(ranksHeadline(doc).endsWith(" 400 of 10000 collectives are listed."));
}

TEST(RankLaneRows, HaveThePlaceOfEachRank) {
  RankLanesDoc doc;
  doc.ranks = {0, 1, 2, 3};
  doc.timeline = {{0,
                   "[0/0]",
                   {{{0, 1, 2},
                     "all_reduce",
                     {{{0, 2}, "[0/0]", "aot_inference_graph", 0, "all_reduce"},
                      {{1}, "[1/0]", "inductor_post_grad_graph", 1, "all_reduce_1"}}},
                    {{3}, "nothing"}}}};
  const auto cells = laneRows(doc)[0].cells;
  ASSERT_EQ(cells.size(), 4U);
  const auto* places = doc.timeline[0].groups[0].places.data();
  EXPECT_EQ(cells[0].place, places);
  EXPECT_EQ(cells[1].place, places + 1);
  EXPECT_EQ(cells[2].place, places);
  EXPECT_EQ(cells[3].place, nullptr);
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
