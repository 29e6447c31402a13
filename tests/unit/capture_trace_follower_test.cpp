// A log that grows while it is read, cut at every byte.
#include "engine/capture/trace/follower.h"
#include "tests/unit/capture_trace_testing.h"

namespace kerf {
namespace {

using testing::frame00;
using testing::reluReadable;
using testing::TemporaryFolder;
using testing::traceRecord;

const std::string sample =
    traceRecord("\"str\": [\"/p/m.py\", 0]") +
    traceRecord("\"dynamo_start\": {\"stack\": [{\"line\": 7, \"name\": \"f\", \"filename\": 0}]}" + frame00) +
    traceRecord("\"aot_inference_graph\": {}" + frame00, reluReadable) +
    traceRecord("\"artifact\": {\"name\": \"a\", \"encoding\": \"string\"}" + frame00, "x\n\ny") +
    traceRecord("\"compilation_metrics\": {\"graph_op_count\": 1}" + frame00);

void append(const std::filesystem::path& path, std::string_view text) {
  std::ofstream(path, std::ios::binary | std::ios::app).write(text.data(), std::streamsize(text.size()));
}

TEST(TorchTraceFollower, ReadsTheSameHoweverTheLogGrows) {
  for (const std::size_t step : {1u, 7u, 100u, 4096u}) {
    const TemporaryFolder folder;
    const auto path = folder.path() / "log";
    testing::writeFile(path, "");
    auto follower = TorchTraceFollower::open(path);
    ASSERT_TRUE(follower) << follower.error().text();
    std::size_t records = 0;
    for (std::size_t at = 0; at < sample.size(); at += step) {
      append(path, std::string_view(sample).substr(at, step));
      const auto fresh = follower->poll();
      ASSERT_TRUE(fresh) << fresh.error().text();
      records += *fresh;
    }
    EXPECT_EQ(records, 5u) << "step " << step;
    const Capture& capture = follower->capture();
    ASSERT_EQ(capture.details->records.size(), 5u);
    EXPECT_EQ(capture.details->records[3].text(), "x\n\ny");
    EXPECT_EQ(capture.details->records[3].origin.line, 10);
    EXPECT_EQ(capture.details->compiles.at(0).frame, "/p/m.py:7 in f");
    EXPECT_EQ(capture.details->compiles[0].status, CompileEntry::Status::Ok);
    Capture copy = follower->snapshot();
    const auto loaded = copy.graphs.at(0).ensureLoaded();
    ASSERT_TRUE(loaded) << loaded.error().text();
    EXPECT_EQ(copy.graphs[0].module.graph.order().size(), 3u);
    EXPECT_EQ(follower->poll(), 0u);
  }
}

TEST(TorchTraceFollower, WaitsForTheWholePayload) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "log";
  const std::string graph = traceRecord("\"aot_inference_graph\": {}" + frame00, reluReadable);
  const std::size_t cut = graph.find("\t        return");
  testing::writeFile(path, graph.substr(0, cut));
  auto follower = TorchTraceFollower::open(path);
  ASSERT_TRUE(follower) << follower.error().text();
  EXPECT_EQ(follower->poll(), 0u);
  append(path, graph.substr(cut));
  EXPECT_EQ(follower->poll(), 1u);
  EXPECT_EQ(follower->capture().graphs.size(), 1u);
}

TEST(TorchTraceFollower, FinishTakesWhatNoChecksumProves) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "log";
  testing::writeFile(path,
                     traceRecord("\"artifact\": {\"name\": \"a\"}, \"has_payload\": \"00\"" + frame00) + "\tone\n");
  auto follower = TorchTraceFollower::open(path);
  ASSERT_TRUE(follower) << follower.error().text();
  EXPECT_EQ(follower->poll(), 0u);
  EXPECT_EQ(follower->finish(), 1u);
  EXPECT_EQ(follower->capture().details->records.at(0).text(), "one");
}

TEST(TorchTraceFollower, WaitsWhereNoChecksumIsGiven) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "log";
  const std::string early = traceRecord("\"has_payload\": \"" + std::string(32, '0') +
                                        "\", \"artifact\": {\"name\": \"" + std::string(200, 'n') + "\"}" + frame00);
  testing::writeFile(path, traceRecord("\"artifact\": {\"name\": \"a\"}, \"has_payload\": true" + frame00) + "\tone\n");
  auto follower = TorchTraceFollower::open(path);
  ASSERT_TRUE(follower) << follower.error().text();
  EXPECT_EQ(follower->poll(), 0u);
  append(path, "\ttwo\n" + early + "\tthree\n");
  EXPECT_EQ(follower->poll(), 1u);
  append(path, "\tfour\n");
  EXPECT_EQ(follower->finish(), 1u);
  const auto& records = follower->capture().details->records;
  EXPECT_EQ(records.at(0).text(), "one\ntwo");
  EXPECT_EQ(records.at(1).text(), "three\nfour");
}

TEST(TorchTraceFollower, SeesLogsThatAppearInAFolder) {
  const TemporaryFolder folder;
  auto follower = TorchTraceFollower::open(folder.path());
  ASSERT_TRUE(follower) << follower.error().text();
  EXPECT_EQ(follower->poll(), 0u);
  testing::writeFile(folder.path() / "a_rank_0_x.log", sample);
  EXPECT_EQ(follower->poll(), 5u);
  testing::writeFile(folder.path() / "a_rank_1_x.log", sample);
  EXPECT_EQ(follower->poll(), 5u);
  EXPECT_EQ(follower->capture().details->compiles.size(), 2u);
  EXPECT_EQ(follower->capture().graphs.at(1).name, "aot_inference_graph[0/0]@rank1");
}

TEST(TorchTraceFollower, RefusesLogsThatShrinkOrAreCompressed) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "log";
  EXPECT_EQ(TorchTraceFollower::open(path).error().code, ErrorCode::NotFound);
  testing::writeFile(path, sample);
  auto follower = TorchTraceFollower::open(path);
  ASSERT_TRUE(follower) << follower.error().text();
  EXPECT_EQ(follower->poll(), 5u);
  testing::writeFile(path, "short");
  const auto shrunk = follower->poll();
  ASSERT_FALSE(shrunk);
  EXPECT_EQ(shrunk.error().code, ErrorCode::BadInput);
  EXPECT_EQ(shrunk.error().file, path.string());
  testing::writeFile(path, "\x1f\x8b\x08 more");
  auto packed = TorchTraceFollower::open(path);
  ASSERT_TRUE(packed) << packed.error().text();
  EXPECT_EQ(packed->poll().error().code, ErrorCode::BadInput);
}

}  // namespace
}  // namespace kerf
