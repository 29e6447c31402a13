// The real window on the bundled sample.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QAction>
#include <QApplication>
#include <QCheckBox>
#include <QComboBox>
#include <QDropEvent>
#include <QLineEdit>
#include <QMimeData>
#include <QProcess>
#include <QPushButton>
#include <QTreeView>

#include "tests/support/cpu_time.h"
#include "tests/ui/window_fixture.h"
#include "ui/panels/accuracy_panel.h"
#include "ui/panels/captures_panel.h"
#include "ui/panels/inspector_panel.h"
#include "ui/panels/kernels_panel.h"
#include "ui/panels/minify_panel.h"
#include "ui/panels/nodes_panel.h"
#include "ui/panels/passes_panel.h"
#include "ui/panels/source_panel.h"
#include "ui/shell/search_box.h"

namespace kerf::ui {
namespace {

TEST_F(Window, FillsTheCaptureTree) {
  openSample();
  const auto* model = m_window->capturesPanel().tree().model();
  ASSERT_EQ(model->rowCount(), 1);
  const auto capture = model->index(0, 0);
  EXPECT_EQ(capture.data().toString().toStdString(), "mlp8  minifier_launcher.py");
  ASSERT_EQ(model->rowCount(capture), 1);
  EXPECT_EQ(model->index(0, 0, capture).data().toString().toStdString(), "forward");
}

TEST_F(Window, ShowsPassesAndHidesUnchangedOnes) {
  openSample();
  ASSERT_TRUE(session().compiled());
  auto& table = m_window->passesPanel().table();
  const int all = table.model()->rowCount();
  EXPECT_EQ(all, int(session().compiled()->passes.size()) + 1);
  m_window->passesPanel().hideUnchanged().click();
  int changed = 0;
  for (const auto& pass : session().compiled()->passes) changed += pass.changed;
  EXPECT_EQ(table.model()->rowCount(), changed + 1);
  EXPECT_LT(table.model()->rowCount(), all);
}

TEST_F(Window, ShowsTheGraphAfterAPass) {
  openSample();
  auto& table = m_window->passesPanel().table();
  table.setCurrentIndex(table.model()->index(table.model()->rowCount() - 1, 1));
  ASSERT_TRUE(test::waitFor([&] { return m_window->idle(); }));
  EXPECT_EQ(session().location().stage, Location::Stage::Pass);
  EXPECT_TRUE(session().graph()->title.starts_with("forward after "));
  session().back();
  ASSERT_TRUE(test::waitFor([&] { return m_window->idle(); }));
  EXPECT_EQ(session().location().stage, Location::Stage::Captured);
}

TEST_F(Window, InspectsTheSelectedNode) {
  openSample();
  session().selectNode(QString("relu"));
  const auto text = m_window->inspectorPanel().toPlainText();
  for (const char* part : {"relu\n", "Pointwise · call_function", "Typef32", "Shape[16, 32]", "Stride[32, 1]",
                           "Targettorch.ops.aten.relu.default", "Schemaaten::relu(Tensor self) -> Tensor",
                           "self%addmm_5", "Inputsaddmm_5", "Usersadd_6"}) {
    QString plain = text;
    plain.remove(QChar(0xfdd0)).remove(QChar(0xfdd1));
    EXPECT_TRUE(QString(plain).replace("\n", "").contains(QString(part).remove('\n'))) << part << " not in\n"
                                                                                       << qPrintable(text);
  }
  EXPECT_GT(m_window->sourcePanel().currentLine(), 0);
  EXPECT_EQ(m_window->pane().view().state().selected, session().node());
}

TEST_F(Window, ShowsSourceWithHiddenCharactersSpelledOut) {
  open(writeFile("odd.txt",
                 "class GraphModule(torch.nn.Module):\n    def forward(self, x: \"f32[2][1]cpu\"):\n"
                 "        # caf\u00e9 \u202e reversed\n"
                 "        relu: \"f32[2][1]cpu\" = torch.ops.aten.relu.default(x)\n        return (relu,)\n"));
  ASSERT_TRUE(session().graph()) << qPrintable(m_window->banner().text());
  auto expected = texts(session().graph()->code).join('\n');
  while (expected.endsWith('\n')) expected.chop(1);
  EXPECT_EQ(m_window->sourcePanel().code(), expected);
  EXPECT_FALSE(m_window->sourcePanel().code().contains(QChar(0x202e)));
}

TEST_F(Window, SelectionHasAHistory) {
  openSample();
  session().selectNode(QString("relu"));
  session().selectNode(QString("add_6"));
  m_window->actions()["back"]->trigger();
  EXPECT_EQ(session().location().node.toStdString(), "relu");
  m_window->actions()["forward"]->trigger();
  EXPECT_EQ(session().location().node.toStdString(), "add_6");
}

TEST_F(Window, FindsNodesByOp) {
  openSample();
  auto& edit = m_window->searchBox().edit();
  m_window->actions()["find"]->trigger();
  QTest::keyClicks(&edit, "tanh");
  EXPECT_EQ(m_window->pane().hits().size(), 4u);
  EXPECT_EQ(m_window->searchBox().countText().toStdString(), "4 matches");
  QTest::keyClick(&edit, Qt::Key_Return);
  EXPECT_EQ(session().location().node.toStdString(), "tanh");
  QTest::keyClick(&edit, Qt::Key_Return);
  EXPECT_EQ(session().location().node.toStdString(), "tanh_1");
  QTest::keyClick(&edit, Qt::Key_Return, Qt::ShiftModifier);
  EXPECT_EQ(session().location().node.toStdString(), "tanh");
  QTest::keyClick(&edit, Qt::Key_Escape);
  EXPECT_TRUE(m_window->pane().view().state().found.isEmpty());
}

TEST_F(Window, FiltersTheNodeTable) {
  openSample();
  m_window->nodesPanel().filter().setText("relu");
  auto& table = m_window->nodesPanel().table();
  ASSERT_TRUE(test::waitFor([&] { return table.model()->rowCount() == 1; }));
  EXPECT_EQ(table.model()->index(0, 1).data().toString().toStdString(), "relu");
}

TEST_F(Window, ListsKernels) {
  openSample();
  ASSERT_TRUE(session().compiled());
  ASSERT_EQ(session().compiled()->error, "");
  EXPECT_GT(m_window->kernelsPanel().table().model()->rowCount(), 5);
}

TEST_F(Window, RefusesBadFilesWithABanner) {
  const QTemporaryDir folder;
  QFile bad(folder.path() + "/bad.py");
  ASSERT_TRUE(bad.open(QIODevice::WriteOnly));
  bad.write("class Repro(torch.nn.Module):\n    def forward(self, x):\n        y = torch.ops.aten.relu.default(\n");
  bad.close();
  open(bad.fileName());
  EXPECT_TRUE(m_window->banner().isVisible());
  EXPECT_TRUE(m_window->banner().text().contains("bad.py")) << qPrintable(m_window->banner().text());
  openSample();  // and goes on working
  EXPECT_FALSE(m_window->banner().isVisible());
}

TEST_F(Window, OpensDroppedFiles) {
  QMimeData data;
  data.setUrls({QUrl::fromLocalFile(test::samplePath())});
  QDragEnterEvent enter(QPoint(400, 300), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
  QApplication::sendEvent(m_window.get(), &enter);
  EXPECT_TRUE(enter.isAccepted());
  QDropEvent drop(QPointF(400, 300), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
  QApplication::sendEvent(m_window.get(), &drop);
  ASSERT_TRUE(test::waitFor([&] { return m_window->idle() && session().graph(); }));
}

TEST_F(Window, ComparesInAChildProcessAndColoursTheGraph) {
  openSample();
  m_window->accuracyPanel().plant().setPlant("relu=accuracy");
  m_window->actions()["compare"]->trigger();
  ASSERT_TRUE(test::waitFor([&] { return m_window->idle(); }));
  const auto accuracy = session().accuracy();
  ASSERT_TRUE(accuracy);
  ASSERT_TRUE(accuracy->error.isEmpty()) << qPrintable(accuracy->error);
  EXPECT_FALSE(accuracy->same);
  ASSERT_NE(accuracy->find("relu"), nullptr);
  EXPECT_TRUE(accuracy->find("relu")->firstBad);
  EXPECT_TRUE(m_window->accuracyPanel().verdict().contains("first bad: relu"));
  ASSERT_NE(m_window->session().nodeDoc(), nullptr) << "nothing was selected, so the first bad node is";
  EXPECT_EQ(m_window->session().nodeDoc()->name, "relu");
  EXPECT_EQ(m_window->pane().view().state().mode, ColorMode::Accuracy);
}

TEST_F(Window, SurvivesACrashInTheComparedGraph) {
  openSample();
  m_window->accuracyPanel().plant().setPlant("relu=crash");
  m_window->actions()["compare"]->trigger();
  ASSERT_TRUE(test::waitFor([&] { return m_window->idle(); }));
  const auto accuracy = session().accuracy();
  ASSERT_TRUE(accuracy);
  EXPECT_THAT(accuracy->failure, ::testing::HasSubstr("SIGSEGV"));
}

TEST_F(Window, MinifiesLiveAndLetsStepsBeBrowsed) {
  openSample();
  m_window->minifyPanel().plant().setPlant("relu=accuracy");
  m_window->actions()["minify"]->trigger();
  ASSERT_TRUE(test::waitFor([&] { return m_window->idle(); }));
  const auto minified = session().minified();
  ASSERT_TRUE(minified);
  ASSERT_EQ(minified->state, MinifyDoc::State::Done) << qPrintable(minified->error);
  EXPECT_EQ(minified->bestNodes, 3);
  ASSERT_GT(minified->steps.size(), 1u);
  auto& table = m_window->minifyPanel().steps();
  table.setCurrentIndex(table.model()->index(table.model()->rowCount() - 1, 0));
  ASSERT_TRUE(test::waitFor([&] { return m_window->idle(); }));
  EXPECT_EQ(session().location().stage, Location::Stage::Step);
  EXPECT_EQ(session().graph()->nodes.size(), 3u);
}

TEST_F(Window, PausesAMinificationAndGoesOn) {
  openSample();
  auto& panel = m_window->minifyPanel();
  auto* pause = panel.findChild<QPushButton*>("pauseMinify");
  auto* undo = panel.findChild<QPushButton*>("undoMinify");
  ASSERT_TRUE(pause && undo);
  EXPECT_TRUE(pause->isHidden() && undo->isHidden()) << "nothing runs";
  workbench::MinifyRequest request;
  request.oracle.oracle = "command";
  request.oracle.check = "sleep 0.1; ! grep -q aten.relu {}";  // the window sees each step before the next
  request.oracle.timeout = kerf::test::patience;
  session().minify(request);
  bool wasPaused = false;
  const auto pauseOnce = [&] {
    if (wasPaused || session().minified()->steps.size() < 3) return;
    wasPaused = true;
    ASSERT_EQ(session().minified()->state, MinifyDoc::State::Running);
    pause->click();
    EXPECT_TRUE(session().minified()->paused);
    EXPECT_EQ(pause->text(), "Resume");
    EXPECT_THAT(panel.status().toStdString(), ::testing::HasSubstr("paused"));
    pause->click();
    EXPECT_EQ(pause->text(), "Pause");
  };
  QObject::connect(&session(), &Session::minifyChanged, m_window.get(), pauseOnce);
  EXPECT_TRUE(test::waitFor([&] { return wasPaused; }));
  ASSERT_TRUE(test::waitFor([&] { return m_window->idle(); }));
  const auto minified = session().minified();
  ASSERT_EQ(minified->state, MinifyDoc::State::Done) << qPrintable(minified->error);
  EXPECT_EQ(minified->bestNodes, 3);
  EXPECT_FALSE(minified->paused);
  EXPECT_TRUE(pause->isHidden() && undo->isHidden());
}

TEST_F(Window, CancelsAMinificationThatHangs) {
  openSample();
  m_window->minifyPanel().plant().setPlant("relu=hang");
  m_window->actions()["minify"]->trigger();
  QTest::qWait(300);
  EXPECT_FALSE(m_window->idle());  // it hangs until it is cancelled
  m_window->actions()["cancel"]->trigger();
  ASSERT_TRUE(test::waitFor([&] { return m_window->idle(); }));
  EXPECT_EQ(session().minified()->state, MinifyDoc::State::Cancelled);
}

TEST_F(Window, ExportsTheCapture) {
  openSample();
  const QTemporaryDir folder;
  session().exportTo(folder.path());
  ASSERT_TRUE(test::waitFor([&] { return m_window->idle(); }));
  EXPECT_TRUE(QFileInfo::exists(folder.path() + "/repro.py"));
  EXPECT_TRUE(QFileInfo(folder.path() + "/storages").isDir());
}

void expectResponsive(const test::Heartbeat& heart, const char* what) {
  std::printf("longest gap of the event loop, %s: %.0f ms, %s\n", what, heart.longest() * 1e3, heart.culprit().c_str());
  EXPECT_LT(heart.longest(), test::mostGap()) << heart.culprit();
}

/// A gap beyond the bound makes the beat measure the machine, which takes long itself.
TEST(BeatOfTheHeart, IsNotTheLongestEvent) {
  test::Heartbeat heart;
  const double before = kerf::testing::threadSeconds();
  while (kerf::testing::threadSeconds() - before < 1.5 * test::mostGap());
  QCoreApplication::processEvents();
  EXPECT_GT(heart.longest(), 0);
  EXPECT_THAT(test::WatchedApplication::takeLongest(), ::testing::Not(::testing::HasSubstr("QTimer")));
}

TEST_F(Window, NeverHoldsUpTheUserInterface) {
  test::Heartbeat heart;
  openSample();
  for (int node = 0; node < 94; node += 10) {
    session().selectNode(node);
    QTest::qWait(5);
  }
  expectResponsive(heart, "sample");
}

TEST_F(Window, StaysResponsiveWithTwentyThousandNodes) {
  const QTemporaryDir folder;
  const auto path = test::writeLarge(folder, 20'000);
  m_heart.restart();  // what the test writes is no work of the window
  test::Heartbeat heart;
  m_window->open({path});
  ASSERT_TRUE(test::waitFor([&] { return m_window->pane().view().scene() != nullptr; }));
  ASSERT_EQ(session().graph()->nodes.size(), 20'002u);
  EXPECT_EQ(m_window->pane().view().scene()->engine.toStdString(), "layered");
  session().selectNode(QString("n10000"));
  QTest::qWait(50);
  m_window->actions()["fit"]->trigger();
  QTest::qWait(50);
  expectResponsive(heart, "20,000 nodes");
}

TEST_F(Window, OpensAllBlocksOfThirtyThousandCalls) {
  const QTemporaryDir folder;
  open(test::writeLarge(folder, 30'000));
  ASSERT_TRUE(session().graph());
  m_heart.restart();
  m_window->actions()["openBlocks"]->trigger();
  ASSERT_TRUE(
      test::waitFor([&] { return m_window->idle() && m_window->pane().view().scene()->cards.size() > 29'000u; }));
  QTest::qWait(50);
  m_window->actions()["fit"]->trigger();
  QTest::qWait(50);
  session().selectNode(QString("n15000"));
  QTest::qWait(50);
  m_window->actions()["zoomReset"]->trigger();
  QTest::qWait(50);
  expectResponsive(m_heart, "30,000 cards");
  m_window->actions()["closeBlocks"]->trigger();
  ASSERT_TRUE(test::waitFor([&] { return m_window->idle() && m_window->pane().view().scene()->cards.size() < 1000u; }));
}

TEST_F(Window, SwitchesThemes) {
  openSample();
  const auto light = m_window->grab().toImage().pixelColor(5, 930);
  m_window->setTheme("dark");
  const auto dark = m_window->grab().toImage().pixelColor(5, 930);
  EXPECT_GT(light.lightness(), 200);
  EXPECT_LT(dark.lightness(), 60);
  m_window->setTheme("light");
}

}  // namespace
}  // namespace kerf::ui
