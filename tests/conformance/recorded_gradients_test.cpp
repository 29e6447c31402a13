// Gradients and jvps on PyTorch's recorded op calls against differences.
#include <gtest/gtest.h>

#include "engine/conformance/difference_check.h"
#include "engine/conformance/recorded_gradients.h"
#include "engine/support/recordings.h"

namespace kerf {
namespace {

TEST(RecordedGradients, AgreeWithDifferences) {
  const auto folder = recordingsFolder() / "opinfo";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no recorded op calls in " << folder;
  const auto report = checkRecordedGradients(folder);
  ASSERT_TRUE(report) << report.error().text();
  std::map<std::string, int> checked;
  for (const OverloadGradients& row : report->overloads) {
    checked[row.family] += row.checked;
    for (const std::string& failure : row.failures) ADD_FAILURE() << row.op << ": " << failure;
    EXPECT_LE(row.gradientError, differenceTolerance) << row.op;
    EXPECT_LE(row.jvpError, differenceTolerance) << row.op;
    EXPECT_LE(row.dualError, differenceTolerance) << row.op;
  }
  EXPECT_EQ(report->failed, 0);
  for (const auto& [op, calls] : report->missing) ADD_FAILURE() << op << " has no gradient: " << calls << " calls";
  EXPECT_GT(report->checked, report->calls * 2 / 5);  // the others have whole numbers, or no elements
  EXPECT_GT(report->constant, 0);
  for (const char* family : {"pointwise", "index", "reduce", "nn", "linalg", "composite"})
    EXPECT_GT(checked[family], 0) << family;
}

}  // namespace
}  // namespace kerf
