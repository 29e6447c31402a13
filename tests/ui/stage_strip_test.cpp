// The stage strip: recorded stages and Kerf's passes, scrubbed by keyboard and mouse; what changed in picture, table
// and text; graphs compared by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QCheckBox>
#include <QDialog>
#include <QLineEdit>
#include <QListWidget>
#include <QMimeData>
#include <QToolButton>
#include <QTreeView>

#include "engine/support/recordings.h"
#include "tests/ui/window_fixture.h"
#include "ui/models/capture_tree_model.h"
#include "ui/panels/captures_panel.h"
#include "ui/panels/changes_panel.h"
#include "ui/panels/difference_panel.h"
#include "ui/panels/stage_strip.h"

namespace kerf::ui {
namespace {

using ::testing::HasSubstr;

class StripWindow : public Window {
 protected:
  void settle() {
    ASSERT_TRUE(test::waitFor([&] { return m_window->idle(); }));
  }
  StageLanes& lanes() { return m_window->stageStrip().lanes(); }
  void press(Qt::Key key) {
    QTest::keyClick(&lanes(), key);
    settle();
  }
  void click(int lane, int cell) {
    const auto rect = lanes().cellRect(lane, cell);
    ASSERT_FALSE(rect.isEmpty());
    QTest::mouseClick(&lanes(), Qt::LeftButton, {}, rect.center());
    settle();
  }
  std::vector<std::string> titles(int lane) {
    std::vector<std::string> names;
    for (const auto& cell : lanes().lanes()[std::size_t(lane)].cells)
      names.push_back(((cell.part.isEmpty() ? "" : cell.part + " ") + cell.title).toStdString());
    return names;
  }
  /// The sample's joint graph, which Kerf's passes change.
  void openJoint() {
    openSample();
    m_window->actions()["stage3"]->trigger();
    settle();
    ASSERT_EQ(session().location().aotStage, "joint");
    ASSERT_TRUE(test::waitFor([&] { return lanes().lanes().size() == 1u && lanes().lanes()[0].cells.size() > 2u; }));
    lanes().setFocus();
    press(Qt::Key_Home);
  }
  const StageCell& current(int lane) {
    const auto& shown = lanes().lanes()[std::size_t(lane)];
    return shown.cells[std::size_t(shown.current)];
  }
  /// A recording of a training step with all of PyTorch's stages.
  QString training() { return QString::fromStdString((recordingsFolder() / "variety/dynamic_mlp/trace").string()); }
  std::string shownName() {
    const auto& place = session().location();
    return session().capture(place.capture)->graphs[std::size_t(place.graph)].name;
  }
};

TEST_F(StripWindow, AGraphAloneHasTheLaneOfItsPasses) {
  EXPECT_FALSE(m_window->stageStrip().isVisible()) << "there is no graph yet";
  openSample();
  ASSERT_EQ(lanes().lanes().size(), 1u);
  const auto& lane = lanes().lanes().front();
  ASSERT_EQ(lane.cells.size(), session().compiled()->passes.size() + 1);
  EXPECT_EQ(lane.title.toStdString(), "Kerf");
  EXPECT_EQ(lane.current, 0);
  EXPECT_EQ(lane.cells[0].nodes, 94);
  for (std::size_t i = 1; i < lane.cells.size(); ++i) {
    const auto& pass = session().compiled()->passes[i - 1];
    EXPECT_EQ(lane.cells[i].changed, pass.changed);
    EXPECT_EQ(lane.cells[i].tick, !pass.changed);
    EXPECT_EQ(lane.cells[i].nodes, pass.nodesAfter);
  }
}

TEST_F(StripWindow, ArrowKeysGoOverWhatChangedAndTheFocusStays) {
  openJoint();
  const auto cells = lanes().lanes().front().cells;
  std::vector<int> stops;
  for (int i = 0; i < int(cells.size()); ++i)
    if (!cells[std::size_t(i)].tick) stops.push_back(cells[std::size_t(i)].place.index);
  ASSERT_GE(stops.size(), 5u);
  EXPECT_LT(stops.size(), cells.size());
  EXPECT_EQ(session().location().index, -1) << "the captured graph";
  for (std::size_t i = 1; i < stops.size(); ++i) {
    press(Qt::Key_Right);
    EXPECT_EQ(session().location().index, stops[i]);
    EXPECT_TRUE(lanes().hasFocus());
  }
  press(Qt::Key_Right);
  EXPECT_EQ(session().location().index, stops.back()) << "nothing is behind it";
  press(Qt::Key_Left);
  EXPECT_EQ(session().location().index, stops[stops.size() - 2]);
  press(Qt::Key_End);
  EXPECT_EQ(session().location().index, stops.back());
  const auto nodes = std::to_string(session().graph()->nodes.size()) + " nodes";
  EXPECT_THAT(lanes().accessibleDescription().toStdString(), HasSubstr(nodes));
}

TEST_F(StripWindow, TellsWhatAPassDid) {
  openJoint();
  press(Qt::Key_End);
  ASSERT_TRUE(test::waitFor([&] { return session().difference() != nullptr; }));
  const auto difference = session().difference();
  EXPECT_EQ(difference->error.toStdString(), "");
  EXPECT_FALSE(difference->same);
  EXPECT_EQ(difference->from.stage, Location::Stage::Pass);
  const auto& pass = session().compiled()->passes[std::size_t(session().location().index)];
  EXPECT_EQ(difference->nodesBefore, pass.nodesBefore);
  EXPECT_EQ(difference->nodesAfter, pass.nodesAfter);
  // Each new name of the pass is new or part of a rewrite, in the picture as well.
  const auto& state = m_window->pane().view().state();
  for (const auto& name : pass.added) {
    const int node = session().graph()->find(name);
    ASSERT_GE(node, 0);
    EXPECT_TRUE(state.added.contains(node) || state.rewritten.contains(node)) << name;
  }
  const auto& ops = m_window->changesPanel().ops();
  EXPECT_EQ(ops.model()->rowCount(), int(difference->ops.size()));
  EXPECT_GT(m_window->changesPanel().nodes().model()->rowCount(), 0);
  EXPECT_THAT(m_window->changesPanel().summary().toStdString(), HasSubstr("Against forward (joint)"));
}

TEST_F(StripWindow, GhostsStandBesideWhatStayedWhereItWas) {
  openJoint();
  // The first pass that takes nodes away.
  while (!m_window->pane().view().scene()->ghosts) {
    const auto place = session().location();
    press(Qt::Key_Right);
    ASSERT_NE(session().location(), place) << "no pass takes anything away";
  }
  m_window->actions()["openBlocks"]->trigger();
  settle();
  const auto scene = m_window->pane().view().scene();
  const int shown = int(scene->shown->nodes.size());
  EXPECT_EQ(scene->shown, session().graph());
  ASSERT_TRUE(scene->ghosts);
  ASSERT_EQ(int(scene->graph->nodes.size()), shown + int(scene->ghosts->size()));
  const auto& ghost = scene->graph->nodes[std::size_t(shown)];
  EXPECT_GE(session().difference()->before->find(ghost.name), 0);
  const int card = scene->cardOfNode[std::size_t(shown)];
  ASSERT_GE(card, 0);
  EXPECT_TRUE(
      std::ranges::any_of(scene->edges, [&](const SceneEdge& edge) { return edge.to == card || edge.from == card; }));
  // Selecting it tells which line of the earlier graph it was.
  auto& view = m_window->pane().view();
  emit view.nodePicked(shown);
  EXPECT_EQ(view.state().selected, shown);
  const int row = m_window->differencePanel().view().currentRow();
  ASSERT_GE(row, 0);
  EXPECT_EQ(nodeOfLine(session().difference()->rows[std::size_t(row)], true).toStdString(), ghost.name);
}

TEST_F(StripWindow, TextBothSidesFollowsTheSelection) {
  openJoint();
  press(Qt::Key_End);
  auto& text = m_window->differencePanel().view();
  m_window->raisePanel("difference");
  const auto difference = session().difference();
  ASSERT_TRUE(difference);
  const auto all = difference->rows.size();
  EXPECT_LT(text.lines().size(), all) << "only changes, with what is around them";
  m_window->differencePanel().onlyChanges().click();
  EXPECT_EQ(text.lines().size(), all);
  const auto row = std::ranges::find(difference->rows, DiffRow::Kind::Same, &DiffRow::kind);
  ASSERT_NE(row, difference->rows.end());
  const auto name = nodeOfLine(*row, false);
  session().selectNode(name);
  EXPECT_EQ(text.currentRow(), int(row - difference->rows.begin()));
  m_window->findChild<QToolButton*>("nextChange")->click();
  const auto& picked = difference->rows[std::size_t(text.currentRow())];
  EXPECT_NE(picked.kind, DiffRow::Kind::Same);
  if (!picked.right.empty()) {
    EXPECT_EQ(session().location().node, nodeOfLine(picked, false));
  }
}

TEST_F(StripWindow, RecordedStagesStandInTheOrderOfCompilation) {
  if (!QFile::exists(training())) GTEST_SKIP() << training().toStdString() << " is left out of the recordings";
  open(training());
  ASSERT_EQ(lanes().lanes().size(), 2u);
  const auto names = titles(0);
  EXPECT_EQ(names.front(), "Dynamo");
  EXPECT_THAT(names, ::testing::Contains("pre-grad"));
  EXPECT_THAT(names, ::testing::Contains(HasSubstr("post-grad")));
  EXPECT_THAT(names.back(), HasSubstr("output code"));
  const auto& cells = lanes().lanes()[0].cells;
  for (const auto& cell : cells)
    if (cell.record < 0) {
      EXPECT_GT(cell.nodes, 0) << cell.title.toStdString();
    }
  EXPECT_GT(cells.back().kernels, 0);
  EXPECT_TRUE(std::ranges::any_of(cells, [](const StageCell& cell) { return cell.milliseconds > 0; }));
  m_window->places().go(WorkPlace::Graph);  // a trace is looked over first
  EXPECT_TRUE(m_window->stageStrip().verify().isVisible());
}

TEST_F(StripWindow, ScrubsThroughRecordedStages) {
  if (!QFile::exists(training())) GTEST_SKIP() << training().toStdString() << " is left out of the recordings";
  open(training());
  lanes().setFocus();
  press(Qt::Key_Home);
  EXPECT_EQ(current(0).title.toStdString(), "Dynamo");
  EXPECT_FALSE(session().difference()) << "nothing is before it";
  press(Qt::Key_Right);
  EXPECT_EQ(shownName().substr(0, 21), "before_pre_grad_graph");
  ASSERT_TRUE(session().difference());
  EXPECT_EQ(session().difference()->error.toStdString(), "");
  EXPECT_TRUE(lanes().hasFocus());
  // To the output code, which is no graph: its text is shown, and the way back begins there.
  press(Qt::Key_End);
  ASSERT_TRUE(session().record());
  EXPECT_THAT(session().record()->text.toStdString(), HasSubstr("def call("));
  press(Qt::Key_Left);
  EXPECT_THAT(shownName(), HasSubstr("post_grad_graph"));
  const auto difference = session().difference();
  ASSERT_TRUE(difference);
  EXPECT_EQ(current(0).changed, !difference->same);
}

TEST_F(StripWindow, AClickGoesToAStageAndDownToItsPasses) {
  if (!QFile::exists(training())) GTEST_SKIP() << training().toStdString() << " is left out of the recordings";
  open(training());
  click(0, 2);
  EXPECT_EQ(current(0).title.toStdString(), "pre-grad");
  lanes().setFocus();
  press(Qt::Key_Down);
  ASSERT_FALSE(lanes().lanes()[1].cells.empty());
  EXPECT_EQ(lanes().lane(), 1);
  press(Qt::Key_Up);
  EXPECT_EQ(lanes().lane(), 0);
}

TEST_F(StripWindow, VerifyMarksEachStage) {
  if (!QFile::exists(training())) GTEST_SKIP() << training().toStdString() << " is left out of the recordings";
  open(training());
  QTest::mouseClick(&m_window->stageStrip().verify(), Qt::LeftButton);
  settle();
  const auto verified = session().verified();
  ASSERT_TRUE(verified);
  ASSERT_EQ(verified->error.toStdString(), "");
  ASSERT_TRUE(verified->comparedAny());
  const auto same = std::ranges::count(lanes().lanes()[0].cells, StageCell::Verdict::Same, &StageCell::verdict);
  std::ptrdiff_t told = 0;
  for (const auto& pair : verified->compiles.front().pairs)
    told += pair.verdict == "same" || pair.verdict == "identical";
  EXPECT_GT(same, 0);
  EXPECT_LE(same, told);
}

TEST_F(StripWindow, AGraphDroppedOnAnotherIsComparedWithIt) {
  if (!QFile::exists(training())) GTEST_SKIP() << training().toStdString() << " is left out of the recordings";
  open(training());
  auto* model = m_window->capturesPanel().tree().model();
  const auto& graphs = session().captures().front()->graphs;
  const auto named = [&](const std::string& stage) {
    return int(std::ranges::find(graphs, stage, &GraphEntry::stage) - graphs.begin());
  };
  const int capture = session().captures().front()->id;
  const auto& tree = static_cast<const CaptureTreeModel&>(*model);
  const auto from = tree.indexOf({capture, named("dynamo_output_graph")});
  const auto onto = tree.indexOf({capture, named("inductor_post_grad_graph")});
  ASSERT_TRUE(from.isValid() && onto.isValid());
  EXPECT_TRUE(model->flags(from) & Qt::ItemIsDragEnabled);
  EXPECT_FALSE(model->flags(from.parent()) & Qt::ItemIsDragEnabled);
  const std::unique_ptr<QMimeData> dragged(model->mimeData({from}));
  EXPECT_FALSE(model->canDropMimeData(dragged.get(), Qt::LinkAction, -1, -1, from)) << "not onto itself";
  ASSERT_TRUE(model->dropMimeData(dragged.get(), Qt::LinkAction, -1, -1, onto));
  settle();
  EXPECT_THAT(shownName(), HasSubstr("inductor_post_grad_graph"));
  const auto difference = session().difference();
  ASSERT_TRUE(difference);
  EXPECT_EQ(difference->from.graph, named("dynamo_output_graph"));
  EXPECT_GT(difference->paired, 0) << "matched by what nodes compute";
  EXPECT_FALSE(m_window->differencePanel().view().lines().empty());
  // Going on through the strip compares with the stage before again.
  lanes().setFocus();
  press(Qt::Key_Left);
  ASSERT_TRUE(session().difference());
  EXPECT_NE(session().difference()->from.graph, named("dynamo_output_graph"));
}

TEST_F(StripWindow, ComparesWithAGraphChosenFromAList) {
  openSample();
  open(test::samplePath().replace("minifier_launcher.py", "missing.py"));
  m_window->banner().hide();
  m_window->actions()["compareWith"]->trigger();
  EXPECT_TRUE(m_window->banner().isVisible()) << "there is no other graph";
  const QTemporaryDir folder;
  open(test::writeLarge(folder, 12));
  const int small = session().location().capture;
  m_window->actions()["compareWith"]->trigger();
  auto* popup = m_window->findChild<QDialog*>("choices");
  ASSERT_TRUE(popup);
  ASSERT_EQ(popup->findChild<QListWidget*>()->count(), 1);
  QTest::keyClick(popup->findChild<QLineEdit*>(), Qt::Key_Return);
  settle();
  ASSERT_TRUE(session().difference());
  EXPECT_NE(session().difference()->from.capture, small);
  EXPECT_EQ(session().difference()->nodesBefore, 94);
  EXPECT_EQ(session().difference()->nodesAfter, 14);
  EXPECT_THAT(m_window->stageStrip().baseline().toolTip().toStdString(), HasSubstr("minifier_launcher.py"));
  m_window->actions()["compareBefore"]->trigger();
  settle();
  EXPECT_FALSE(session().difference());
}

}  // namespace
}  // namespace kerf::ui
