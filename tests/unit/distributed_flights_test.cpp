// Flight records that are odd, partial or hostile.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "engine/capture/pt2/pickle.h"
#include "engine/distributed/doctor/flight_json.h"
#include "engine/distributed/doctor/flight_recorder.h"
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
  const std::vector<Call> usual{
      {0, 1, "all_reduce", "scheduled"}, {1, 1, "all_gather", "scheduled"}, {2, 1, "coalesced"}},
      other{{0, 1, "all_reduce", "scheduled", false, 9}, {1, 1, "all_gather", "scheduled"}, {2, 1, "coalesced"}};
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
                               {{{0, 1, "all_reduce"}, {1, 1, "send 0->1", "scheduled", true}, {2, 1, "coalesced"}},
                                {{0, 1, "all_reduce"}, {1, 1, "recv 1<-0", "scheduled", true}, {2, 1, "coalesced"}},
                                {{0, 1, "all_reduce"}}});
  EXPECT_FALSE(found.culprit);
  ASSERT_EQ(found.timeline.size(), 2U);
  EXPECT_EQ(found.timeline[1].groups[0].what, "message of f32[4, 3]");
  EXPECT_EQ(found.uncomparedMessages, 0);
}

/// The record of the end says how far all of them are; what was issued alone has a state of its own.
TEST(FlightCoalesced, CallsAreAsFarAsTheirEnd) {
  const std::vector<Call> sends{{0, 1, "send 0->1", "completed", true},
                                {1, 2, "send 0->1", "scheduled", true},
                                {2, 1, "coalesced", "started", true}},
      receives{{0, 1, "recv 1<-0", "completed", true},
               {1, 2, "recv 1<-0", "scheduled", true},
               {2, 1, "coalesced", "started"}};
  const auto messages = diagnosed("coalesced_started", {sends, receives});
  ASSERT_TRUE(messages.culprit);
  EXPECT_TRUE(messages.culprit->isUnfinished);
  EXPECT_EQ(messages.culprit->number, 1);
  EXPECT_EQ(messages.culprit->collective, "message of f32[4, 3] (started)");
  EXPECT_EQ(messages.timeline[0].groups[0].what, "message of f32[4, 3]");
  const std::vector<Call> calls{
      {0, 1, "all_gather", "scheduled"}, {1, 1, "all_gather", "scheduled"}, {2, 1, "coalesced", "started"}};
  const auto collectives = diagnosed("coalesced_gathers", {calls, calls, calls});
  ASSERT_TRUE(collectives.culprit);
  EXPECT_EQ(collectives.culprit->collective, "all_gather of f32[4, 3]; all_gather of f32[4, 3] (started)");
}

TEST(FlightStates, WhatHasEndedSomewhereHasMet) {
  const auto found = diagnosed("states", {{{0, 1, "all_reduce"}, {1, 2, "all_gather", "started"}},
                                          {{0, 1, "all_reduce", "started"}},
                                          {{0, 1, "all_reduce"}, {1, 2, "all_gather", "started"}}});
  ASSERT_TRUE(found.culprit) << "rank 1 wrote its record a little earlier";
  EXPECT_EQ(found.culprit->number, 2);
  EXPECT_EQ(found.culprit->ranks, std::vector<int>{1});
  EXPECT_FALSE(found.timeline[0].differs());
  EXPECT_EQ(found.timeline[0].groups[0].what, "all_reduce of f32[4, 3] (completed, started)");
}

TEST(FlightStates, WhatAllHaveIssuedAndHasNotEndedIsTold) {
  const auto found = diagnosed("unfinished", {{{0, 1, "all_reduce"}, {1, 2, "all_gather", "started"}},
                                              {{0, 1, "all_reduce"}, {1, 2, "all_gather", "started"}}});
  ASSERT_TRUE(found.culprit);
  EXPECT_EQ(found.culprit->number, 2);
  EXPECT_EQ(found.culprit->collective, "all_gather of f32[4, 3] (started)");
  EXPECT_EQ(found.culprit->mismatch, "a call that does not end");
  EXPECT_TRUE(found.culprit->isUnfinished);
}

TEST(FlightRings, AGroupThatARingHasForgottenIsNotMissing) {
  const auto found = diagnosed("rings", {{{0, 1, "all_reduce", "completed", false, 4, "7"}, {1, 1, "all_gather"}},
                                         {{900, 1, "all_gather"}},
                                         {{0, 1, "all_reduce", "completed", false, 4, "7"}, {1, 1, "all_gather"}}});
  EXPECT_FALSE(found.culprit);
}

/// Rank 0's ring begins within a coalesced call, then at its end, then at the end of a batch of messages.
TEST(FlightRings, MayBeginAnywhereInACoalescedCall) {
  const std::vector<Call> call{{10, 5, "reduce_scatter", "scheduled"},
                               {11, 5, "all_gather", "scheduled"},
                               {12, 5, "coalesced"},
                               {13, 6, "all_reduce"},
                               {14, 7, "broadcast"}};
  const std::vector<Call> batch{{9, 4, "all_reduce"},
                                {10, 1, "recv 1<-0", "scheduled", true},
                                {11, 1, "send 1->0", "scheduled", true},
                                {12, 5, "coalesced"},
                                {13, 6, "all_reduce"},
                                {14, 7, "broadcast"}};
  struct Ring {
    const char* name;
    const std::vector<Call>& whole;
    std::size_t first;
  };
  for (const Ring& ring : {Ring{"rings_within", call, 1}, {"rings_end", call, 2}, {"rings_batch", batch, 3}}) {
    const std::vector<Call> rest(ring.whole.begin() + std::ptrdiff_t(ring.first), ring.whole.end());
    const auto found = diagnosed(ring.name, {rest, ring.whole, ring.whole});
    EXPECT_FALSE(found.culprit) << ring.name;
    for (const auto& row : found.timeline) EXPECT_EQ(row.groups.size(), 1U) << ring.name << row.number;
    ASSERT_GE(found.timeline.size(), 2U) << ring.name;
    EXPECT_EQ(found.timeline.back().groups[0].ranks, (std::vector<int>{0, 1, 2})) << ring.name;
    EXPECT_EQ((found.timeline.end() - 2)->groups[0].ranks, (std::vector<int>{0, 1, 2})) << ring.name;
  }
}

TEST(FlightRings, SayHowManyMessagesAreNotCompared) {
  const auto found = diagnosed("rings_messages",
                               {{{2001, 1, "send 0->1", "completed", true}, {2002, 2, "send 0->1", "scheduled", true}},
                                {{2001, 1, "recv 1<-0", "completed", true}}});
  EXPECT_FALSE(found.culprit);
  EXPECT_EQ(found.uncomparedMessages, 3);
  EXPECT_TRUE(found.timeline.empty());
}

TEST(FlightRanks, NumbersAreNotCut) {
  const auto found = diagnosed("numbers", {{{0, 2147483647, "all_reduce"}}, {{0, 2147483647, "all_reduce"}}});
  ASSERT_EQ(found.timeline.size(), 1U);
  EXPECT_EQ(found.timeline[0].number, 2147483647);
  const std::string large = "\x8a" + std::string(1, char(8)) + std::string("\x01\x00\x00\x00\x00\x00\x00\x40", 8);
  const auto folder = flightFolder("numbers_large", {{entryOf({0, 1, "all_reduce"})}, {}});
  const std::string entry = dictOf(
      {{"collective_seq_id", large}, {"profiling_name", pickled("nccl:all_reduce")}, {"state", pickled("started")}});
  for (const char* name : {"nccl_trace_rank_0", "nccl_trace_rank_1"})
    writePickle(folder / name, dictOf({{"entries", listOf({entry})}}));
  const auto diagnosis = diagnoseRanks(folder);
  std::filesystem::remove_all(folder);
  ASSERT_TRUE(diagnosis && diagnosis->culprit);
  EXPECT_EQ(diagnosis->timeline[0].number, 0x4000000000000001);
  EXPECT_EQ(diagnosis->culprit->number, 0x4000000000000001);
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
  const std::string brief = dictOf({{"collective_seq_id", pickled(1)}, {"state", pickled("x")}});
  expectQuickRefusal("flights_brief", dictOf({{"entries", repeated(brief, 200000)}}), "larger than the file can be");
  expectQuickRefusal("flights_names", dictOf({{"entries", repeated(name, 100000)}}), "larger than the file can be");
}

TEST(HostileFlights, GroupsThatShareADescriptionDoNotGrow) {
  const std::string shared =
      dictOf({{"desc", pickled(std::string(4096, 'd'))}, {"ranks", listOf({pickled(0), pickled(1)})}});
  std::string configs = "}(" + pickled("first") + shared + "q" + std::string(1, char(7));
  for (int i = 0; i < 20000; ++i) configs += pickled(std::to_string(i)) + "h" + std::string(1, char(7));
  expectQuickRefusal("flights_groups", dictOf({{"pg_config", configs + "u"}, {"entries", listOf({})}}),
                     "larger than the file can be");
}

/// Values as protocol 0 writes them: a letter and a line.
std::string lineText(const std::string& text) { return "V" + text + "\n"; }
std::string lineInt(int value) { return fmt::format("I{}\n", value); }
std::string lineBool(bool value) { return value ? "I01\n" : "I00\n"; }
std::string lineList(const std::vector<std::string>& items) {
  std::string text = "(l";
  for (const std::string& item : items) text += item + "a";
  return text;
}
std::string lineDict(const std::vector<std::pair<std::string, std::string>>& items) {
  std::string text = "(d";
  for (const auto& [key, value] : items) text += lineText(key) + value + "s";
  return text;
}

std::string lineRecord(int rows) {
  const std::string entry = lineDict({{"record_id", lineInt(0)},
                                      {"process_group", "(V0\nVdefault_pg\nt"},
                                      {"collective_seq_id", "L7L\n"},
                                      {"profiling_name", "S'nccl:all\\x5freduce'\n"},
                                      {"input_sizes", lineList({lineList({lineInt(rows), "I3\n"})})},
                                      {"input_dtypes", lineList({lineText("\\u0046loat")})},
                                      {"duration_ms", "F1.5\n"},
                                      {"state", "Vstarted\np9\n"},
                                      {"thread_name", "g9\n"},
                                      {"frames", "N"},
                                      {"is_p2p", lineBool(false)}});
  const std::string group =
      lineDict({{"name", lineText("0")}, {"desc", lineText("default_pg")}, {"ranks", lineText("[0, 1]")}});
  return lineDict({{"pg_config", lineDict({{"0", group}})}, {"entries", lineList({entry})}}) + ".";
}

/// As PyTorch dumps it: one line, keys in their order.
std::string jsonRecord(int rows) {
  return fmt::format(
      R"({{"entries":[{{"collective_seq_id":7,"duration_ms":1.5,"input_dtypes":["Float"],"input_sizes":[[{},3]],)"
      R"("is_p2p":false,"op_id":7,"process_group":["0","default_pg"],"profiling_name":"nccl:all_reduce","record_id":0,)"
      R"("retired":false,"state":"started","timeout_ms":600000}}],"nccl_version":"2.28.9",)"
      R"("pg_config":{{"0":{{"desc":"default_pg","name":"0","ranks":"[0, 1]"}}}},"pg_status":{{}},"version":"2.10"}})",
      rows);
}

std::filesystem::path recordsFolder(const std::string& name, const std::vector<std::string>& records) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / name;
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  for (std::size_t r = 0; r < records.size(); ++r)
    std::ofstream(folder / fmt::format("nccl_trace_rank_{}", r), std::ios::binary) << records[r];
  return folder;
}

TEST(FlightForms, TextPicklesAndJsonSayTheSame) {
  for (const auto& record : {lineRecord, jsonRecord}) {
    const auto folder = recordsFolder("flight_forms", {record(4), record(6)});
    const auto found = diagnoseRanks(folder);
    std::filesystem::remove_all(folder);
    ASSERT_TRUE(found) << found.error().text();
    EXPECT_EQ(found->ranks, (std::vector<int>{0, 1}));
    ASSERT_TRUE(found->culprit);
    EXPECT_EQ(found->culprit->number, 7);
    EXPECT_EQ(found->culprit->collective, "all_reduce of f32[4, 3] (started)");
    EXPECT_EQ(found->culprit->mismatch, "all_reduce of f32[6, 3] (started)");
    EXPECT_EQ(found->culprit->group, "group 0 (default_pg)");
  }
}

TEST(FlightForms, MayDifferFromRankToRank) {
  const auto folder = recordsFolder("flight_mixed", {lineRecord(4), jsonRecord(4)});
  const auto found = diagnoseRanks(folder);
  const auto alone = diagnoseRanks(folder / "nccl_trace_rank_1");
  std::filesystem::remove_all(folder);
  ASSERT_TRUE(found) << found.error().text();
  ASSERT_TRUE(found->culprit);
  EXPECT_TRUE(found->culprit->isUnfinished);
  ASSERT_FALSE(alone);
  EXPECT_THAT(alone.error().message, HasSubstr("the flight record of one rank"));
}

TEST(FlightForms, OtherTextsAreNoRecords) {
  for (const char* text :
       {"{\"entries\": 3}", "[{\"pg_config\": {}}]", "{\"other\": {\"pg_config\": {}}}",
        "graph():", "{\"event\": \"x\"}\n{\"pg_config\": {}}", "class GraphModule:", "(define x)", "", "}", "{"}) {
    const auto folder = recordsFolder("flight_none", {text});
    EXPECT_FALSE(isFlightRecord(folder / "nccl_trace_rank_0")) << text;
    std::filesystem::remove_all(folder);
  }
  EXPECT_TRUE(looksLikeFlightJson("  {\"version\": \"2.10\", \"pg_config\": {"));
  EXPECT_TRUE(looksLikeFlightJson(jsonRecord(4).substr(0, 60)));
}

TEST(HostileFlights, JsonIsBounded) {
  const auto refuses = [](const std::string& text, std::size_t values, ErrorCode code, const std::string& says) {
    const auto record = readFlightJson(text, values);
    ASSERT_FALSE(record) << says;
    EXPECT_EQ(record.error().code, code) << says;
    EXPECT_THAT(record.error().message, HasSubstr(says));
  };
  refuses("{\"pg_config\":" + std::string(1'000'000, '['), 1000, ErrorCode::BadInput, "nested deeper than 64 levels");
  std::string wide = "{\"entries\":[0";
  for (int i = 0; i < 5000; ++i) wide += ",0";
  refuses(wide + "]}", 1000, ErrorCode::TooLarge, "more than 1000 values");
  refuses(jsonRecord(4).substr(0, 300), 1000, ErrorCode::BadInput, "it is no JSON from byte 301");
  refuses(jsonRecord(4) + jsonRecord(4), 1000, ErrorCode::BadInput, "it is no JSON from byte");
  refuses("{\"entries\":[NaN]}", 1000, ErrorCode::BadInput, "it is no JSON from byte");
  EXPECT_TRUE(readFlightJson("{\"entries\":[18446744073709551615, -1e300]}", 1000));
  const auto folder = recordsFolder("flights_json", {jsonRecord(4), "{\"pg_config\": {}, \"entries\": {}}"});
  const auto found = diagnoseRanks(folder);
  std::filesystem::remove_all(folder);
  ASSERT_FALSE(found);
  EXPECT_THAT(found.error().message, HasSubstr("is JSON, but no flight record: it has no list of entries"));
}

/// What costs a pickle one byte must not cost its reader much more, again and again.
TEST(HostileFlights, MemosDoNotGrow) {
  const auto read = [](const std::string& bytes) {
    return capture::pt2::readPickle(std::as_bytes(std::span(bytes)), 100'000);
  };
  const auto kept = read("\x80\x04}" + std::string(300'000, char(0x94)) + ".");
  ASSERT_FALSE(kept);
  EXPECT_THAT(kept.error().message, HasSubstr("keeps values more often than it has any"));
  std::string numbered = "(d";
  for (int i = 0; i < 300; ++i) numbered += fmt::format("p{}\n", i);
  EXPECT_THAT(read(numbered + ".").error().message, HasSubstr("keeps values more often than it has any"));
  EXPECT_EQ(read("}" + std::string(300'000, '2') + ".").error().code, ErrorCode::TooLarge);
  EXPECT_EQ(read("}p0\n" + std::string(300'000, '(') + ".").error().code, ErrorCode::TooLarge);
  EXPECT_THAT(read("(dV" + std::string(1'000'000, 'x')).error().message, HasSubstr("cut off"));
  EXPECT_THAT(read("I" + std::string(1'000'000, '9') + "\n.").error().message, HasSubstr("no integer of 64 bits"));
  EXPECT_THAT(read("cos\nsystem\n(S'x'\ntR.").error().message, HasSubstr("asks for 'os.system'"));
  EXPECT_THAT(read("ios\nsystem\n.").error().message, HasSubstr("opcode 0x69"));
  EXPECT_THAT(read("S'\\x4'\n.").error().message, HasSubstr("unknown escape"));
  EXPECT_THAT(read("V\\U00110000\n.").error().message, HasSubstr("no such character"));
}

}  // namespace
}  // namespace kerf
