
#include <gtest/gtest.h>

#include "engine/accuracy/same_cases.h"
#include "engine/support/recordings.h"

namespace kerf {
namespace {

TEST(SameConformance, ReproducesEveryRecordedAnswer) {
  const auto folder = recordingsFolder() / "same";
  const auto report = checkSameCases(folder);
  ASSERT_TRUE(report.has_value()) << report.error().text();
  EXPECT_GE(report->cases, 1339);
  EXPECT_EQ(report->agreed, report->cases);
  for (const auto& wrong : report->mismatches)
    ADD_FAILURE() << wrong.id << ": recorded " << wrong.expected << ", got " << wrong.got << " " << wrong.reason;
}

TEST(SameConformance, OpInfoRecordsAreNotTakenForCases) {
  const auto folder = recordingsFolder() / "opinfo";
  EXPECT_FALSE(holdsSameCases(folder));
  EXPECT_EQ(checkSameCases(folder).error().code, ErrorCode::NotFound);
}

}  // namespace
}  // namespace kerf
