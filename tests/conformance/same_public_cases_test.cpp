#include <cstdlib>

#include <gtest/gtest.h>

#include "engine/accuracy/same_cases.h"

namespace kerf {
namespace {

std::filesystem::path corpus() {
  const char* set = std::getenv("KERF_CORPUS");
  return set != nullptr ? std::filesystem::path(set)
                        : std::filesystem::path(KERF_SOURCE_DIR).parent_path() / "shared" / "corpus";
}

TEST(SameConformance, ReproducesEveryRecordedAnswer) {
  const auto folder = corpus() / "same";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << folder << " is not here; set KERF_CORPUS";
  const auto report = checkSameCases(folder);
  ASSERT_TRUE(report.has_value()) << report.error().text();
  EXPECT_GE(report->cases, 1339);
  EXPECT_EQ(report->agreed, report->cases);
  for (const auto& wrong : report->mismatches)
    ADD_FAILURE() << wrong.id << ": recorded " << wrong.expected << ", got " << wrong.got << " " << wrong.reason;
}

TEST(SameConformance, OpInfoRecordsAreNotTakenForCases) {
  const auto folder = corpus() / "opinfo";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << folder << " is not here; set KERF_CORPUS";
  EXPECT_FALSE(holdsSameCases(folder));
  EXPECT_EQ(checkSameCases(folder).error().code, ErrorCode::NotFound);
}

}  // namespace
}  // namespace kerf
