#include <unistd.h>

#include <fstream>

#include <gtest/gtest.h>

#include "engine/distributed/doctor/ranks_doctor.h"
#include "engine/support/recordings.h"
#include "tests/support/flight_records.h"
#include "tests/support/rank_traces.h"

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

/// A log that ends in the middle is no difference: what it has not, it has not yet.
TEST(RanksDoctor, BlamesNoRankWhoseLogEndsInTheMiddle) {
  const auto folder = std::filesystem::temp_directory_path() / fmt::format("kerf_torn_{}", ::getpid());
  const std::string stage = "inductor_post_grad_graph";
  std::vector<std::string> whole;
  for (int rank = 0; rank < 3; ++rank)
    whole.push_back(graphRecord(rank, 0, stage, reducingGraph({"0"})) +
                    graphRecord(rank, 1, stage, reducingGraph({"0", "0"})));
  writeRankLogs(folder, whole);
  const auto agreed = diagnoseRanks(folder);
  ASSERT_TRUE(agreed) << agreed.error().text();
  EXPECT_TRUE(agreed->torn.empty());
  ASSERT_EQ(agreed->timeline.size(), 3U);

  std::vector<std::string> logs = whole;
  const std::string first = graphRecord(2, 0, stage, reducingGraph({"0"}));
  logs[2] = first + graphRecord(2, 1, stage, reducingGraph({"0", "0"})).substr(0, 60);  // within the header line
  writeRankLogs(folder, logs);
  const auto torn = diagnoseRanks(folder);
  ASSERT_TRUE(torn) << torn.error().text();
  ASSERT_EQ(torn->torn.size(), 1U);
  EXPECT_EQ(torn->torn[0].rank, 2);
  EXPECT_EQ(torn->torn[0].file, "rank2.log");
  EXPECT_TRUE(torn->graphs.empty());
  EXPECT_FALSE(torn->culprit);
  ASSERT_EQ(torn->timeline.size(), 3U);
  EXPECT_EQ(torn->timeline[0].groups[0].ranks, (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(torn->timeline[2].groups[0].ranks, (std::vector<int>{0, 1}));

  logs[1] = graphRecord(1, 0, stage, reducingGraph({"7"}));  // another graph, and a log that is whole
  writeRankLogs(folder, logs);
  const auto both = diagnoseRanks(folder);
  ASSERT_TRUE(both) << both.error().text();
  EXPECT_EQ(both->torn.size(), 1U);
  ASSERT_EQ(both->graphs.size(), 2U);
  EXPECT_EQ(both->graphs[0].index, 1);  // another group
  EXPECT_EQ(both->graphs[1].index, -1);
  EXPECT_EQ(both->graphs[1].groups[1].ranks, std::vector<int>{1});
  std::filesystem::remove_all(folder);
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

TEST(RanksDoctor, DoesNotMixTwoLogsOfOneRank) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "ranks_twice";
  const std::string stage = "inductor_post_grad_graph";
  writeRankLogs(folder,
                {graphRecord(0, 0, stage, reducingGraph({"0"})), graphRecord(1, 0, stage, reducingGraph({"0"}))});
  ASSERT_TRUE(diagnoseRanks(folder));
  std::ofstream(folder / "rank0_again.log") << graphRecord(0, 0, stage, reducingGraph({"0", "0"}));
  const auto twice = diagnoseRanks(folder);
  ASSERT_FALSE(twice) << "of which run is rank 1?";
  EXPECT_EQ(twice.error().message,
            "rank0.log and rank0_again.log are both of rank 0: put the logs of each run in a folder of their own");
}

TEST(RanksDoctor, LeadsEachRankToItsOwnPlace) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "ranks_apart";
  writeRanksApart(folder);
  const auto diagnosis = diagnoseRanks(folder);
  ASSERT_TRUE(diagnosis) << diagnosis.error().text();
  ASSERT_EQ(diagnosis->timeline.size(), 2U);
  const TimelineRow& world = diagnosis->timeline[0];
  EXPECT_EQ(world.compileId, "[0/0]");
  ASSERT_EQ(world.groups.size(), 1U);
  EXPECT_EQ(world.groups[0].ranks, (std::vector<int>{0, 1, 2}));
  const auto& places = world.groups[0].places;
  ASSERT_EQ(places.size(), 3U);
  const std::vector<ScheduledPlace> expected{{"[0/0]", "inductor_post_grad_graph", 0, "all_reduce"},
                                             {"[0/0]", "inductor_post_grad_graph", 0, "all_reduce_1"},
                                             {"[1/0]", "aot_inference_graph", 1, "all_reduce"}};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(places[i].ranks, std::vector<int>{int(i)});
    EXPECT_EQ(places[i].place, expected[i]) << places[i].place.stage << " " << places[i].place.node;
  }
}

/// Of thousands of ranks each may do something else, or the same elsewhere.
TEST(RanksDoctor, GroupsVeryManyPlaces) {
  constexpr int ranks = 60'000;
  std::vector<RankItem> items;
  for (int rank = 0; rank < ranks; ++rank)
    items.push_back({rank, rank % 2 == 0 ? "all_reduce" : "own " + std::to_string(rank),
                     ScheduledPlace{"0/0", "aot_forward_graph", 0, "wait_" + std::to_string(rank / 4)}});
  const std::vector<RankGroup> groups = groupedByText(items);
  ASSERT_EQ(groups.size(), std::size_t(ranks / 2 + 1));
  EXPECT_EQ(groups[0].what, "all_reduce");
  ASSERT_EQ(groups[0].places.size(), std::size_t(ranks / 4));
  EXPECT_EQ(groups[0].places[1].place.node, "wait_1");
  EXPECT_EQ(groups[0].places[1].ranks, (std::vector{4, 6}));
  EXPECT_EQ(groups[2].what, "own 3");
  EXPECT_EQ(groups[2].ranks, std::vector{3});
}

TEST(RanksDoctor, NamesAPlaceThatRanksShareOnce) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "ranks_together";
  const std::string stage = "aot_inference_graph", graph = reducingGraph({"0"});
  writeRankLogs(folder, {graphRecord(0, 0, stage, graph), graphRecord(1, 0, stage, graph),
                         graphRecord(2, 0, stage, reducingGraph({"0", "0"}))});
  const auto diagnosis = diagnoseRanks(folder);
  ASSERT_TRUE(diagnosis) << diagnosis.error().text();
  ASSERT_EQ(diagnosis->timeline.size(), 2U);
  const auto& shared = diagnosis->timeline[0].groups[0].places;
  ASSERT_EQ(shared.size(), 1U);
  EXPECT_EQ(shared[0].ranks, (std::vector<int>{0, 1, 2}));
  const auto& last = diagnosis->timeline[1].groups;
  ASSERT_EQ(last.size(), 2U);
  EXPECT_EQ(last[0].what, "nothing");
  EXPECT_TRUE(last[0].places.empty());
  ASSERT_EQ(last[1].places.size(), 1U);
  EXPECT_EQ(last[1].places[0].place, (ScheduledPlace{"[0/0]", stage, 0, "all_reduce_1"}));
}

/// The second graph of one id and stage is there on one rank alone.
TEST(RanksDoctor, SaysWhichGraphOfAnIdAndStageDiffers) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "ranks_second_graph";
  const std::string stage = "aot_inference_graph", record = graphRecord(0, 0, stage, reducingGraph({"0"}));
  writeRankLogs(folder, {record + record, graphRecord(1, 0, stage, reducingGraph({"0"}))});
  const auto diagnosis = diagnoseRanks(folder);
  ASSERT_TRUE(diagnosis) << diagnosis.error().text();
  ASSERT_EQ(diagnosis->graphs.size(), 1U);
  EXPECT_EQ(diagnosis->graphs[0].index, -1);
  ASSERT_EQ(diagnosis->graphs[0].groups.size(), 2U);
  const auto& there = diagnosis->graphs[0].groups[0];
  EXPECT_EQ(there.what, "this graph");
  ASSERT_EQ(there.places.size(), 1U);
  EXPECT_EQ(there.places[0].place, (ScheduledPlace{"[0/0]", stage, 1, ""}));
  EXPECT_TRUE(diagnosis->graphs[0].groups[1].places.empty());
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
