// Recorded op calls of PyTorch against the op table.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "engine/ops/core/recorded_calls.h"

namespace kerf {
namespace {

std::filesystem::path corpus() {
  const char* given = std::getenv("KERF_CORPUS");
  return given ? std::filesystem::path(given) : std::filesystem::path(KERF_SOURCE_DIR) / ".." / "shared" / "corpus";
}

/// Overloads that are known to be incomplete; everything else must pass fully.
constexpr int knownIncomplete = 0;

TEST(OpInfo, RecordedCallsPass) {
  const auto folder = corpus() / "opinfo";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no recorded calls at " << folder << "; set KERF_CORPUS";
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
