// Flight records that are odd, partial or hostile.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "engine/distributed/doctor/ranks_doctor.h"
#include "tests/support/flight_records.h"

namespace kerf {
namespace {

using namespace testing_support;
using ::testing::HasSubstr;

struct Call {
  int record, number;
  std::string op, state = "completed";
  bool isMessage = false;
  int rows = 4;
  std::string group = "0";
};

std::string entryOf(const Call& call) {
  return dictOf({{"record_id", pickled(call.record)},
                 {"process_group", pickled(call.group) + pickled(call.group == "0" ? "default_pg" : "") + "\x86"},
                 {"collective_seq_id", pickled(call.number)},
                 {"p2p_seq_id", pickled(call.number)},
                 {"profiling_name", pickled("nccl:" + call.op)},
                 {"input_sizes", listOf({listOf({pickled(call.rows), pickled(3)})})},
                 {"input_dtypes", listOf({pickled("Float")})},
                 {"state", pickled(call.state)},
                 {"is_p2p", call.isMessage ? "\x88" : "\x89"}});
}

RanksDiagnosis diagnosed(const std::string& name, const std::vector<std::vector<Call>>& ranks) {
  std::vector<std::vector<std::string>> entries;
  for (const auto& calls : ranks) {
    entries.emplace_back();
    for (const Call& call : calls) entries.back().push_back(entryOf(call));
  }
  const auto folder = flightFolder(name, entries);
  auto diagnosis = diagnoseRanks(folder);
  std::filesystem::remove_all(folder);
  EXPECT_TRUE(diagnosis) << diagnosis.error().text();
  return diagnosis ? *diagnosis : RanksDiagnosis{};
}

TEST(FlightMessages, NameTheSendThatNobodyReceives) {
  const auto found =
      diagnosed("messages_missing", {{{0, 1, "send 0->1", "completed", true}, {1, 2, "send 0->1", "started", true}},
                                     {{0, 1, "recv 1<-0", "completed", true}}});
  ASSERT_TRUE(found.culprit);
  EXPECT_EQ(found.culprit->ranks, std::vector<int>{1});
  EXPECT_EQ(found.culprit->waiting, std::vector<int>{0});
  EXPECT_EQ(found.culprit->collective, "message of f32[4, 3] (started)");
  EXPECT_EQ(found.culprit->number, 1);
}

TEST(FlightMessages, CompareSizesOfBothEnds) {
  const auto found = diagnosed("messages_sizes",
                               {{{0, 1, "send 0->1", "started", true, 4}}, {{0, 1, "recv 1<-0", "started", true, 6}}});
  ASSERT_TRUE(found.culprit);
  EXPECT_EQ(found.culprit->mismatch, "message of f32[6, 3] (started)");
  EXPECT_EQ(found.timeline[0].compileId, "0 -> 1 in group 0 (default_pg)");
}

TEST(FlightMessages, RanksOfAGroupAreThoseOfTheWorld) {
  // Group "1" is not in the configuration: its ranks are taken as they are counted.
  const auto found = diagnosed(
      "messages_meet", {{{0, 1, "send 0->2", "completed", true}}, {}, {{0, 1, "recv 2<-0", "completed", true}}});
  EXPECT_FALSE(found.culprit);
  ASSERT_EQ(found.timeline.size(), 1U);
  EXPECT_EQ(found.timeline[0].groups[0].ranks, (std::vector<int>{0, 2}));
}

TEST(FlightCoalesced, EveryCallOfANumberIsCompared) {
  const std::vector<Call> usual{{0, 1, "all_reduce"}, {1, 1, "all_gather"}, {2, 1, "coalesced"}},
      other{{0, 1, "all_reduce", "completed", false, 9}, {1, 1, "all_gather"}, {2, 1, "coalesced"}};
  const auto same = diagnosed("coalesced_same", {usual, usual, usual});
  EXPECT_FALSE(same.culprit);
  EXPECT_EQ(same.timeline[0].groups[0].what, "all_reduce of f32[4, 3]; all_gather of f32[4, 3]");
  const auto found = diagnosed("coalesced", {usual, usual, other});
  ASSERT_TRUE(found.culprit);
  EXPECT_EQ(found.culprit->ranks, std::vector<int>{2});
  EXPECT_EQ(found.culprit->mismatch, "all_reduce of f32[9, 3]; all_gather of f32[4, 3]");
}

TEST(FlightCoalesced, TheEndOfABatchOfMessagesIsNoCollective) {
  const auto found = diagnosed("coalesced_messages",
                               {{{0, 1, "all_reduce"}, {1, 1, "send 0->1", "completed", true}, {2, 1, "coalesced"}},
                                {{0, 1, "all_reduce"}, {1, 1, "recv 1<-0", "completed", true}, {2, 1, "coalesced"}},
                                {{0, 1, "all_reduce"}}});
  EXPECT_FALSE(found.culprit);
  EXPECT_EQ(found.timeline.size(), 2U);
}

TEST(FlightStates, WhatHasEndedSomewhereHasMet) {
  const auto found = diagnosed("states", {{{0, 1, "all_reduce"}, {1, 2, "all_gather", "started"}},
                                          {{0, 1, "all_reduce", "started"}},
                                          {{0, 1, "all_reduce"}, {1, 2, "all_gather", "started"}}});
  ASSERT_TRUE(found.culprit) << "rank 1 wrote its record a little earlier";
  EXPECT_EQ(found.culprit->number, 2);
  EXPECT_EQ(found.culprit->ranks, std::vector<int>{1});
}

TEST(FlightStates, WhatAllHaveIssuedAndHasNotEndedIsTold) {
  const auto found = diagnosed("unfinished", {{{0, 1, "all_reduce"}, {1, 2, "all_gather", "started"}},
                                              {{0, 1, "all_reduce"}, {1, 2, "all_gather", "started"}}});
  ASSERT_TRUE(found.culprit);
  EXPECT_EQ(found.culprit->number, 2);
  EXPECT_EQ(found.culprit->collective, "all_gather of f32[4, 3] (started)");
  EXPECT_EQ(found.culprit->mismatch, "a call that does not end");
}

TEST(FlightRings, AGroupThatARingHasForgottenIsNotMissing) {
  const auto found = diagnosed("rings", {{{0, 1, "all_reduce", "completed", false, 4, "7"}, {1, 1, "all_gather"}},
                                         {{900, 1, "all_gather"}},
                                         {{0, 1, "all_reduce", "completed", false, 4, "7"}, {1, 1, "all_gather"}}});
  EXPECT_FALSE(found.culprit);
}

TEST(FlightRanks, StopAtDifferentNumbersInDifferentGroups) {
  const auto found = diagnosed(
      "different_groups",
      {{{0, 1, "all_reduce"}, {1, 1, "broadcast", "started", false, 4, "7"}},
       {{0, 1, "all_reduce"}, {1, 1, "broadcast", "started", false, 4, "7"}, {2, 2, "all_reduce", "scheduled"}},
       {{0, 1, "all_reduce"}, {1, 2, "all_reduce", "started"}}});
  ASSERT_TRUE(found.culprit);
  EXPECT_EQ(found.culprit->ranks, std::vector<int>{0});
  ASSERT_EQ(found.culprit->lastDone.size(), 2U);
  EXPECT_EQ(found.culprit->lastDone[0].what, "broadcast of f32[4, 3] (started) (number 1 of group 7)");
}

TEST(HostileFlights, TwoRecordsOfOneRank) {
  const auto folder = flightFolder("flights_twice", {{entryOf({0, 1, "all_reduce"})}, {entryOf({0, 1, "all_reduce"})}});
  std::filesystem::copy_file(folder / "nccl_trace_rank_1", folder / "old_rank_1");
  const auto diagnosis = diagnoseRanks(folder);
  std::filesystem::remove_all(folder);
  ASSERT_FALSE(diagnosis);
  EXPECT_THAT(diagnosis.error().message, HasSubstr("two flight records are of rank 1"));
}

/// A pickle names one value any number of times: what it stands for must not become that large.
std::string repeated(const std::string& value, int times) {
  std::string bytes = value + "q" + std::string(1, char(7)) + "0](";
  for (int i = 0; i < times; ++i) bytes += std::string("h") + char(7);
  return bytes + "e";
}

void expectQuickRefusal(const std::string& name, const std::string& root, const std::string& says) {
  const auto folder = flightFolder(name, {{entryOf({0, 1, "all_reduce"})}, {}});
  writePickle(folder / "nccl_trace_rank_1", root);
  const auto start = std::chrono::steady_clock::now();
  const auto diagnosis = diagnoseRanks(folder);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20)) << name;
  std::filesystem::remove_all(folder);
  ASSERT_FALSE(diagnosis) << name;
  EXPECT_THAT(diagnosis.error().message, HasSubstr(says)) << name;
}

TEST(HostileFlights, RepeatedValuesDoNotGrow) {
  std::vector<std::string> sizes(20000, listOf({pickled(4), pickled(3)}));
  const std::string wide = dictOf({{"collective_seq_id", pickled(1)}, {"input_sizes", listOf(sizes)}});
  expectQuickRefusal("flights_wide", dictOf({{"entries", repeated(wide, 20000)}}), "larger than the file can be");
  std::vector<std::pair<std::string, std::string>> keys;
  for (int i = 0; i < 20000; ++i) keys.emplace_back(std::to_string(i), pickled(i));
  keys.emplace_back("collective_seq_id", pickled(1));
  expectQuickRefusal("flights_keys", dictOf({{"entries", repeated(dictOf(keys), 20000)}}), "no sequence number");
  const std::string name =
      dictOf({{"collective_seq_id", pickled(1)}, {"profiling_name", pickled(std::string(1 << 20, 'x'))}});
  expectQuickRefusal("flights_names", dictOf({{"entries", repeated(name, 100000)}}), "larger than the file can be");
}

}  // namespace
}  // namespace kerf
