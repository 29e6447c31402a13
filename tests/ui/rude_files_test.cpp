// A user whose files are worse than he is: logs cut short while they are open, folders that may not be read, fifty
// megabytes in the clipboard; two windows on one capture, and the theme changed while a graph is minified.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QAction>
#include <QClipboard>
#include <QDir>
#include <QMimeData>
#include <QTreeView>

#include <unistd.h>

#include "engine/support/recordings.h"
#include "tests/ui/window_fixture.h"
#include "ui/models/capture_tree_model.h"
#include "ui/panels/captures_panel.h"
#include "ui/panels/minify_panel.h"
#include "ui/panels/nodes_panel.h"
#include "ui/panels/table_view.h"

namespace kerf::ui {
namespace {

using ::testing::HasSubstr;

class RudeFiles : public Window {
 protected:
  /// What is drawn and listed is the graph of the title, or nothing.
  void checkTruth() {
    const auto graph = session().graph();
    const auto& scene = m_window->pane().view().scene();
    EXPECT_TRUE(!scene || m_window->pane().busy() || scene->shown == graph);
    const int rows = m_window->nodesPanel().findChild<DataTable*>("nodes")->model()->rowCount();
    EXPECT_TRUE(!m_window->idle() || rows == (graph ? int(graph->nodes.size()) : 0)) << rows << " nodes are listed";
  }
  void settle() {
    ASSERT_TRUE(test::waitFor([&] { return m_window->idle(); }));
    checkTruth();
  }
  /// A copy of a recorded log that may be spoilt; empty where there are no recordings.
  QString copiedLog() {
    const QDir folder(QString::fromStdString((recordingsFolder() / "variety/dynamic_mlp/trace").string()));
    const auto logs = folder.entryList({"*.log"});
    if (logs.isEmpty()) return {};
    const auto copy = m_folder.path() + "/" + logs.front();
    const bool copied = QFile::copy(folder.filePath(logs.front()), copy) &&
                        QFile::setPermissions(copy, QFile::ReadOwner | QFile::WriteOwner);
    return copied ? copy : QString();
  }
  QTemporaryDir m_folder;
};

TEST_F(RudeFiles, ALogThatIsCutShortWhileItIsOpen) {
  const auto log = copiedLog();
  if (log.isEmpty()) GTEST_SKIP() << "no recordings";
  open(log);
  ASSERT_TRUE(session().graph());
  const int id = session().location().capture;
  const auto graphs = session().capture(id)->graphs.size();
  for (const double part : {0.5, 0.05, 0.0}) {
    QFile file(log);
    ASSERT_TRUE(file.resize(qint64(double(file.size()) * part)));
    session().refresh(id);
    settle();
    const auto capture = session().capture(id);
    ASSERT_TRUE(capture);
    for (std::size_t i = 0; i < std::min<std::size_t>(graphs, 4); ++i) {
      session().go({id, int(i), Location::Stage::Captured, -1, {}});
      settle();
    }
  }
  QFile::remove(log);
  session().refresh(id);
  settle();
}

TEST_F(RudeFiles, AFolderThatMayNotBeRead) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may read everything";
  const auto shut = m_folder.path() + "/shut";
  ASSERT_TRUE(QDir().mkdir(shut));
  ASSERT_TRUE(QFile::setPermissions(shut, {}));
  open(shut);
  EXPECT_TRUE(m_window->banner().isVisible());
  EXPECT_THAT(m_window->banner().text().toStdString(), HasSubstr("shut"));
  EXPECT_TRUE(m_window->recentPaths().isEmpty());
  settle();
  QFile::setPermissions(shut, QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
}

TEST_F(RudeFiles, FiftyMegabytesPasted) {
  QString text = "graph():\n    %x : [num_users=1] = placeholder[target=x]\n";
  text += QString(50 << 20, 'z');
  QApplication::clipboard()->setText(text);
  m_window->activateWindow();
  m_heart.restart();
  QTest::keyClick(m_window.get(), Qt::Key_V, Qt::ControlModifier);
  settle();
  QApplication::clipboard()->clear();
  EXPECT_TRUE(session().graph() || m_window->banner().isVisible()) << "neither shown nor refused";
  std::printf("longest gap of the event loop, 50 MB pasted: %.0f ms, %s\n", m_heart.longest() * 1e3,
              m_heart.culprit().c_str());
}

TEST_F(RudeFiles, TwoWindowsOnOneCapture) {
  openSample();
  MainWindow other(WindowOptions{false, "dark"});
  other.show();
  started();
  m_mostGap = test::mostGapOfThemes();  // the second window is dark
  other.open({test::samplePath()});
  ASSERT_TRUE(test::waitFor([&] { return other.idle() && other.session().graph(); }));
  other.session().selectNode(QString("relu"));
  EXPECT_NE(session().node(), other.session().node()) << "each has its own selection";
  m_window->actions()["stage3"]->trigger();
  other.actions()["compare"]->trigger();
  session().close(session().location().capture);
  ASSERT_TRUE(test::waitFor([&] { return other.idle(); }));
  settle();
  EXPECT_TRUE(other.session().accuracy());
  EXPECT_EQ(other.session().graph()->nodes.size(), 94u);
  EXPECT_EQ(other.pane().view().scene()->shown, other.session().graph());
}

TEST_F(RudeFiles, TheThemeChangedWhileAGraphIsMinified) {
  m_mostGap = test::mostGapOfThemes();
  openSample();
  m_window->minifyPanel().plant().setPlant("relu=accuracy");
  m_window->raisePanel("minify");
  m_window->actions()["minify"]->trigger();
  for (int i = 0; i < 200 && !m_window->idle(); ++i) {
    m_window->setTheme(i % 2 == 0 ? "dark" : "light");
    QApplication::processEvents();  // nobody does both at once
    m_window->resize(300 + 97 * (i % 11), 200 + 83 * (i % 9));
    QTest::qWait(15);
    checkTruth();
  }
  settle();
  ASSERT_TRUE(session().minified());
  EXPECT_EQ(session().minified()->bestNodes, 3);
  m_window->setTheme("light");
}

TEST_F(RudeFiles, AGraphDraggedOntoAnotherWhileItIsLaidOut) {
  const auto log = copiedLog();
  if (log.isEmpty()) GTEST_SKIP() << "no recordings";
  open(log);
  const int capture = session().location().capture;
  auto* model = m_window->capturesPanel().tree().model();
  const auto& tree = static_cast<const CaptureTreeModel&>(*model);
  const int count = int(session().capture(capture)->graphs.size());
  ASSERT_GT(count, 3);
  for (int i = 0; i + 1 < std::min(count, 5); ++i) {
    session().go({capture, i, Location::Stage::Captured, -1, {}});
    const std::unique_ptr<QMimeData> dragged(model->mimeData({tree.indexOf({capture, i})}));
    model->dropMimeData(dragged.get(), Qt::LinkAction, -1, -1, tree.indexOf({capture, i + 1}));
    QApplication::processEvents();
    checkTruth();
  }
  settle();
  ASSERT_TRUE(session().difference());
  EXPECT_EQ(session().difference()->error.toStdString(), "");
  EXPECT_EQ(session().difference()->from.graph + 1, session().location().graph);
}

}  // namespace
}  // namespace kerf::ui
