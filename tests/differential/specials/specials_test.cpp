// Drawn patterns of NaN and infinities: no verdict is untrue.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/differential/specials/judges.h"

namespace kerf::specials {
namespace {

TEST(Specials, EveryVerdictIsTrue) {
  const auto report = runSpecials({.seed = 3, .count = 48, .backend = "llvm", .bisectEvery = 20});
  EXPECT_THAT(report.wrong, ::testing::IsEmpty());
  EXPECT_THAT(report.refused, ::testing::IsEmpty());
  EXPECT_GT(report.different, 15);
  EXPECT_GT(report.same, 5);
}

}  // namespace
}  // namespace kerf::specials
