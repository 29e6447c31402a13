// A user without manners: clicks while things load, keys faster than pictures, windows of no size, files that vanish,
// workers that are killed. Random from fixed seeds; whatever is done, what is drawn belongs to its title, nothing is said
// that is no sentence, and in the end the window comes to rest.
#include <csignal>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QAction>
#include <QFile>
#include <QTreeView>

#include "engine/support/recordings.h"
#include "tests/support/processes.h"
#include "tests/ui/window_fixture.h"
#include "ui/graph_view/layered_layout.h"
#include "ui/panels/captures_panel.h"
#include "ui/panels/stage_strip.h"

namespace kerf::ui {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class RudeWindow : public Window {
 protected:
  void checkTruth() {
    const auto& view = m_window->pane().view();
    const auto& scene = view.scene();
    const auto graph = session().graph();
    EXPECT_TRUE(graph || !scene) << "a picture of nothing";
    EXPECT_TRUE(!scene || m_window->pane().busy() || scene->shown == graph) << "a picture of another graph";
    EXPECT_TRUE(!graph || session().node() < int(graph->nodes.size()));
    if (!m_window->banner().isVisible()) return;
    for (const char* slip : {"std::", "internal error", "terminate called"})
      EXPECT_THAT(m_window->banner().text().toStdString(), Not(HasSubstr(slip)));
  }
  void settle() {
    ASSERT_TRUE(test::waitFor([&] { return m_window->idle(); }));
    checkTruth();
  }
  QString write(const QTemporaryDir& folder, const QString& name, const QString& text) {
    QFile file(folder.path() + "/" + name);
    EXPECT_TRUE(file.open(QIODevice::WriteOnly));
    file.write(text.toUtf8());
    return file.fileName();
  }
};

class RandomUser : public RudeWindow, public ::testing::WithParamInterface<unsigned> {
 protected:
  using Act = std::function<void()>;
  int below(int limit) { return limit > 0 ? int(m_random() % unsigned(limit)) : 0; }
  QWidget& view() { return m_window->pane().view(); }
  QPoint somewhere() { return {below(view().width()), below(view().height())}; }
  CaptureDocPtr someCapture() {
    const auto captures = session().captures();
    return captures.empty() ? nullptr : captures[std::size_t(below(int(captures.size())))];
  }
  std::vector<Act> acts() {
    return {
        [this] { QTest::mouseClick(&view(), Qt::LeftButton, {}, somewhere()); },
        [this] { QTest::mouseDClick(&view(), Qt::LeftButton, {}, somewhere()); },
        [this] {
          static constexpr Qt::Key keys[] = {Qt::Key_Up,     Qt::Key_Down,      Qt::Key_Left, Qt::Key_Right,
                                             Qt::Key_Return, Qt::Key_Backspace, Qt::Key_Home, Qt::Key_End,
                                             Qt::Key_J,      Qt::Key_Escape};
          for (int i = 0; i < 5; ++i) QTest::keyClick(&view(), keys[below(std::size(keys))]);
        },
        [this] {
          for (int i = 0; i < 8; ++i)
            QTest::keyClick(&m_window->stageStrip().lanes(), below(3) > 0 ? Qt::Key_Right : Qt::Key_Left);
        },
        [this] { QTest::keyClick(&m_window->stageStrip().lanes(), below(2) > 0 ? Qt::Key_Down : Qt::Key_Up); },
        [this] {
          if (const auto capture = someCapture(); capture && !capture->graphs.empty())
            session().go({capture->id, below(int(capture->graphs.size())), Location::Stage::Captured, -1, {}});
        },
        [this] {
          const auto actions = {
              "stage0",        "stage1",     "stage2",      "stage3",        "back",         "forward",
              "fit",           "zoomIn",     "zoomOut",     "zoomReset",     "dim",          "separateInputs",
              "hulls",         "openBlocks", "closeBlocks", "groupKernels",  "groupModules", "groupNothing",
              "colorAccuracy", "colorKind",  "nextStage",   "compareBefore", "findNext",     "cancel",
              "hideUnchanged"};
          m_window->actions()[*(actions.begin() + below(int(actions.size())))]->trigger();
        },
        [this] { m_window->actions()[below(2) > 0 ? "compare" : "bisectNode"]->trigger(); },
        [this] {
          m_window->setTheme(below(2) > 0 ? "dark" : "light");
          QApplication::processEvents();
          m_heart.restart();  // how long that takes is RudeFiles' to ask
        },
        [this] { m_window->resize(40 + below(1500), 30 + below(1000)); },
        [this] { m_window->open({m_paths[below(int(m_paths.size()))]}); },
        [this] {
          if (const auto capture = someCapture(); capture && below(3) == 0) session().close(capture->id);
        },
        [this] { m_window->pane().search(below(2) > 0 ? "op:add users>0" : ""); },
        [this] {
          const auto workers = kerf::test::workersOf(::getpid());
          if (!workers.empty() && below(2) == 0) ::kill(workers[std::size_t(below(int(workers.size())))], SIGKILL);
        },
        [this] {
          if (session().graph()) session().selectNode(below(int(session().graph()->nodes.size())));
        },
        [this] { QTest::qWait(below(60)); },
    };
  }

  std::mt19937 m_random{GetParam()};
  QStringList m_paths;
};

TEST_P(RandomUser, BreaksNothing) {
  m_mostGap = test::mostGapOfThemes();
  m_paths = {test::samplePath()};
  for (const char* name : {"variety/dynamic_mlp/trace", "variety/graph_breaks/trace", "golden/attention"})
    if (const auto path = recordingsFolder() / name; std::filesystem::exists(path))
      m_paths << QString::fromStdString(path.string());
  openSample();
  const auto all = acts();
  for (int i = 0; i < 150; ++i) {
    const int act = below(int(all.size()));
    SCOPED_TRACE("step " + std::to_string(i) + ", act " + std::to_string(act));
    all[std::size_t(act)]();
    QApplication::processEvents();
    checkTruth();
    if (HasFailure()) return;
  }
  m_window->actions()["cancel"]->trigger();
  settle();
}
INSTANTIATE_TEST_SUITE_P(Seeds, RandomUser, ::testing::Values(1u, 2u, 3u, 4u));

TEST_F(RudeWindow, AFileThatVanishesBehindItsCapture) {
  const QTemporaryDir folder;
  const auto path = folder.path() + "/repro.py";
  ASSERT_TRUE(QFile::copy(test::samplePath(), path));
  open(path);
  ASSERT_TRUE(session().graph());
  ASSERT_TRUE(QFile::remove(path));
  for (const pid_t worker : kerf::test::workersOf(::getpid())) ::kill(worker, SIGKILL);
  session().showAotStage("joint");
  settle();
  ASSERT_TRUE(session().graph()) << "what is known stays";
  m_window->actions()["reload"]->trigger();
  settle();
  EXPECT_TRUE(m_window->banner().isVisible());
  EXPECT_THAT(m_window->banner().text().toStdString(), HasSubstr("repro.py"));
}

TEST_F(RudeWindow, TheSameFileTwiceIsOneCapture) {
  m_window->open({test::samplePath(), test::samplePath()});
  m_window->open({test::samplePath()});
  settle();
  EXPECT_EQ(session().captures().size(), 1u);
}

TEST_F(RudeWindow, GraphsOfNothingOneAndManyParts) {
  const QTemporaryDir folder;
  const auto none = write(folder, "none.txt", "graph():\n    return ()\n");
  const auto one =
      write(folder, "one.txt", "graph():\n    %x : [num_users=0] = placeholder[target=x]\n    return None\n");
  QString parts = "graph():\n";
  for (int i = 0; i < 40; ++i)
    parts += QString(
                 "    %x%1 : [num_users=1] = placeholder[target=x%1]\n    %r%1 : [num_users=0] = call_function[target="
                 "torch.ops.aten.relu.default](args = (%x%1,), kwargs = {})\n")
                 .arg(i);
  parts += "    return (r0,)\n";
  const auto many = write(folder, "many.txt", parts);
  for (const auto& path : {none, one, many}) {
    open(path);
    checkTruth();
    m_window->actions()["fit"]->trigger();
    m_window->pane().view().grab();
    for (const auto key : {Qt::Key_Down, Qt::Key_End, Qt::Key_Left, Qt::Key_Return, Qt::Key_Backspace})
      QTest::keyClick(&m_window->pane().view(), key);
    checkTruth();
    settle();
  }
  ASSERT_TRUE(session().graph());
  const auto& bounds = m_window->pane().view().scene()->bounds;
  EXPECT_LT(std::max(bounds.width(), bounds.height()) / std::min(bounds.width(), bounds.height()), 4)
      << "parts are packed, not put in one row";
}

TEST_F(RudeWindow, NamesOfAnyLength) {
  const QTemporaryDir folder;
  const QString name(5000, 'n');
  const auto text =
      QString(
          "graph():\n    %%1 : [num_users=1] = placeholder[target=%1]\n    %relu : [num_users=1] = call_function"
          "[target=torch.ops.aten.relu.default](args = (%%1,), kwargs = {})\n    return (relu,)\n")
          .arg(name);
  const auto before = m_window->size();
  open(write(folder, QString(200, 'f') + ".txt", text));
  ASSERT_TRUE(session().graph()) << qPrintable(m_window->banner().text().left(300));
  session().selectNode(0);
  settle();
  EXPECT_EQ(m_window->size(), before) << "names push nothing aside";
  for (const auto& card : m_window->pane().view().scene()->cards) EXPECT_LE(card.rect.width(), CardMetrics::maxWidth);
}

TEST_F(RudeWindow, ClosingEverythingWhileEverythingRuns) {
  openSample();
  for (const char* action : {"compare", "bisectNode", "minify"}) m_window->actions()[action]->trigger();
  QTest::qWait(30);
  for (const auto& capture : session().captures()) session().close(capture->id);
  checkTruth();
  openSample();
  settle();
}

}  // namespace
}  // namespace kerf::ui
