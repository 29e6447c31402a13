// The log panel on messages of this process.
#include <gtest/gtest.h>

#include <thread>

#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QPushButton>
#include <QTemporaryDir>

#include "engine/support/log.h"
#include "tests/ui/support.h"
#include "ui/panels/log_panel.h"
#include "ui/shell/main_window.h"

namespace kerf::ui {
namespace {

class LogPanelTest : public ::testing::Test {
 protected:
  void SetUp() override { setLogLevels(LogLevels(LogLevel::Info)); }
  void TearDown() override { setLogLevels(LogLevels()); }
  void arrive(std::size_t messages) {
    ASSERT_TRUE(test::waitFor([&] { return feed.messages().size() >= messages; }));
  }
  int shown() { return panel.table().model()->rowCount(); }

  LogFeed feed;
  LogPanel panel{feed};
};

TEST_F(LogPanelTest, ShowsMessagesOfAllThreads) {
  logAt(LogCategory::Import, LogLevel::Info, "a.py: repro");
  std::jthread([] { logAt(LogCategory::Store, LogLevel::Warning, "slow\ndisk"); }).join();
  arrive(2);
  ASSERT_EQ(shown(), 2);
  const auto text = [&](int row, int column) {
    return panel.table().model()->index(row, column).data().toString().toStdString();
  };
  EXPECT_EQ(text(0, 1), "info");
  EXPECT_EQ(text(0, 2), "import");
  EXPECT_EQ(text(0, 3), "a.py: repro");
  EXPECT_EQ(text(1, 3), "slow\\ndisk");
}

TEST_F(LogPanelTest, FiltersByLevelAndCategory) {
  logAt(LogCategory::Import, LogLevel::Info, "a");
  logAt(LogCategory::Store, LogLevel::Info, "b");
  logAt(LogCategory::Store, LogLevel::Error, "c");
  arrive(3);
  panel.category().setCurrentText("store");
  EXPECT_EQ(shown(), 2);
  panel.level().setCurrentText("error");
  EXPECT_EQ(shown(), 1);
  panel.category().setCurrentIndex(0);
  EXPECT_EQ(shown(), 1);
}

TEST_F(LogPanelTest, ALowerLevelIsLoggedFromThenOn) {
  logAt(LogCategory::Passes, LogLevel::Debug, "not yet");
  panel.level().setCurrentText("debug");
  logAt(LogCategory::Passes, LogLevel::Debug, "cse: 87 to 85 nodes");
  arrive(1);
  EXPECT_EQ(shown(), 1);
}

TEST_F(LogPanelTest, ClearsAndCopies) {
  logAt(LogCategory::Run, LogLevel::Info, "process 7 ended");
  arrive(1);
  panel.copyButton().click();
  EXPECT_TRUE(QApplication::clipboard()->text().contains("run\tprocess 7 ended"));
  panel.clearButton().click();
  EXPECT_EQ(shown(), 0);
  EXPECT_TRUE(feed.messages().empty());
}

TEST_F(LogPanelTest, KeepsTheLastThousands) {
  for (int i = 0; i < 7000; ++i) logAt(LogCategory::Run, LogLevel::Info, "{}", i);
  ASSERT_TRUE(test::waitFor([&] { return !feed.messages().empty() && feed.messages().back().text == "6999"; }));
  EXPECT_EQ(feed.messages().size(), 5000u);
  EXPECT_EQ(feed.messages().front().text.toStdString(), "2000");
}

TEST(StudioLog, TheWindowLogsWhatItOpens) {
  setLogLevels(LogLevels(LogLevel::Debug));
  MainWindow window(WindowOptions{false, "light"});
  window.open({test::samplePath()});
  ASSERT_TRUE(test::waitFor([&] { return window.idle(); }));
  auto* panel = window.findChild<LogPanel*>();
  ASSERT_NE(panel, nullptr);
  panel->level().setCurrentText("debug");
  ASSERT_TRUE(test::waitFor([&] { return panel->table().text().contains("repro with 1 graphs"); }));
  EXPECT_TRUE(panel->table().text().contains("layout"));
  setLogLevels(LogLevels());
}

TEST(StudioLog, AWrongEnvironmentIsSaid) {
  qputenv("KERF_LOG", "loud");
  EXPECT_TRUE(startLog().contains("'loud' is not a log level"));
  qunsetenv("KERF_LOG");
}

}  // namespace
}  // namespace kerf::ui
