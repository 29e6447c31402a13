// Recorded op calls of PyTorch against the op table.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "engine/conformance/recorded_calls.h"
#include "engine/support/recordings.h"

namespace kerf {
namespace {

/// Overloads that are known to be incomplete; everything else must pass fully.
constexpr int knownIncomplete = 0;

TEST(OpInfo, RecordedCallsPass) {
  const auto folder = recordingsFolder() / "opinfo";
  const auto report = checkRecordedCalls(folder);
  ASSERT_TRUE(report) << report.error().text();
  std::ofstream table(std::filesystem::path(KERF_BINARY_DIR) / "opinfo.txt");
  for (const auto& overload : report->overloads) {
    table << overload.op << ' ' << overload.passed << ' ' << overload.failed << ' ' << overload.unsupported << '\n';
    for (const auto& failure : overload.failures) table << "    " << failure << '\n';
  }
  const int incomplete = int(report->overloads.size()) - report->completeOverloads();
  RecordProperty("complete", report->completeOverloads());
  std::cout << report->completeOverloads() << " of " << report->overloads.size() << " overloads; calls passed "
            << report->passed << ", failed " << report->failed << ", unsupported " << report->unsupported << '\n';
  EXPECT_LE(incomplete, knownIncomplete);
}

}  // namespace
}  // namespace kerf
