// TORCH_TRACE logs that are damaged, hostile, or still being written.
#include <zlib.h>

#include "tests/unit/capture_trace_testing.h"

namespace kerf {
namespace {

using testing::frame00;
using testing::importTraceText;
using testing::joinedNotes;
using testing::reluReadable;
using testing::TemporaryFolder;
using testing::traceRecord;

const std::string good = traceRecord("\"dynamo_start\": {\"stack\": []}" + frame00);

std::string gzipped(const std::string& text) {
  z_stream stream{};
  deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, text.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

TEST(TorchTraceErrors, RefusesFilesWithoutOneRecord) {
  const TemporaryFolder folder;
  for (const std::string& text : {std::string(), std::string("nothing here\n"), std::string("\tpayload\n\tonly\n"),
                                  testing::tracePrefix + "{\"a\": [}\n", testing::tracePrefix.substr(0, 40)}) {
    const auto capture = importTraceText(folder, text);
    ASSERT_FALSE(capture) << text;
    EXPECT_EQ(capture.error().code, ErrorCode::BadInput) << text;
    EXPECT_EQ(exitCode(capture.error().code), 2);
    EXPECT_EQ(capture.error().file, (folder.path() / "dedicated_log_torch_trace_a.log").string());
  }
  EXPECT_EQ(importTorchTrace(folder.path() / "absent", {}, {}).error().code, ErrorCode::NotFound);
  const TemporaryFolder empty;
  EXPECT_EQ(importTorchTrace(empty.path(), {}, {}).error().code, ErrorCode::BadInput);
}

TEST(TorchTraceErrors, SkipsMalformedHeadersAndSaysSo) {
  const TemporaryFolder folder;
  const std::string deep = "\"x\": " + std::string(100'000, '[') + std::string(100'000, ']');
  for (const std::string& members :
       {std::string("\"a\": {\"b\": 1"), std::string("\"a\": [1, 2}}"), std::string("\"a\" 1"),
        std::string("\"a\": \"never ends"), deep, std::string(200'000, '{'), std::string("\"a\": 1}, {")}) {
    const auto capture = importTraceText(folder, good + traceRecord(members) + good);
    ASSERT_TRUE(capture) << capture.error().text();
    EXPECT_EQ(capture->details->records.size(), 2u) << members.substr(0, 40);
    EXPECT_NE(joinedNotes(*capture).find("1 records with malformed JSON were skipped, the first at line 2"),
              std::string::npos)
        << joinedNotes(*capture);
  }
}

TEST(TorchTraceErrors, SurvivesNulBytesAndInvalidUtf8) {
  const TemporaryFolder folder;
  const std::string payload = std::string("a\0b\xff\xfe", 5) + "\nz";
  const auto capture = importTraceText(
      folder,
      traceRecord("\"artifact\": {\"name\": \"bad\xc3(\xed\xa0\x80" + std::string(1, '\0') + "\"}" + frame00, payload) +
          std::string("\0\0\0\n", 4) + good);
  ASSERT_TRUE(capture) << capture.error().text();
  ASSERT_EQ(capture->details->records.size(), 2u);
  EXPECT_EQ(capture->details->records[0].name,
            "bad\xef\xbf\xbd(\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd" + std::string(1, '\0'));
  EXPECT_EQ(capture->details->records[0].text(), payload);
  EXPECT_NE(joinedNotes(*capture).find("1 lines that are not trace records were skipped, the first is line 4"),
            std::string::npos);
}

TEST(TorchTraceErrors, AWrongChecksumIsANote) {
  const TemporaryFolder folder;
  const std::string wrong =
      traceRecord("\"aot_inference_graph\": {}" + frame00 + ", \"has_payload\": \"" + std::string(32, '0') + "\"") +
      testing::tabbed(reluReadable);
  auto capture = importTraceText(folder, wrong + good);
  ASSERT_TRUE(capture) << capture.error().text();
  EXPECT_NE(joinedNotes(*capture).find("1 payloads do not match their checksum, the first at line 1"),
            std::string::npos);
  EXPECT_TRUE(capture->graphs.at(0).ensureLoaded());
  // At the end of a log it may also be cut: it counts as a graph because it parses.
  capture = importTraceText(folder, good + wrong);
  ASSERT_TRUE(capture) << capture.error().text();
  EXPECT_EQ(capture->graphs.size(), 1u);
}

TEST(TorchTraceErrors, HandlesPayloadsThatLie) {
  const TemporaryFolder folder;
  const std::string unannounced = traceRecord("\"artifact\": {\"name\": \"a\"}" + frame00) + "\tone\n\ttwo\n";
  const std::string missing =
      traceRecord("\"artifact\": {\"name\": \"b\"}, \"has_payload\": \"" + std::string(32, '1') + "\"");
  const auto capture = importTraceText(folder, "\torphan\n" + unannounced + missing + good);
  ASSERT_TRUE(capture) << capture.error().text();
  ASSERT_EQ(capture->details->records.size(), 3u);
  EXPECT_EQ(capture->details->records[0].text(), "one\ntwo");
  EXPECT_EQ(capture->details->records[1].text(), "");
  const std::string notes = joinedNotes(*capture);
  EXPECT_NE(notes.find("1 payload lines from line 1 on belong to no record"), std::string::npos) << notes;
  EXPECT_NE(notes.find("1 records have a payload that they do not announce, the first at line 2"), std::string::npos);
  EXPECT_NE(notes.find("1 payloads do not match their checksum, the first at line 5"), std::string::npos);
}

TEST(TorchTraceErrors, OpensEveryPrefixOfALog) {
  const TemporaryFolder folder;
  const std::string first = good, second = traceRecord("\"aot_inference_graph\": {}" + frame00, reluReadable);
  const std::string log = first + second + good;
  for (std::size_t length = first.size(); length <= log.size(); ++length) {
    auto capture = importTraceText(folder, log.substr(0, length));
    ASSERT_TRUE(capture) << length << ": " << capture.error().text();
    const std::size_t whole = length + 1 >= log.size() ? 3 : length + 1 >= first.size() + second.size() ? 2 : 1;
    const std::size_t records = capture->details->records.size();
    // A graph cut behind a line is kept as a record; it is a graph only if it parses.
    EXPECT_GE(records, whole) << length;
    EXPECT_LE(records, whole + 1) << length;
    for (CapturedGraph& graph : capture->graphs) EXPECT_TRUE(graph.ensureLoaded()) << length;
    const bool atEnd = length == first.size() || length + 1 == first.size() + second.size() ||
                       length == first.size() + second.size() || length + 1 >= log.size();
    EXPECT_EQ(capture->notes.empty(), atEnd) << length << joinedNotes(*capture);
    EXPECT_GE(capture->graphs.size(), whole >= 2 ? 1u : 0u) << length;
  }
}

TEST(TorchTraceErrors, KeepsALastRecordWhoseJsonIsWhole) {
  const TemporaryFolder folder;
  const std::string head = good + traceRecord("\"artifact\": {\"name\": \"a\", \"encoding\": \"json\"}" + frame00 +
                                              ", \"has_payload\": \"" + std::string(32, '0') + "\"");
  auto capture = importTraceText(folder, head + "\t{\"a\": [1, {\"b\": \"}\"}]}");
  ASSERT_TRUE(capture) << capture.error().text();
  EXPECT_EQ(capture->details->records.size(), 2u);
  capture = importTraceText(folder, head + "\t{\"a\": [1, {\"b\": \"}\"}]");
  ASSERT_TRUE(capture) << capture.error().text();
  EXPECT_EQ(capture->details->records.size(), 1u);
  EXPECT_NE(joinedNotes(*capture).find("the log ends within the record at line 2"), std::string::npos);
}

TEST(TorchTraceErrors, StopsAtBombs) {
  const TemporaryFolder folder;
  const std::string bomb = gzipped(good + std::string(64 << 20, ' '));
  testing::writeFile(folder.path() / "bomb", bomb);
  ImportLimits limits;
  limits.fileBytes = 8 << 20;
  const auto capture = importTorchTrace(folder.path() / "bomb", limits, {});
  ASSERT_FALSE(capture);
  EXPECT_EQ(capture.error().code, ErrorCode::TooLarge);
  EXPECT_EQ(capture.error().file, (folder.path() / "bomb").string());
  limits = {};
  limits.lineBytes = 1000;
  const auto line = importTraceText(folder, good + traceRecord("\"a\": \"" + std::string(2000, 'x') + "\""));
  EXPECT_TRUE(line);
  const auto tooLong = importTorchTrace(folder.path() / "dedicated_log_torch_trace_a.log", limits, {});
  ASSERT_FALSE(tooLong);
  EXPECT_EQ(tooLong.error().code, ErrorCode::TooLarge);
  EXPECT_EQ(tooLong.error().line, 2);
}

TEST(TorchTraceErrors, StaysQuickAndSmallOnFloods) {
  const TemporaryFolder folder;
  std::string metrics = "\"compilation_metrics\": {\"graph_op_count\": 1";
  for (int i = 0; i < 200'000; ++i) metrics += fmt::format(", \"m{}\": {}", i, i);
  std::string events = "[";
  for (int i = 0; i < 1'200'000; ++i) events += i == 0 ? "{\"ts\":1,\"ph\":\"i\"}" : ",{\"ts\":1,\"ph\":\"i\"}";
  std::string begins = "[";
  for (int i = 0; i < 20'000; ++i)
    begins +=
        fmt::format("{}{{\"ts\":1,\"ph\":\"{}\",\"name\":\"n{}\"}}", i == 0 ? "" : ",", i < 10'000 ? "B" : "E", i);
  const auto capture = importTraceText(
      folder, traceRecord(metrics + "}" + frame00) + traceRecord("\"chromium_event\": {}" + frame00, begins + "]") +
                  traceRecord("\"chromium_event\": {}" + frame00, events + "]") + good);
  ASSERT_TRUE(capture) << capture.error().text();
  EXPECT_EQ(capture->details->compiles.at(0).metrics.size(), 1000u);
  EXPECT_GE(capture->details->timeline.size(), 1'000'000u);
  EXPECT_LE(capture->details->timeline.size(), 1'002'000u);
  EXPECT_NE(joinedNotes(*capture).find("or beyond what is read, the first at line 4"), std::string::npos)
      << joinedNotes(*capture);
}

TEST(TorchTraceErrors, OpensWhatIsWholeOfATruncatedGzip) {
  const TemporaryFolder folder;
  std::string log;
  for (int i = 0; i < 2000; ++i)
    log += traceRecord(fmt::format("\"describe_storage\": {{\"id\": {}}}", i * 7919) + frame00);
  const std::string packed = gzipped(log);
  const auto capture = importTraceText(folder, packed.substr(0, packed.size() / 2));
  ASSERT_TRUE(capture) << capture.error().text();
  EXPECT_GT(capture->details->records.size(), 500u);
  EXPECT_LT(capture->details->records.size(), 2000u);
  EXPECT_NE(joinedNotes(*capture).find("the compressed data end early"), std::string::npos);
  EXPECT_EQ(importTraceText(folder, packed.substr(0, 12)).error().code, ErrorCode::BadInput);
}

TEST(TorchTraceErrors, StopsWhenAsked) {
  const TemporaryFolder folder;
  testing::writeFile(folder.path() / "log", good);
  int calls = 0;
  const auto capture = importTorchTrace(folder.path() / "log", {}, [&](double) { return ++calls < 2; });
  ASSERT_FALSE(capture);
  EXPECT_EQ(capture.error().code, ErrorCode::Cancelled);
}

TEST(TorchTraceErrors, ALogThatShrankAfterwardsIsNotFound) {
  const TemporaryFolder folder;
  auto capture = importTraceText(folder, good + traceRecord("\"aot_inference_graph\": {}" + frame00, reluReadable));
  ASSERT_TRUE(capture) << capture.error().text();
  testing::writeFile(folder.path() / "dedicated_log_torch_trace_a.log", good);
  EXPECT_EQ(capture->graphs.at(0).ensureLoaded().error().code, ErrorCode::NotFound);
  EXPECT_EQ(capture->details->records.at(1).text().error().code, ErrorCode::NotFound);
}

}  // namespace
}  // namespace kerf
