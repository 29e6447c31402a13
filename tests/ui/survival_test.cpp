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
#include "tests/support/cpu_time.h"
#include "tests/support/processes.h"
#include "tests/ui/window_fixture.h"
#include "ui/panels/accuracy_panel.h"
#include "ui/panels/minify_panel.h"

namespace kerf::ui {
namespace {

namespace fs = std::filesystem;

constexpr qint64 mostClosingMs = 20'000;  // a worker that does not greet is waited for longer; other work makes it slow
constexpr double mostClosingWork = 0.3;   // CPU seconds of the window's thread

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

class WindowSurvivesFault : public Window, public ::testing::WithParamInterface<const char*> {};

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
INSTANTIATE_TEST_SUITE_P(Kinds, WindowSurvivesFault, ::testing::Values("compile_error", "runtime_error", "crash"),
                         [](const auto& info) { return std::string(info.param); });

TEST_F(WindowSurvives, TheDeathOfEveryWorker) {
  openSample();
  for (const pid_t worker : kerf::test::workersOf(::getpid())) ::kill(worker, SIGKILL);
  session().showStage(Location::Stage::Pass, 2);
  ASSERT_TRUE(test::waitFor([&] { return m_window->idle(); }));
  session().showStage(Location::Stage::Pass, 3);
  ASSERT_TRUE(test::waitFor([&] { return m_window->idle(); }));
  EXPECT_EQ(session().location().index, 3) << qPrintable(m_window->banner().text());
}

TEST_F(WindowSurvives, TheDeathOfAWorkerAtWork) {
  openSample();
  const auto before = kerf::test::workersOf(::getpid());
  m_window->accuracyPanel().plant().setPlant("relu=hang");
  m_window->actions()["compare"]->trigger();
  std::vector<pid_t> working;
  ASSERT_TRUE(test::waitFor([&] {
    working = kerf::test::without(kerf::test::workersOf(::getpid()), before);
    return !working.empty();
  }));
  QTest::qWait(300);
  for (const pid_t worker : working) ::kill(worker, SIGKILL);
  ASSERT_TRUE(test::waitFor([&] { return m_window->idle(); }));
  ASSERT_TRUE(session().accuracy());
  EXPECT_THAT(session().accuracy()->error.toStdString(), ::testing::HasSubstr("SIGKILL"));
  EXPECT_TRUE(m_window->banner().isVisible());
}

/// Closes the window in the middle of something: with everything that it started, and without waiting for any of it.
void expectSwiftEnd(std::unique_ptr<MainWindow>& window) {
  EXPECT_FALSE(window->idle());
  const auto processes = kerf::test::descendantsOf(::getpid());
  EXPECT_FALSE(processes.empty());
  QElapsedTimer clock;
  clock.start();
  const double before = kerf::testing::threadSeconds();
  window.reset();
  EXPECT_LT(kerf::testing::threadSeconds() - before, mostClosingWork * kerf::testing::slowdown);
  EXPECT_LT(clock.elapsed(), mostClosingMs);
  ::testing::Test::RecordProperty("closing_ms", int(clock.elapsed()));
  std::printf("closing took %d ms\n", int(clock.elapsed()));
  EXPECT_THAT(kerf::test::childrenOf(::getpid()), ::testing::IsEmpty()) << "workers, or zombies of them";
  for (const pid_t process : processes)
    EXPECT_TRUE(test::waitFor([&] { return !kerf::test::lives(process); })) << process;
}

/// A job that would never end, by the action that starts it.
class WindowClosing : public Window, public ::testing::WithParamInterface<const char*> {};

TEST_P(WindowClosing, LeavesNothingBehindAndDoesNotWait) {
  openSample();
  m_window->accuracyPanel().plant().setPlant("relu=hang");
  m_window->minifyPanel().plant().setPlant("relu=hang");
  m_window->actions()[GetParam()]->trigger();
  EXPECT_TRUE(test::waitFor([] { return kerf::test::descendantsOf(::getpid()).size() >= 3; }))
      << "browser, worker, and what the worker forked";
  QTest::qWait(200);
  expectSwiftEnd(m_window);
}
INSTANTIATE_TEST_SUITE_P(Jobs, WindowClosing, ::testing::Values("compare", "bisectNode", "minify"),
                         [](const auto& info) { return std::string(info.param); });

TEST_F(WindowSurvives, ClosingWhileAFileIsBeingRead) {
  const QTemporaryDir folder;
  m_window->open({test::writeLarge(folder, 60'000)});
  ASSERT_TRUE(test::waitFor([] { return !kerf::test::descendantsOf(::getpid()).empty(); }));
  expectSwiftEnd(m_window);
}

/// A TORCH_TRACE log of 200 MB: records of a kind that nobody knows, one after the other.
QString writeLargeLog(const QTemporaryDir& folder) {
  const QString path = folder.path() + "/dedicated_log_torch_trace_large.log";
  QFile file(path);
  EXPECT_TRUE(file.open(QIODevice::WriteOnly));
  const QByteArray line = "\t" + QByteArray(2000, 'x') + "\n";
  for (int i = 0; file.pos() < 200'000'000; ++i) {
    file.write(
        "V1125 10:00:00.000000 1 torch/_dynamo/x.py:1] {\"artifact\": {\"name\": \"a\", \"encoding\": "
        "\"string\"}, \"frame_id\": 0, \"frame_compile_id\": 0, \"attempt\": 0, \"has_payload\": \"0\"}\n");
    for (int k = 0; k < 100; ++k) file.write(line);
  }
  return path;
}

TEST_F(WindowSurvives, ClosingWhileALargeLogIsBeingRead) {
  const QTemporaryDir folder;
  const auto log = writeLargeLog(folder);
  m_heart.restart();
  m_window->open({log});
  ASSERT_TRUE(test::waitFor([] { return !kerf::test::descendantsOf(::getpid()).empty(); }));
  expectSwiftEnd(m_window);
}

TEST_F(WindowSurvives, ClosingWhileALargeGraphIsLaidOut) {
  const QTemporaryDir folder;
  m_window->open({test::writeLarge(folder, 30'000)});
  ASSERT_TRUE(test::waitFor([&] { return m_window->pane().view().scene() != nullptr; }));
  m_window->pane().openAll(true);
  EXPECT_TRUE(test::waitFor([&] { return m_window->pane().busy(); }));
  expectSwiftEnd(m_window);
}

TEST_F(WindowSurvives, ClosingWhileStagesAreVerified) {
  const auto trace = recordingsFolder() / "variety/dynamic_mlp/trace";
  if (!fs::exists(trace)) GTEST_SKIP() << "no recordings";
  open(QString::fromStdString(trace.string()));
  session().verifyStages();
  ASSERT_TRUE(test::waitFor([&] { return !m_window->idle(); }));
  expectSwiftEnd(m_window);
}

/// Workers that never say a word, and do not hear that nobody listens: they are neither waited for nor left.
TEST_F(WindowSurvives, ClosingWhileWorkersAreDeaf) {
  const QTemporaryDir folder;
  QFile deaf(folder.path() + "/deaf");
  ASSERT_TRUE(deaf.open(QIODevice::WriteOnly));
  deaf.write("#!/bin/bash\ntrap '' INT TERM HUP PIPE\nexec 9<> <(:)\nread -t 30 -u 9 line\ntouch \"$0.waited\"\n");
  deaf.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
  deaf.close();
  const auto program = qgetenv("KERF_CLI");
  qputenv("KERF_CLI", deaf.fileName().toLocal8Bit());
  m_window->open({test::samplePath()});
  session().listStore();
  ASSERT_TRUE(test::waitFor([&] { return kerf::test::childrenOf(::getpid()).size() >= 2; }));
  qputenv("KERF_CLI", program);
  EXPECT_FALSE(m_window->idle());
  const auto workers = kerf::test::childrenOf(::getpid());
  m_window.reset();
  for (const pid_t worker : workers) EXPECT_FALSE(kerf::test::lives(worker));
  EXPECT_FALSE(QFile::exists(deaf.fileName() + ".waited")) << "the window waited for what a worker did";
}

}  // namespace
}  // namespace kerf::ui
