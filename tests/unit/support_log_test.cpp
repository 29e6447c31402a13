#include <fstream>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/support/log.h"
#include "engine/support/log_sinks.h"
#include "tests/support/patience.h"

namespace kerf {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Collects messages at the levels given, and puts the levels back.
class LogTest : public ::testing::Test {
 protected:
  void TearDown() override { setLogLevels(LogLevels()); }
  void levels(std::string_view text) { setLogLevels(*LogLevels::parse(text, LogLevels())); }

  std::vector<std::string> seen;
  LogListener listener{[this](const LogMessage& message) {
    seen.push_back(
        fmt::format("{} {} {}", logCategoryName(message.category), logLevelName(message.level), message.text));
  }};
};

class LogFileTest : public ::testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder); }
  void TearDown() override { fs::remove_all(folder); }
  std::string text(const char* name) const {
    std::ifstream stream(folder / name);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  const fs::path folder = fs::temp_directory_path() / fmt::format("kerf_log_{}", getpid());
};

TEST(LogLevels, LaterPartsWin) {
  const auto levels = LogLevels::parse("debug,store=trace,run=off", LogLevels());
  ASSERT_TRUE(levels);
  EXPECT_EQ(levels->of(LogCategory::Import), LogLevel::Debug);
  EXPECT_EQ(levels->of(LogCategory::Store), LogLevel::Trace);
  EXPECT_EQ(levels->of(LogCategory::Run), LogLevel::Off);
  const auto reset = LogLevels::parse("error", *levels);
  EXPECT_EQ(reset->of(LogCategory::Store), LogLevel::Error);
  EXPECT_EQ(LogLevels::parse("", *levels)->of(LogCategory::Run), LogLevel::Off);
}

TEST(LogLevels, UnknownNamesAreSaid) {
  EXPECT_EQ(LogLevels::parse("loud", LogLevels()).error().message,
            "'loud' is not a log level: use trace, debug, info, warning, error, off");
  const auto category = LogLevels::parse("debug,disk=info", LogLevels());
  EXPECT_EQ(category.error().code, ErrorCode::BadUsage);
  EXPECT_THAT(category.error().message, HasSubstr("'disk' is not a log category: use import, passes"));
}

TEST_F(LogTest, OnlyWhatIsWantedArrives) {
  levels("passes=debug");
  logAt(LogCategory::Passes, LogLevel::Debug, "{} changed {}", "cse", 3);
  logAt(LogCategory::Passes, LogLevel::Trace, "too much");
  logAt(LogCategory::Store, LogLevel::Info, "not wanted");
  logAt(LogCategory::Store, LogLevel::Error, "lost");
  EXPECT_THAT(seen, ElementsAre("passes debug cse changed 3", "store error lost"));
  levels("off");
  logAt(LogCategory::Store, LogLevel::Error, "lost");
  EXPECT_EQ(seen.size(), 2u);
}

TEST_F(LogTest, FileContentsCannotFakeLines) {
  writeLog(LogCategory::Import, LogLevel::Warning, "a\nimport error: b\x1b[31m\r\xff\xc2\x9b é \u202e");
  EXPECT_THAT(seen, ElementsAre("import warning a\\nimport error: b\\x1b[31m\\x0d\\xff\\x9b é \\u202e"));
}

TEST_F(LogTest, ThreadsDoNotMixTheirMessages) {
  levels("info");
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([] {
      for (int i = 0; i < 200; ++i) logAt(LogCategory::Run, LogLevel::Info, "{}", std::string(50, 'x'));
    });
  threads.clear();
  EXPECT_EQ(seen.size(), 800u);
  for (const auto& message : seen) ASSERT_EQ(message, "run info " + std::string(50, 'x'));
}

TEST_F(LogTest, AForkedChildNeitherHangsNorReachesTheListeners) {
  levels("info");
  std::atomic<bool> stop = false;
  std::jthread busy([&] {
    while (!stop)
      logAt(LogCategory::Run, LogLevel::Trace, "never seen"), writeLog(LogCategory::Run, LogLevel::Info, "x");
  });
  for (int i = 0; i < 20; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(unsigned(test::patience.count()));
      const std::size_t before = seen.size();
      writeLog(LogCategory::Run, LogLevel::Error, "from the child");
      _exit(seen.size() == before ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  stop = true;
}

TEST(Log, WithoutSinksNothingIsWanted) { EXPECT_FALSE(logs(LogCategory::Store, LogLevel::Error)); }

TEST(LogEscape, KeepsTextAndOnlyText) {
  EXPECT_EQ(escapedText("plain ∑ text 🙂"), "plain ∑ text 🙂");
  EXPECT_EQ(escapedText(std::string("\0\t\x7f", 3)), "\\x00\\t\\x7f");
  EXPECT_EQ(escapedText("\xed\xa0\x80"), "\\xed\\xa0\\x80");  // a surrogate is no character
  EXPECT_EQ(escapedText("\xc0\x80\xe2\x82"), "\\xc0\\x80\\xe2\\x82");
  EXPECT_EQ(escapedText("\u2066"), "\\u2066");
}

TEST_F(LogFileTest, RotatesAndKeepsSoManyFiles) {
  // In a process of its own: a log file is never taken away again.
  const pid_t child = fork();
  if (child == 0) {
    setLogLevels(LogLevels(LogLevel::Info));
    if (!logToFile(folder / "deep" / "studio.log", 2000, 2)) _exit(1);
    for (int i = 0; i < 100; ++i) logAt(LogCategory::Ui, LogLevel::Info, "message {} {}", i, std::string(50, '.'));
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
  EXPECT_THAT(text("deep/studio.log"), HasSubstr("ui info: message 99 "));
  EXPECT_LE(text("deep/studio.log").size(), 2000u);
  EXPECT_FALSE(text("deep/studio.1.log").empty());
  EXPECT_FALSE(text("deep/studio.2.log").empty());
  EXPECT_FALSE(fs::exists(folder / "deep" / "studio.3.log"));
}

TEST_F(LogFileTest, AFolderThatCannotBeWrittenIsNamed) {
  std::ofstream(folder / "file") << "x";
  const auto done = logToFile(folder / "file" / "studio.log");
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::Environment);
  EXPECT_EQ(done.error().file, (folder / "file" / "studio.log").string());
}

}  // namespace
}  // namespace kerf
