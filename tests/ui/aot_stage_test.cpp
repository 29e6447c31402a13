// AOTAutograd's stages in the window: choosing one, its rows among the passes, its backward nodes, what is remembered.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QAction>
#include <QCloseEvent>
#include <QComboBox>
#include <QSettings>
#include <QUrl>

#include "tests/support/small_repro.h"
#include "tests/ui/window_fixture.h"
#include "ui/panels/accuracy_panel.h"
#include "ui/panels/inspector_panel.h"
#include "ui/panels/minify_panel.h"
#include "ui/panels/passes_panel.h"

namespace kerf::ui {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr int jointRow = 3;  ///< behind the captured graph, "aten" and "functional"

class StageWindow : public Window {
 protected:
  void settle() {
    ASSERT_TRUE(test::waitFor([&] { return m_window->idle(); }));
  }
  /// As a click on an entry of the strip's list does.
  void choose(const QString& title) {
    auto& box = m_window->pane().stages();
    const int index = box.findText(title);
    ASSERT_GE(index, 0) << title.toStdString();
    box.setCurrentIndex(index);
    emit box.activated(index);
    settle();
  }
  void openJoint() {
    openSample();
    choose("Joint");
    ASSERT_EQ(session().location().aotStage, "joint") << qPrintable(m_window->banner().text());
    ASSERT_GT(session().graph()->nodes.size(), 200u);
  }
  DataTable& passes() { return m_window->passesPanel().table(); }
  void pickPass(int row) {
    passes().setCurrentIndex(passes().model()->index(row, 1));
    settle();
  }
  std::string stageBox() { return m_window->pane().stages().currentText().toStdString(); }
  QString writeRepro(const QString& name, const std::string& forward) {
    QFile file(m_folder.filePath(name));
    EXPECT_TRUE(file.open(QIODevice::WriteOnly));
    file.write(QByteArray::fromStdString(kerf::test::smallRepro(forward)));
    return file.fileName();
  }
  const QTemporaryDir m_folder;
};

TEST_F(StageWindow, ShowsTheChosenStageWithItsPassesAndKernels) {
  EXPECT_FALSE(m_window->pane().stages().isEnabled()) << "there is no graph yet";
  openSample();
  EXPECT_EQ(stageBox(), "Captured");
  choose("Joint");
  EXPECT_EQ(session().graph()->title, "forward (joint)");
  EXPECT_GT(session().graph()->nodes.size(), 200u);
  ASSERT_TRUE(session().compiled());
  EXPECT_EQ(session().compiled()->error, "");
  EXPECT_GT(session().compiled()->kernels.size(), 30u) << "the backward part has kernels too";
  EXPECT_EQ(m_window->windowTitle().toStdString(), "mlp8, Joint – Kerf Studio");
  choose("Captured");
  EXPECT_EQ(session().graph()->nodes.size(), 94u);
  EXPECT_EQ(m_window->windowTitle().toStdString(), "mlp8 – Kerf Studio");
}

TEST_F(StageWindow, MenuEntriesAndShortcutsChooseStages) {
  openSample();
  auto& actions = m_window->actions();
  EXPECT_TRUE(actions["stage0"]->isChecked());
  EXPECT_EQ(actions["stage4"]->text().toStdString(), "Joint (Inductor decompositions)");
  EXPECT_EQ(actions["stage4"]->shortcut(), QKeySequence("Ctrl+5"));
  actions["stage4"]->trigger();
  settle();
  EXPECT_EQ(session().location().aotStage, "joint/inductor");
  EXPECT_EQ(stageBox(), "Joint (Inductor decompositions)");
  EXPECT_TRUE(actions["stage4"]->isChecked());
  EXPECT_FALSE(actions["stage0"]->isChecked());
  actions["captured"]->trigger();
  settle();
  EXPECT_EQ(session().location().aotStage, "");
  EXPECT_TRUE(actions["stage0"]->isChecked());
}

TEST_F(StageWindow, ListsTheStagesBeforeThePasses) {
  openJoint();
  QStringList names;
  for (int row = 0; row <= jointRow; ++row) names << passes().model()->index(row, 1).data().toString();
  EXPECT_EQ(names.join(", ").toStdString(), "captured graph, AOT: aten, AOT: functional, AOT: joint");
  const auto nodes = QString("94 → %1").arg(session().graph()->nodes.size());
  EXPECT_EQ(passes().model()->index(jointRow, 3).data().toString().toStdString(), nodes.toStdString());
  EXPECT_FALSE(passes().model()->index(jointRow + 1, 1).data().toString().startsWith("AOT"));
  EXPECT_EQ(passes().currentSourceRow(), jointRow) << "the joint graph is what that stage left";
}

TEST_F(StageWindow, ARowOfAStageShowsWhatItLeft) {
  openJoint();
  pickPass(2);  // the joint graph's row is current already
  pickPass(jointRow);
  EXPECT_EQ(session().location().stage, Location::Stage::Pass);
  EXPECT_EQ(session().graph()->title, "forward (joint)");
  const auto& joint = session().compiled()->passes[jointRow - 1];
  ASSERT_GT(joint.added.size(), 100u);
  ASSERT_TRUE(test::waitFor([&] { return !m_window->pane().view().state().added.isEmpty(); }));
  const auto& state = m_window->pane().view().state();
  ASSERT_TRUE(session().difference());
  const auto& renamed = session().difference()->renamed;
  for (const auto& name : joint.added) {
    if (std::ranges::find(renamed, name, &std::pair<std::string, std::string>::second) != renamed.end()) continue;
    const int node = session().graph()->find(name);
    EXPECT_TRUE(state.added.contains(node) || state.rewritten.contains(node)) << name;
  }
  pickPass(2);
  EXPECT_EQ(session().graph()->title, "forward (functional)");
  EXPECT_EQ(session().graph()->nodes.size(), 94u);
  pickPass(0);
  EXPECT_EQ(session().graph()->title, "forward");
  EXPECT_EQ(session().location().aotStage, "joint") << "the list stays";
  EXPECT_EQ(passes().currentSourceRow(), 0);
  pickPass(passes().model()->rowCount() - 1);
  EXPECT_TRUE(session().graph()->title.starts_with("forward (joint) after "));
  EXPECT_EQ(passes().currentSourceRow(), passes().model()->rowCount() - 1);
}

TEST_F(StageWindow, SaysWhyAGraphHasNoSuchStage) {
  open(writeRepro("positive.py", "        gt = torch.ops.aten.gt.Scalar(arg0_1, 0)\n        return (gt,)\n"));
  ASSERT_TRUE(session().graph()) << qPrintable(m_window->banner().text());
  const auto shown = session().graph();
  choose("Joint");
  EXPECT_TRUE(m_window->banner().isVisible());
  EXPECT_THAT(m_window->banner().text().toStdString(),
              HasSubstr("no output depends on an input that takes part in autograd"));
  EXPECT_EQ(session().graph(), shown);
  EXPECT_EQ(session().location().aotStage, "");
  EXPECT_EQ(stageBox(), "Captured");
  EXPECT_TRUE(m_window->actions()["stage0"]->isChecked());
  EXPECT_FALSE(session().canBack());
  choose("ATen");
  EXPECT_EQ(session().location().aotStage, "aten") << "others it has";
}

TEST_F(StageWindow, ComparesAndMinifiesTheJointGraph) {
  openJoint();
  m_window->accuracyPanel().plant().setPlant("threshold_backward=accuracy");
  m_window->minifyPanel().plant().setPlant("threshold_backward=accuracy");
  m_window->actions()["compare"]->trigger();
  settle();
  const auto accuracy = session().accuracy();
  ASSERT_TRUE(accuracy);
  ASSERT_TRUE(accuracy->error.isEmpty()) << qPrintable(accuracy->error);
  EXPECT_FALSE(accuracy->same);
  const auto bad = accuracy->firstBadNode();
  ASSERT_NE(accuracy->find(bad), nullptr);
  EXPECT_THAT(accuracy->find(bad)->target, HasSubstr("threshold_backward"));
  m_window->actions()["minify"]->trigger();
  settle();
  const auto minified = session().minified();
  ASSERT_TRUE(minified);
  ASSERT_EQ(minified->state, MinifyDoc::State::Done) << qPrintable(minified->error);
  EXPECT_EQ(minified->startNodes, int(session().graph()->nodes.size()));
  EXPECT_LE(minified->bestNodes, 4);
  choose("Captured");
  EXPECT_EQ(session().accuracy(), nullptr) << "that was another graph";
  EXPECT_EQ(session().minified(), nullptr);
  choose("Joint");
  EXPECT_EQ(session().minified(), minified);
}

TEST_F(StageWindow, ExportsTheShownStage) {
  openJoint();
  session().exportTo(m_folder.path());
  settle();
  const auto file = m_folder.filePath("repro.py");
  ASSERT_TRUE(QFile::exists(file)) << qPrintable(m_window->banner().text());
  const auto nodes = session().graph()->nodes.size();
  open(file);
  EXPECT_EQ(session().graph()->nodes.size(), nodes);
  EXPECT_GE(session().graph()->find("tangents_1"), 0);
}

TEST_F(StageWindow, BackwardNodesLeadToTheirForwardNode) {
  openJoint();
  const auto& nodes = session().graph()->nodes;
  const auto backward = std::ranges::find(nodes, "threshold_backward", &NodeDoc::op);
  ASSERT_NE(backward, nodes.end());
  session().selectNode(int(backward - nodes.begin()));
  auto& inspector = m_window->inspectorPanel();
  EXPECT_THAT(inspector.toPlainText().toStdString(), HasSubstr("gradient of relu"));
  EXPECT_THAT(inspector.toHtml().toStdString(), HasSubstr("node:relu\""));
  emit inspector.anchorClicked(QUrl("node:relu"));
  ASSERT_NE(session().nodeDoc(), nullptr);
  EXPECT_EQ(session().nodeDoc()->name, "relu");
  EXPECT_FALSE(inspector.toPlainText().contains("gradient of"));
}

TEST_F(StageWindow, HistoryGoesThroughStages) {
  openSample();
  session().selectNode(QString("relu"));
  choose("Functional");
  EXPECT_EQ(session().location().node.toStdString(), "relu") << "the same node there";
  choose("Joint");
  pickPass(jointRow + 1);
  for (const char* stage : {"joint", "functional", ""}) {
    m_window->actions()["back"]->trigger();
    settle();
    EXPECT_EQ(session().location().aotStage, stage);
    EXPECT_EQ(session().location().stage, Location::Stage::Captured);
  }
  EXPECT_EQ(stageBox(), "Captured");
  for (int step = 0; step < 3; ++step) {
    m_window->actions()["forward"]->trigger();
    settle();
  }
  EXPECT_EQ(session().location().aotStage, "joint");
  EXPECT_EQ(session().location().stage, Location::Stage::Pass);
}

TEST_F(StageWindow, ReloadingKeepsTheStage) {
  openJoint();
  const auto before = session().location().capture;
  m_window->actions()["reload"]->trigger();
  ASSERT_TRUE(test::waitFor([&] { return m_window->idle() && session().graph(); }));
  EXPECT_NE(session().location().capture, before);
  EXPECT_EQ(session().location().aotStage, "joint");
}

/// The stage of the file when a window opens it that remembers; the window is then left at `stage`.
std::string leaveAt(const QString& path, const std::string& stage, test::Heartbeat& heart) {
  MainWindow window({true, "light"});
  window.show();
  QApplication::processEvents();
  heart.restart();
  window.open({path});
  EXPECT_TRUE(test::waitFor([&] { return window.idle() && window.session().graph(); }));
  const auto found = window.session().location().aotStage;
  window.session().showAotStage(stage);
  EXPECT_TRUE(test::waitFor([&] { return window.idle(); }));
  EXPECT_EQ(window.session().location().aotStage, stage);
  window.close();
  return found;
}

TEST_F(StageWindow, TheNextWindowOpensAFileAtTheStageInWhichItWasLeft) {
  const auto path = writeRepro("relu.py", kerf::test::reluForward), other = writeRepro("b.py", kerf::test::reluForward);
  EXPECT_EQ(leaveAt(path, "functional", m_heart), "");
  EXPECT_EQ(leaveAt(other, "", m_heart), "") << "another file";
  EXPECT_EQ(leaveAt(path, "", m_heart), "functional");
  EXPECT_EQ(leaveAt(path, "", m_heart), "");
  QSettings("kerf", "studio").clear();
}

}  // namespace
}  // namespace kerf::ui
