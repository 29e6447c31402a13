// What a child process logs appears in its parent's log.
#include <gtest/gtest.h>

#include "engine/process/isolation.h"
#include "engine/process/log_relay.h"
#include "tests/support/patience.h"

namespace kerf {
namespace {

TEST(LogRelay, AChildsMessagesAreTheParentsWithTheirLevelAndCategory) {
  std::vector<LogMessage> heard;
  const LogListener listener([&](const LogMessage& message) { heard.push_back(message); });
  const std::function<Result<int>(const SendEvent&)> body = [](const SendEvent&) -> Result<int> {
    logAt(LogCategory::Compile, LogLevel::Warning, "kernel {} is slow\n", 7);
    logAt(LogCategory::Compile, LogLevel::Debug, "not asked for");
    return 42;
  };
  const auto answer = callIsolated<int>(body, {.timeout = test::patience}, {});
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->answer->value(), 42);
  ASSERT_EQ(heard.size(), 1u);
  EXPECT_EQ(heard[0].text, "kernel 7 is slow\\n");
  EXPECT_EQ(heard[0].level, LogLevel::Warning);
  EXPECT_EQ(heard[0].category, LogCategory::Compile);
}

TEST(LogRelay, FramesThatAreNoMessagesAreLeftOut) {
  std::vector<LogMessage> heard;
  const LogListener listener([&](const LogMessage& message) { heard.push_back(message); });
  relayLog({FrameKind::Log, "nonsense"});
  relayLog({FrameKind::Log, ""});
  EXPECT_TRUE(heard.empty());
}

}  // namespace
}  // namespace kerf
