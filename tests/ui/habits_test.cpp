// The window as a place to come back to: sessions, more windows, the store as start page, growing logs, the palette.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QAction>
#include <QClipboard>
#include <QHeaderView>
#include <QLineEdit>
#include <QListWidget>
#include <QMouseEvent>
#include <QPushButton>
#include <QTreeView>

#include "engine/support/recordings.h"
#include "tests/ui/window_fixture.h"
#include "ui/models/store_model.h"
#include "ui/panels/store_panel.h"
#include "ui/panels/table_view.h"
#include "ui/shell/choice_popup.h"
#include "ui/shell/fuzzy_match.h"
#include "ui/shell/graph_report.h"
#include "ui/shell/welcome.h"

namespace kerf::ui {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class WindowHabits : public Window {
 protected:
  void settle() {
    ASSERT_TRUE(test::waitFor([&] { return m_window->idle(); }));
  }
  /// A window whose settings are a file of the test.
  void remembering() {
    m_window = std::make_unique<MainWindow>(WindowOptions{true, "light", m_folder.path() + "/settings.ini"});
    m_window->resize(1366, 768);
    m_window->show();
    started();
  }
  QString write(const QString& name, const QByteArray& bytes) {
    QFile file(m_folder.path() + "/" + name);
    EXPECT_TRUE(file.open(QIODevice::WriteOnly));
    file.write(bytes);
    return file.fileName();
  }
  QTemporaryDir m_folder;
};

TEST_F(WindowHabits, ASessionIsRestoredWithPlaceSelectionAndZoom) {
  remembering();
  openSample();
  m_window->actions()["stage2"]->trigger();
  settle();
  ASSERT_EQ(session().location().aotStage, "functional");
  session().selectNode(QString("relu"));
  auto& view = m_window->pane().view();
  view.setZoom(1.5, {10, 10});
  const auto center = view.visibleScene().center();
  m_window->raisePanel("source");
  m_window->close();
  remembering();
  EXPECT_EQ(session().graph(), nullptr);
  m_window->resume();
  ASSERT_TRUE(test::waitFor([&] { return m_window->idle() && m_window->pane().view().scene() != nullptr; }));
  EXPECT_EQ(session().captures().size(), 1u);
  EXPECT_EQ(session().location().aotStage, "functional");
  EXPECT_EQ(session().location().node.toStdString(), "relu");
  EXPECT_NEAR(m_window->pane().view().zoom(), 1.5, 1e-6);
  EXPECT_NEAR(m_window->pane().view().visibleScene().center().y(), center.y(), 40);
}

TEST_F(WindowHabits, WidthsThatTheUserGaveColumnsComeBack) {
  remembering();
  openSample();
  auto* table = m_window->findChild<DataTable*>("nodes");
  ASSERT_NE(table, nullptr);
  const int own = table->columnWidth(1);
  auto& header = *table->horizontalHeader();
  m_window->raisePanel("nodes");
  QTest::qWait(5);
  const QPoint edge(header.sectionViewportPosition(1) + own - 1, header.height() / 2);
  QTest::mousePress(header.viewport(), Qt::LeftButton, {}, edge);
  QMouseEvent drag(QEvent::MouseMove, edge + QPoint(70, 0), header.viewport()->mapToGlobal(edge + QPoint(70, 0)),
                   Qt::LeftButton, Qt::LeftButton, {});
  QApplication::sendEvent(header.viewport(), &drag);
  QTest::mouseRelease(header.viewport(), Qt::LeftButton, {}, edge + QPoint(70, 0));
  ASSERT_EQ(table->columnWidth(1), own + 70);
  m_window->close();
  remembering();
  openSample();
  EXPECT_EQ(m_window->findChild<DataTable*>("nodes")->columnWidth(1), own + 70);
}

TEST_F(WindowHabits, WhatIsGoneIsNotRestored) {
  remembering();
  QFile::copy(test::samplePath(), m_folder.path() + "/gone.py");
  open(m_folder.path() + "/gone.py");
  m_window->close();
  ASSERT_TRUE(QFile::remove(m_folder.path() + "/gone.py"));
  remembering();
  m_window->resume();
  settle();
  EXPECT_TRUE(session().captures().empty());
  EXPECT_FALSE(m_window->banner().isVisible());
}

TEST_F(WindowHabits, RefusedFilesStayOutOfRecent) {
  remembering();
  const auto bad = write("bad.py", "class Repro(torch.nn.Module):\n    def forward(self, x):\n        y = (\n");
  open(bad);
  EXPECT_TRUE(m_window->banner().isVisible());
  EXPECT_TRUE(m_window->recentPaths().isEmpty());
  openSample();
  EXPECT_EQ(m_window->recentPaths(), QStringList(QFileInfo(test::samplePath()).absoluteFilePath()));
}

TEST_F(WindowHabits, AnotherWindowHasItsOwnPlace) {
  openSample();
  QPointer<MainWindow> other = m_window->openWindow();
  ASSERT_TRUE(other && other->isVisible());
  started();
  EXPECT_EQ(other->session().graph(), nullptr);
  other->open({test::samplePath()});
  ASSERT_TRUE(test::waitFor([&] { return other->idle() && other->session().graph(); }));
  other->session().selectNode(QString("relu"));
  EXPECT_EQ(session().node(), -1);
  other->close();
  ASSERT_TRUE(test::waitFor([&] { return other.isNull(); }));
  EXPECT_TRUE(m_window->isVisible());
}

TEST_F(WindowHabits, PastedTextIsOpened) {
  QApplication::clipboard()->setText(
      "graph():\n    %x : [num_users=1] = placeholder[target=x]\n"
      "    %relu : [num_users=1] = call_function[target=torch.ops.aten.relu.default]"
      "(args = (%x,), kwargs = {})\n    return (relu,)\n");
  m_window->pane().setFocus();
  m_window->actions()["paste"]->trigger();
  settle();
  ASSERT_TRUE(session().graph()) << qPrintable(m_window->banner().text());
  EXPECT_EQ(session().graph()->nodes.size(), 3u);
  QApplication::clipboard()->clear();
}

TEST_F(WindowHabits, TheStartPageIsTheStore) {
  openSample();
  m_window->actions()["compare"]->trigger();
  settle();
  session().close(session().location().capture);
  auto* welcome = m_window->findChild<Welcome*>();
  auto* panel = welcome ? welcome->findChild<StorePanel*>() : nullptr;
  ASSERT_TRUE(panel && panel->isVisible());
  ASSERT_TRUE(test::waitFor([&] { return session().store() && m_window->idle(); }));
  const auto& model = *panel->tree().model();
  const auto rows = [&] {
    int count = 0;
    for (int group = 0; group < model.rowCount(); ++group) count += model.rowCount(model.index(group, 0));
    return count;
  };
  const int all = rows();
  ASSERT_GE(all, 2);
  panel->filter().setText("compare");
  EXPECT_LT(rows(), all);
  EXPECT_GE(rows(), 1);
  panel->filter().setText("nothing is called like this");
  EXPECT_EQ(model.rowCount(), 0);
  panel->filter().clear();
  ASSERT_EQ(rows(), all);
  QModelIndex capture;
  for (int group = 0; group < model.rowCount() && !capture.isValid(); ++group)
    if (model.index(group, 0).data().toString() == "Captures") capture = model.index(0, 0, model.index(group, 0));
  ASSERT_TRUE(capture.isValid());
  panel->tree().setCurrentIndex(capture);
  panel->tree().setFocus();
  QTest::keyClick(&panel->tree(), Qt::Key_Return);
  settle();
  ASSERT_TRUE(session().graph()) << qPrintable(m_window->banner().text());
}

TEST_F(WindowHabits, AGrowingLogIsFollowedAndTheSelectionStays) {
  const auto folder = recordingsFolder() / "variety/graph_breaks/trace";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no recordings";
  QByteArray log;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if (entry.path().extension() == ".log") {
      QFile file(QString::fromStdString(entry.path().string()));
      ASSERT_TRUE(file.open(QIODevice::ReadOnly));
      log = file.readAll();
    }
  ASSERT_FALSE(log.isEmpty());
  const auto graphs = [&](const QByteArray& text) {
    return text.count("\n{\"aot_joint_graph\"") + text.count("_graph\": {");
  };
  qsizetype half = log.size() / 2;
  half = log.indexOf("\nV", half) + 1;
  ASSERT_GT(half, 0);
  ASSERT_GT(graphs(log), graphs(log.left(half)));
  const auto path = write("dedicated_log_torch_trace_x.log", log.left(half));
  open(path);
  ASSERT_TRUE(session().graph()) << qPrintable(m_window->banner().text());
  const auto before = session().capture(session().location().capture)->graphs.size();
  const auto records = session().capture(session().location().capture)->records.size();
  session().selectNode(int(session().graph()->nodes.size()) - 1);
  const auto node = session().location().node;
  const auto graph = session().graph();
  QFile file(path);
  ASSERT_TRUE(file.open(QIODevice::Append));
  file.write(log.mid(half));
  file.close();
  const auto now = [&] { return session().capture(session().location().capture); };
  ASSERT_TRUE(test::waitFor([&] { return now()->records.size() > records; }));
  EXPECT_GE(now()->graphs.size(), before);
  EXPECT_EQ(session().location().node, node);
  EXPECT_EQ(session().graph(), graph) << "what is shown is not read again";
}

TEST(Palette, FindsByWordsBeginningsAndLetters) {
  EXPECT_GT(fuzzyScore("fit", "Fit graph"), fuzzyScore("fit", "Outfitter"));
  EXPECT_GT(fuzzyScore("gr", "Fit graph"), fuzzyScore("gr", "Program"));
  EXPECT_GT(fuzzyScore("cmp", "Compare"), -1);
  EXPECT_EQ(fuzzyScore("xyz", "Compare"), -1);
  EXPECT_GT(fuzzyScore("graph fit", "Fit graph"), 0) << "words in any order";
  const std::vector<Choice> choices{{"Fit graph", {}, {}, '>'}, {"fit_1", {}, {}, '@', false}, {"joint", {}, {}, '#'}};
  EXPECT_THAT(fittingChoices(choices, ""), ElementsAre(0, 2));
  EXPECT_THAT(fittingChoices(choices, "@"), ElementsAre(1));
  EXPECT_THAT(fittingChoices(choices, "@fit"), ElementsAre(1));
  EXPECT_THAT(fittingChoices(choices, "fit"), ElementsAre(1, 0)) << "the shorter one first";
}

TEST_F(WindowHabits, ThePaletteGoesToNodes) {
  openSample();
  m_window->actions()["palette"]->trigger();
  auto* edit = m_window->findChild<QLineEdit*>("choice");
  ASSERT_NE(edit, nullptr);
  QTest::keyClicks(edit, "@tanh_1");
  QTest::keyClick(edit, Qt::Key_Return);
  EXPECT_EQ(session().location().node.toStdString(), "tanh_1");
  EXPECT_GE(m_window->pane().view().zoom(), 0.8);
}

TEST_F(WindowHabits, TheReportSaysWhatIsKnown) {
  openSample();
  m_window->actions()["compare"]->trigger();
  settle();
  const auto html = reportHtml(session()).toStdString();
  for (const char* part : {"minifier_launcher.py", "The compiled results are the same", "addmm", "94"})
    EXPECT_THAT(html, HasSubstr(part));
  const auto pdf = m_folder.path() + "/r.pdf", page = m_folder.path() + "/r.html";
  EXPECT_EQ(writeReport(session(), m_window->pane().view(), pdf).toStdString(), "");
  EXPECT_EQ(writeReport(session(), m_window->pane().view(), page).toStdString(), "");
  QFile file(pdf);
  ASSERT_TRUE(file.open(QIODevice::ReadOnly));
  EXPECT_TRUE(file.read(5) == "%PDF-" && file.size() > 10'000);
  EXPECT_GT(QFileInfo(page).size(), 20'000);
  EXPECT_THAT(writeReport(session(), m_window->pane().view(), m_folder.path() + "/no/r.pdf").toStdString(),
              HasSubstr("/no/r.pdf"));
}

}  // namespace
}  // namespace kerf::ui
