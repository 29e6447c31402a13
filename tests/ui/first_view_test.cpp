// What is seen of a joint graph when it is opened: forward open from its output side, in a view of any size, also when
// another stage was shown before; and that nothing of a graph is listed any more once the next one could not be read.
#include <csignal>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QAction>
#include <QComboBox>
#include <QDir>
#include <QLabel>

#include "engine/support/recordings.h"
#include "tests/support/made_documents.h"
#include "tests/support/processes.h"
#include "tests/ui/window_fixture.h"
#include "ui/graph_view/elided_label.h"
#include "ui/graph_view/layered_layout.h"
#include "ui/panels/accuracy_panel.h"
#include "ui/panels/nodes_panel.h"
#include "ui/panels/plant_dialog.h"
#include "ui/panels/table_view.h"

namespace kerf::ui {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

const QSizeF smallView(735, 312), largeView(1257, 613);

GraphDocPtr madeJoint(int layers) {
  return std::make_shared<GraphDoc>(testing::makeDocument(testing::jointModel(layers)));
}

GraphDocPtr madeForward(int layers) {
  return std::make_shared<GraphDoc>(testing::makeDocument(testing::residualModel(layers)));
}

TEST(FirstView, OfAJointGraphHasForwardOpenInEveryView) {
  for (const auto& size : {smallView, largeView}) {
    const auto scene = layOutGraph(madeJoint(12), {.view = size}, {});
    ASSERT_TRUE(scene && scene->groups);
    EXPECT_THAT(scene->openPaths(), Contains("/forward"));
    EXPECT_GT(scene->cards.size(), 3u) << size.width();
  }
}

TEST(FirstView, OfAModelThatIsOneListOfLayersHasItsLayers) {
  for (const auto& size : {smallView, largeView}) {
    const auto scene = layOutGraph(madeJoint(40), {.view = size}, {});
    ASSERT_TRUE(scene && scene->groups);
    EXPECT_GT(scene->cards.size(), 40u) << "not three blocks";
    EXPECT_LE(scene->cards.size(), 60u);
    GraphWidget view;
    view.resize(size.toSize());
    view.setScene(scene);
    const auto last = std::ranges::find(scene->cards, QString("layers.39"), &SceneCard::title);
    ASSERT_NE(last, scene->cards.end());
    EXPECT_TRUE(QRectF(QPointF(), size).contains(view.cardRect(last->node))) << "the end of the list is seen";
  }
}

TEST(FirstView, AfterAStageWithoutBackwardIsAFreshOne) {
  const QSizeF tall(1257, 1400);
  const auto before = layOutGraph(madeForward(20), {.view = tall}, {});
  ASSERT_TRUE(before && before->groups);
  const auto joint = madeJoint(20);
  const auto scene = layOutGraph(joint, {.open = before->openPaths(), .view = tall}, {}, before);
  EXPECT_THAT(scene->openPaths(), Contains("/forward"));
  EXPECT_TRUE(scene->fresh);
  const auto back = layOutGraph(madeForward(20), {.open = scene->openPaths(), .view = tall}, {}, scene);
  EXPECT_THAT(back->openPaths(), Not(Contains("/forward")));
  EXPECT_TRUE(back->fresh);
  const auto again = layOutGraph(joint, {.open = scene->openPaths(), .view = tall}, {}, scene);
  EXPECT_FALSE(again->fresh) << "places stay within stages of one kind";
}

TEST(FirstView, BeginsAtWhatTheModelReturns) {
  const auto scene = layOutGraph(madeJoint(40), {.view = smallView}, {});
  GraphWidget view;
  view.resize(smallView.toSize());
  view.setScene(scene);
  ASSERT_GE(scene->focus, 0);
  const QRectF inside(QPointF(), smallView);
  EXPECT_TRUE(inside.contains(view.cardRect(scene->focus))) << "the focus is at " << view.cardRect(scene->focus).top();
  EXPECT_GT(view.zoom(), 0.33) << "cards can be read";
}

TEST(ElidedLabel, ShowsTheLongestFormThatFits) {
  ElidedLabel label;
  label.setForms({"gpt2  ›  a_long_name_of_a_log  ›  aot_joint_graph", "aot_joint_graph"});
  const auto wide = label.fontMetrics().horizontalAdvance(label.text()) + 4;
  label.resize(wide, 20);
  EXPECT_EQ(label.shownText(), label.text());
  label.resize(wide / 2, 20);
  EXPECT_EQ(label.shownText().toStdString(), "aot_joint_graph");
  label.resize(40, 20);
  EXPECT_TRUE(label.shownText().contains("…"));
  EXPECT_LE(label.minimumSizeHint().width(), 170);
}

class UnreadGraph : public Window {
 protected:
  std::string titleShown() { return m_window->pane().findChild<QLabel*>("stripTitle")->text().toStdString(); }
  QAbstractItemModel& listed() { return *m_window->nodesPanel().findChild<DataTable*>("nodes")->model(); }
};

TEST_F(UnreadGraph, LeavesNothingOfTheGraphBefore) {
  const QDir source(QString::fromStdString((recordingsFolder() / "variety/dynamic_mlp/trace").string()));
  const auto logs = source.entryList({"*.log"});
  if (logs.isEmpty()) GTEST_SKIP() << "no recordings";
  const QTemporaryDir folder;
  const auto copy = folder.filePath(logs.front());
  ASSERT_TRUE(QFile::copy(source.filePath(logs.front()), copy));
  open(copy);
  ASSERT_TRUE(session().graph()) << qPrintable(m_window->banner().text());
  ASSERT_GT(listed().rowCount(), 0);
  ASSERT_TRUE(QFile::remove(copy));
  for (const pid_t worker : kerf::test::workersOf(::getpid())) ::kill(worker, SIGKILL);
  const auto capture = session().location().capture;
  const int last = int(session().capture(capture)->graphs.size()) - 1;
  session().go({capture, last, Location::Stage::Captured, -1, {}});
  ASSERT_TRUE(test::waitFor([&] { return m_window->idle() && m_window->banner().isVisible(); }));
  EXPECT_FALSE(session().graph());
  EXPECT_FALSE(session().reading());
  EXPECT_EQ(listed().rowCount(), 0) << "nodes of the graph before";
  EXPECT_FALSE(m_window->pane().view().scene());
  EXPECT_EQ(titleShown(), session().capture(capture)->graphs[std::size_t(last)].name);
}

TEST_F(UnreadGraph, OffersNoFaultsOfTheGraphBefore) {
  EXPECT_EQ(PlantDialog(session()).op().count(), 1) << "nothing is open";
  openSample();
  EXPECT_GE(PlantDialog(session()).op().findData("relu"), 0);
  EXPECT_FALSE(PlantDialog(session()).op().isEditable()) << "no fault can be mistyped";
  m_window->accuracyPanel().plant().setPlant("relu=accuracy");
  m_window->actions()["reload"]->trigger();
  ASSERT_TRUE(test::waitFor([&] { return m_window->idle() && session().graph(); }));
  EXPECT_EQ(PlantDialog(session()).plant(), "relu=accuracy") << "what was chosen stays";
}

TEST_F(UnreadGraph, TheLegendStandsBelowThePictureAndCoversNothing) {
  openSample();
  const auto* legend = m_window->pane().findChild<QWidget*>("legend");
  ASSERT_TRUE(legend && legend->isVisible());
  EXPECT_FALSE(legend->geometry().intersects(m_window->pane().view().geometry()));
  EXPECT_THAT(legend->accessibleName().toStdString(), HasSubstr("Matmul"));
  m_window->actions()["colorAccuracy"]->trigger();
  EXPECT_THAT(legend->accessibleName().toStdString(), HasSubstr("beyond the limit"));
  m_window->actions()["colorKind"]->trigger();
}

}  // namespace
}  // namespace kerf::ui
