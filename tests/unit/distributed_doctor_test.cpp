#include <gtest/gtest.h>

#include "engine/distributed/doctor/ranks_doctor.h"
#include "engine/support/recordings.h"

namespace kerf {
namespace {

std::filesystem::path traces() { return recordingsFolder() / "distributed" / "trace"; }

TEST(RanksDoctor, FindsNothingWhereRanksAgree) {
  if (!std::filesystem::exists(traces())) GTEST_SKIP() << "the recorded traces are not here";
  const auto diagnosis = diagnoseRanks(traces() / "trace_fc_all_reduce_sum");
  ASSERT_TRUE(diagnosis) << diagnosis.error().text();
  EXPECT_EQ(diagnosis->ranks, (std::vector<int>{0, 1, 2, 3}));
  EXPECT_TRUE(diagnosis->graphs.empty());
  EXPECT_FALSE(diagnosis->culprit);
  ASSERT_EQ(diagnosis->timeline.size(), 1U);
  EXPECT_EQ(diagnosis->timeline[0].groups[0].what, "all_reduce of f32[4, 3], 'sum', '0'");
}

TEST(RanksDoctor, NamesTheFirstNodeThatDiffers) {
  if (!std::filesystem::exists(traces())) GTEST_SKIP() << "the recorded traces are not here";
  const auto diagnosis = diagnoseRanks(traces() / "cc_stride_mismatch");
  ASSERT_TRUE(diagnosis) << diagnosis.error().text();
  ASSERT_FALSE(diagnosis->graphs.empty());
  EXPECT_EQ(diagnosis->graphs[0].compileId, "[0/0_1]");
  EXPECT_EQ(diagnosis->graphs[0].index, 0);
  EXPECT_EQ(diagnosis->graphs[0].groups[0].ranks, (std::vector<int>{0, 1}));
  EXPECT_EQ(diagnosis->graphs[0].groups[1].ranks, (std::vector<int>{2, 3}));
}

TEST(RanksDoctor, NeedsTwoRanks) {
  const auto diagnosis = diagnoseRanks(testing::TempDir());
  ASSERT_FALSE(diagnosis);
  EXPECT_EQ(diagnosis.error().code, ErrorCode::BadInput);
}

}  // namespace
}  // namespace kerf
