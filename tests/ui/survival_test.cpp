// What a window outlives: any graph, any worker, and the work that is under way when it closes.
#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QAction>
#include <QElapsedTimer>

#include "engine/support/recordings.h"
#include "tests/support/processes.h"
#include "tests/ui/window_fixture.h"
#include "ui/panels/accuracy_panel.h"
#include "ui/panels/minify_panel.h"

namespace kerf::ui {
namespace {

namespace fs = std::filesystem;

constexpr qint64 mostClosingMs = 60'000;  // what hangs would take for ever, and a machine that does other work is slow

class WindowSurvives : public Window {};

/// The graphs of all debug folders, as PyTorch printed them before and after its passes.
std::vector<fs::path> debugGraphs() {
  std::vector<fs::path> found;
  const auto options = fs::directory_options::follow_directory_symlink;
  for (const auto& entry : fs::recursive_directory_iterator(recordingsFolder(), options)) {
    const auto name = entry.path().filename().string();
    if (name.starts_with("fx_graph_") && name.ends_with(".py")) found.push_back(entry.path());
  }
  std::ranges::sort(found);
  return found;
}

TEST_F(WindowSurvives, EveryRecordedGraph) {
  const auto files = debugGraphs();
  ASSERT_GT(files.size(), 10u);
  for (const auto& file : files) {
    open(QString::fromStdString(file.string()));
    ASSERT_TRUE(session().graph()) << file << ": " << qPrintable(m_window->banner().text());
    EXPECT_FALSE(session().graph()->nodes.empty()) << file;
    ASSERT_TRUE(session().compiled()) << file << " was neither compiled nor refused";
    session().close(session().location().capture);
  }
}

class WindowSurvivesFault : public Window, public testing::WithParamInterface<const char*> {};

TEST_P(WindowSurvivesFault, InTheComparedGraph) {
  openSample();
  m_window->accuracyPanel().plant().setPlant(QString("relu=") + GetParam());
  m_window->actions()["compare"]->trigger();
  ASSERT_TRUE(test::waitFor([&] { return m_window->idle(); }));
  const auto accuracy = session().accuracy();
  ASSERT_TRUE(accuracy);
  EXPECT_EQ(accuracy->error.toStdString(), "");
  EXPECT_NE(accuracy->failure, "");
  EXPECT_TRUE(m_window->accuracyPanel().verdict().startsWith("Failed: "));
}
INSTANTIATE_TEST_SUITE_P(Kinds, WindowSurvivesFault, testing::Values("compile_error", "runtime_error", "crash"),
                         [](const auto& info) { return std::string(info.param); });

TEST_F(WindowSurvives, TheDeathOfEveryWorker) {
  openSample();
  for (const pid_t worker : kerf::test::childrenOf(::getpid())) ::kill(worker, SIGKILL);
  session().showStage(Location::Stage::Pass, 2);
  ASSERT_TRUE(test::waitFor([&] { return m_window->idle(); }));
  session().showStage(Location::Stage::Pass, 3);
  ASSERT_TRUE(test::waitFor([&] { return m_window->idle(); }));
  EXPECT_EQ(session().location().index, 3) << qPrintable(m_window->banner().text());
}

TEST_F(WindowSurvives, TheDeathOfAWorkerAtWork) {
  openSample();
  const auto before = kerf::test::childrenOf(::getpid());
  m_window->accuracyPanel().plant().setPlant("relu=hang");
  m_window->actions()["compare"]->trigger();
  ASSERT_TRUE(test::waitFor([&] { return !kerf::test::childrenSince(before).empty(); }));
  QTest::qWait(300);
  for (const pid_t worker : kerf::test::childrenSince(before)) ::kill(worker, SIGKILL);
  ASSERT_TRUE(test::waitFor([&] { return m_window->idle(); }));
  ASSERT_TRUE(session().accuracy());
  EXPECT_THAT(session().accuracy()->error.toStdString(), testing::HasSubstr("SIGKILL"));
  EXPECT_TRUE(m_window->banner().isVisible());
}

/// Closes the window in the middle of something: at once, and with everything that it started.
void expectSwiftEnd(std::unique_ptr<MainWindow>& window) {
  EXPECT_FALSE(window->idle());
  const auto processes = kerf::test::descendantsOf(::getpid());
  EXPECT_FALSE(processes.empty());
  QElapsedTimer clock;
  clock.start();
  window.reset();
  EXPECT_LT(clock.elapsed(), mostClosingMs);
  for (const pid_t process : processes)
    EXPECT_TRUE(test::waitFor([&] { return !kerf::test::lives(process); })) << process;
  EXPECT_THAT(kerf::test::childrenOf(::getpid()), testing::IsEmpty()) << "zombies";
}

/// A job that would never end, by the action that starts it.
class WindowClosing : public Window, public testing::WithParamInterface<const char*> {};

TEST_P(WindowClosing, LeavesNothingBehindAndDoesNotWait) {
  openSample();
  m_window->accuracyPanel().plant().setPlant("relu=hang");
  m_window->minifyPanel().plant().setPlant("relu=hang");
  m_window->actions()[GetParam()]->trigger();
  QTest::qWait(500);
  EXPECT_GE(kerf::test::descendantsOf(::getpid()).size(), 3u) << "browser, worker, and what the worker forked";
  expectSwiftEnd(m_window);
}
INSTANTIATE_TEST_SUITE_P(Jobs, WindowClosing, testing::Values("compare", "bisectNode", "minify"),
                         [](const auto& info) { return std::string(info.param); });

TEST_F(WindowSurvives, ClosingWhileAFileIsBeingRead) {
  const QTemporaryDir folder;
  m_window->open({test::writeLarge(folder, 60'000)});
  QTest::qWait(100);
  expectSwiftEnd(m_window);
}

}  // namespace
}  // namespace kerf::ui
