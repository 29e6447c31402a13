#include <unistd.h>

#include <fstream>

#include <gtest/gtest.h>

#include "engine/distributed/doctor/ranks_doctor.h"
#include "engine/support/recordings.h"
#include "tests/support/flight_records.h"

namespace kerf {
namespace {

using namespace testing_support;

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

/// Parts of the world have groups of other names, on which nothing depends.
TEST(RanksDoctor, KnowsThatGroupsOfPartsHaveOtherNames) {
  if (!std::filesystem::exists(traces())) GTEST_SKIP() << "the recorded traces are not here";
  const auto diagnosis = diagnoseRanks(traces() / "trace_fc_subgroups");
  ASSERT_TRUE(diagnosis) << diagnosis.error().text();
  EXPECT_TRUE(diagnosis->graphs.empty());
  EXPECT_FALSE(diagnosis->culprit);
  ASSERT_EQ(diagnosis->timeline.size(), 4U);
  EXPECT_EQ(diagnosis->timeline[0].groups[0].ranks, (std::vector<int>{0, 2}));
  EXPECT_EQ(diagnosis->timeline[1].groups[0].ranks, (std::vector<int>{1, 3}));
  EXPECT_TRUE(diagnosis->absent.empty());
}

TEST(RanksDoctor, SaysOfWhichRanksThereIsNothing) {
  if (!std::filesystem::exists(traces())) GTEST_SKIP() << "the recorded traces are not here";
  const auto folder = std::filesystem::temp_directory_path() / fmt::format("kerf_absent_{}", ::getpid());
  std::filesystem::create_directories(folder);
  for (const char* file : {"rank0.log.gz", "rank3.log.gz"})
    std::filesystem::copy(traces() / "trace_fc_all_reduce_sum" / file, folder / file);
  const auto diagnosis = diagnoseRanks(folder);
  std::filesystem::remove_all(folder);
  ASSERT_TRUE(diagnosis) << diagnosis.error().text();
  EXPECT_EQ(diagnosis->absent, (std::vector<int>{1, 2}));
}

TEST(FlightRecords, NameTheRankThatNeverCame) {
  const std::string first = flight(0, "all_gather", 4, "completed");
  const auto folder = flightFolder("flights_missing", {{first, flight(1, "all_reduce", 4, "started")},
                                                       {first, flight(1, "all_reduce", 4, "started")},
                                                       {first, flight(7, "send", 9, "started", true)}});
  const auto diagnosis = diagnoseRanks(folder);
  ASSERT_TRUE(diagnosis) << diagnosis.error().text();
  EXPECT_EQ(diagnosis->ranks, (std::vector<int>{0, 1, 2}));
  ASSERT_EQ(diagnosis->timeline.size(), 2U) << "messages between two ranks are no collectives";
  EXPECT_EQ(diagnosis->timeline[0].groups[0].what, "all_gather of f32[4, 3]");
  ASSERT_TRUE(diagnosis->culprit);
  EXPECT_EQ(diagnosis->culprit->ranks, std::vector<int>{2});
  EXPECT_EQ(diagnosis->culprit->waiting, (std::vector<int>{0, 1}));
  EXPECT_EQ(diagnosis->culprit->number, 1);
  EXPECT_EQ(diagnosis->culprit->mismatch, "nothing");
  ASSERT_EQ(diagnosis->culprit->lastDone.size(), 1U);
  EXPECT_EQ(diagnosis->culprit->lastDone[0].what, "all_gather of f32[4, 3] (number 0 of group 0 (default_pg))");
}

TEST(FlightRecords, CompareSizesAndForgetWhatTheRingForgot) {
  const std::string usual = flight(5, "all_reduce", 4, "completed"), other = flight(5, "all_reduce", 6, "completed");
  const auto folder =
      flightFolder("flights_sizes", {{flight(4, "all_reduce", 4, "completed"), usual}, {usual}, {other}});
  const auto diagnosis = diagnoseRanks(folder);
  ASSERT_TRUE(diagnosis) << diagnosis.error().text();
  EXPECT_FALSE(diagnosis->timeline[0].differs()) << "ranks 1 and 2 say nothing of what is older than their records";
  ASSERT_TRUE(diagnosis->culprit);
  EXPECT_EQ(diagnosis->culprit->ranks, std::vector<int>{2});
  EXPECT_EQ(diagnosis->culprit->mismatch, "all_reduce of f32[6, 3]");
}

TEST(FlightRecords, BuildNothing) {
  const auto folder = flightFolder("flights_bad", {{}, {}});
  std::ofstream(folder / "nccl_trace_rank_1", std::ios::binary) << "\x80\x02" << "cos\nsystem\n"
                                                                << pickled("true") << "\x85R.";
  const auto diagnosis = diagnoseRanks(folder);
  ASSERT_FALSE(diagnosis);
  EXPECT_EQ(diagnosis.error().code, ErrorCode::BadInput);
}

TEST(RanksDoctor, NeedsTwoRanks) {
  const auto diagnosis = diagnoseRanks(testing::TempDir());
  ASSERT_FALSE(diagnosis);
  EXPECT_EQ(diagnosis.error().code, ErrorCode::BadInput);
}

}  // namespace
}  // namespace kerf
