// Captures of any kind from the command line: import, ls, show, '#', --sym, --follow.
#include <algorithm>

#include "engine/support/recordings.h"
#include "tests/support/cli_test.h"
#include "tests/support/trace_fixture.h"

namespace kerf::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class CaptureTest : public CliTest {
 protected:
  /// Under a name that says nothing: content decides.
  fs::path log(const std::string& name = "notes.dat") const { return write(name, traceFixture); }
  static std::vector<std::string> strings(const json& list, const char* key) {
    std::vector<std::string> values;
    for (const auto& entry : list) values.push_back(entry[key].is_string() ? entry[key].get<std::string>() : "null");
    return values;
  }
  static std::string idNamed(const json& list, const std::string& name) {
    for (const auto& entry : list) {
      if (entry["name"] == name || entry["kind"] == name) return entry["id"];
    }
    return "?";
  }
};

TEST_F(CaptureTest, ImportsALogWithGraphsRecordsAndCompileIds) {
  const auto capture = runJson({"import", log().string()})["captures"][0];
  EXPECT_EQ(capture["id"], "c1");
  EXPECT_EQ(capture["kind"], "torch_trace");
  EXPECT_EQ(capture["compiles"], 2);
  EXPECT_GE(capture["records"], 5);
  ASSERT_EQ(capture["graphs"].size(), 2u);
  const auto& graph = capture["graphs"][0];
  EXPECT_EQ(graph["nodes"], 5);
  EXPECT_EQ(graph["compile_id"], "[0/0]");
  EXPECT_EQ(graph["stage"], "aot_forward_graph");
  EXPECT_EQ(graph["unknown_ops"], json::array());
  EXPECT_GT(graph["line"], 1);
}

TEST_F(CaptureTest, AStoredCaptureNeedsItsFileNoMore) {
  const auto file = log();
  const auto before = run({"show", file.string() + "#aot_inference_graph", "--format", "text"}).output;
  EXPECT_THAT(before, HasSubstr("torch.ops.aten.sin.default"));
  ASSERT_EQ(run({"import", file.string()}).status, 0);
  fs::remove(file);
  EXPECT_EQ(run({"show", "c1/g2", "--format", "text"}).output, before);
  EXPECT_EQ(run({"show", "c1#aot_inference_graph", "--format", "text"}).output, before);
  EXPECT_EQ(run({"show", "c1/g3"}).status, 2);
  const auto rows = runJson({"ls", "graphs", "c1"})["graphs"];
  EXPECT_EQ(strings(rows, "id"), (std::vector<std::string>{"c1/g1", "c1/g2"}));
  EXPECT_EQ(rows[1]["file"], file.string()) << "origins name the file that was imported";
}

TEST_F(CaptureTest, TheSameFileAgainKeepsItsIdAndAGrownOneIsNew) {
  const auto file = log();
  EXPECT_EQ(runJson({"import", file.string()})["captures"][0]["id"], "c1");
  EXPECT_EQ(runJson({"import", file.string()})["captures"][0]["id"], "c1");
  std::ofstream(file, std::ios::app) << traceFixture;
  EXPECT_EQ(runJson({"import", file.string()})["captures"][0]["id"], "c2");
}

TEST_F(CaptureTest, OneBadFileDoesNotLoseTheOthers) {
  const auto good = log(), bad = write("bad.py", "def load_args(reader):\n    buf0 = reader.oops(\n");
  const auto report = runJson({"import", bad.string(), good.string(), sample, (folder / "absent").string()}, 2);
  EXPECT_EQ(report["captures"].size(), 2u);
  ASSERT_EQ(report["failed"].size(), 2u);
  EXPECT_EQ(report["failed"][0]["path"], bad.string());
  EXPECT_EQ(report["failed"][0]["code"], "bad_input");
  EXPECT_EQ(report["failed"][1]["code"], "not_found");
  EXPECT_EQ(runJson({"ls", "captures"})["captures"].size(), 2u);
  EXPECT_EQ(run({"import", bad.string(), good.string()}).status, 2);
}

TEST_F(CaptureTest, TakesPatternsThatTheShellLeft) {
  log("a.log");
  log("b.log");
  const auto report = runJson({"import", (folder / "*.log").string()});
  EXPECT_EQ(report["captures"].size(), 2u);
  EXPECT_EQ(run({"import", (folder / "*.nothing").string()}).status, 2);
}

TEST_F(CaptureTest, ListsCompileIdsAsATreeWithStatus) {
  const auto file = log().string();
  ASSERT_EQ(run({"import", file}).status, 0);
  for (const auto& capture : {std::string("c1"), file}) {
    const auto compiles = runJson({"ls", "compiles", capture})["compiles"];
    ASSERT_EQ(compiles.size(), 2u) << capture;
    EXPECT_EQ(compiles[0]["id"], "[0/0]");
    EXPECT_EQ(compiles[0]["status"], "ok");
    EXPECT_EQ(compiles[0]["elapsed_ms"], 250.0);
    EXPECT_EQ(compiles[0]["graphs"].size(), 1u);
    EXPECT_EQ(compiles[1]["status"], "failed");
    EXPECT_THAT(compiles[1]["failure"].get<std::string>(), HasSubstr("no kernel"));
  }
  const auto text = run({"ls", "compiles", "c1"}).output;
  EXPECT_THAT(text, HasSubstr("[0/0]  ok  250 ms"));
  EXPECT_THAT(text, HasSubstr("\n  c1/g1  aot_forward_graph"));
}

TEST_F(CaptureTest, ShowsRecordsAndTheirPayload) {
  const auto file = log().string();
  ASSERT_EQ(run({"import", file}).status, 0);
  const auto records = runJson({"ls", "records", "c1"})["records"];
  const auto code = idNamed(records, "inductor_output_code");
  EXPECT_THAT(code, StartsWith("c1/r"));
  EXPECT_THAT(run({"show", code}).output, StartsWith("# AOT ID: ['0_inference']\nimport torch\n"));
  const auto object = runJson({"show", code});
  EXPECT_EQ(object["kind"], "inductor_output_code");
  EXPECT_EQ(object["compile_id"], "[0/0]");
  EXPECT_EQ(object["form"], "python");
  EXPECT_THAT(object["text"].get<std::string>(), HasSubstr("def call(args):"));
  EXPECT_EQ(run({"show", file + "#" + code.substr(3)}).output, run({"show", code}).output);
  EXPECT_EQ(run({"export", code, "-o", (folder / "code.py").string()}).status, 0);
  EXPECT_THAT(textOf(folder / "code.py"), StartsWith("# AOT ID"));
  const auto graph = idNamed(records, "aot_forward_graph");  // by its number a graph's record is its text, too
  EXPECT_THAT(run({"show", graph}).output, HasSubstr("class GraphModule"));
  EXPECT_EQ(run({"show", file + "#" + graph.substr(3)}).output, run({"show", graph}).output);
  EXPECT_EQ(run({"show", "c1/r999"}).status, 2);
  EXPECT_EQ(run({"run", code}).status, 2);
}

TEST_F(CaptureTest, ShowsACaptureAsAWhole) {
  ASSERT_EQ(run({"import", log().string()}).status, 0);
  const auto overview = runJson({"show", "c1"});
  EXPECT_EQ(overview["kind"], "torch_trace");
  EXPECT_EQ(overview["graphs"].size(), 2u);
  EXPECT_EQ(overview["compiles"].size(), 2u);
  EXPECT_EQ(overview["records"]["inductor_output_code"], 1);
  EXPECT_THAT(run({"show", "c1"}).output, HasSubstr("[1/0]  failed"));
}

TEST_F(CaptureTest, SumsUpTheTimeline) {
  const auto timeline = runJson({"ls", "timeline", log().string()})["timeline"];
  EXPECT_EQ(timeline["events"], 2);
  EXPECT_EQ(timeline["span_ms"], 5.0);
  EXPECT_EQ(timeline["totals"][0]["name"], "entire_frame_compile");
  EXPECT_EQ(timeline["totals"][0]["total_ms"], 5.0);
  EXPECT_EQ(timeline["totals"][0]["self_ms"], 3.0);
  EXPECT_EQ(run({"ls", "timeline"}).status, 2);
}

TEST_F(CaptureTest, AnAmbiguousFileListsItsGraphs) {
  const auto file = log().string();
  const auto result = run({"passes", file});
  EXPECT_EQ(result.status, 2);
  EXPECT_THAT(result.errors, HasSubstr("aot_forward_graph, aot_inference_graph"));
  const auto unknown = run({"show", file + "#nonesuch"});
  EXPECT_EQ(unknown.status, 2);
  EXPECT_THAT(unknown.errors, HasSubstr("aot_inference_graph"));
  EXPECT_EQ(run({"show", file + "#g2"}).output, run({"show", file + "#aot_inference_graph"}).output);
}

TEST_F(CaptureTest, RunsASymbolicGraphWithValues) {
  const auto graph = log().string() + "#aot_forward_graph";
  const auto shown = runJson({"show", graph});
  EXPECT_EQ(shown["symbols"], json::array({{{"name", "s0"}, {"hint", nullptr}}}));
  EXPECT_EQ(shown["origin"]["compile_id"], "[0/0]");
  const auto result = runJson({"run", graph, "--sym", "s0=3"});
  EXPECT_EQ(result["outputs"], json::array({"f32[3, 4]"}));
  const auto missing = run({"run", graph});
  EXPECT_EQ(missing.status, 2);
  EXPECT_THAT(missing.errors, HasSubstr("s0"));
  const auto unknown = run({"run", graph, "--sym", "s7=3"});
  EXPECT_EQ(unknown.status, 2);
  EXPECT_THAT(unknown.errors, HasSubstr("s0"));
  for (const char* wrong : {"s0", "s0=", "=3", "s0=x", "s0=-1", "s0=1.5"})
    EXPECT_EQ(run({"run", graph, "--sym", wrong}).status, 2) << wrong;
  EXPECT_EQ(run({"run", graph, "--sym", "s0=3", "--sym", "s0=4"}).status, 2);
}

TEST_F(CaptureTest, ComparesAndMinifiesAGraphOfALog) {
  ASSERT_EQ(run({"import", log().string()}).status, 0);
  EXPECT_EQ(run({"compare", "c1/g1", "--sym", "s0=3"}).status, 0);
  EXPECT_EQ(run({"compare", "c1/g1", "--sym", "s0=3", "--plant", "relu=accuracy"}).status, 1);
  const auto done =
      runJson({"minify", "c1/g1", "--sym", "s0=3", "--plant", "relu=accuracy", "-o", (folder / "small").string()});
  EXPECT_LE(done["nodes"], 4);
  EXPECT_EQ(runJson({"ls", "graphs", "c1"})["graphs"][0]["nodes"], 5);
}

TEST_F(CaptureTest, FollowsALogUntilItIsStopped) {
  const std::string text = traceFixture;
  const auto half = text.find("\"frame_id\": 1");
  const auto file = write("growing.log", text.substr(0, half));
  setenv("KERF_STORE", store().c_str(), 1);
  RunningKerf following(kerf, {"import", "--follow", file.string(), "--json"}, folder / "events");
  const auto waitFor = [&](const std::string& what) {
    EXPECT_TRUE(waitUntil([&] { return textOf(folder / "events").contains(what); })) << textOf(folder / "events");
  };
  waitFor("aot_forward_graph");
  EXPECT_THAT(textOf(folder / "events"), Not(HasSubstr("aot_inference_graph")));
  std::ofstream(file, std::ios::app) << text.substr(half);
  waitFor("aot_inference_graph");
  following.signal(SIGINT);
  EXPECT_EQ(following.wait(), 0);
  EXPECT_EQ(runJson({"ls", "graphs", "c1"})["graphs"].size(), 2u);
  std::istringstream lines(textOf(folder / "events"));
  for (std::string line; std::getline(lines, line);) EXPECT_TRUE(json::accept(line)) << line;
}

TEST_F(CaptureTest, ALogThatEndsInHalfALineOpensAsFarAsItIsWhole) {
  const std::string text = traceFixture;
  const auto file = write("cut.log", text.substr(0, text.size() - 40));
  const auto capture = runJson({"import", file.string()})["captures"][0];
  EXPECT_EQ(capture["graphs"].size(), 2u);
}

TEST_F(CaptureTest, ALinkedFileStaysWhereItIsAndMustNotChange) {
  const auto file = log("large.log");
  {
    // An unknown record with a payload of 6 MB.
    std::ofstream stream(file, std::ios::app | std::ios::binary);
    stream << "V1121 10:00:03.000000 77 torch/x.py:1] {\"something_new\": {}, \"has_payload\": \"0\"}\n";
    const std::string line = "\t" + std::string(1023, 'x') + "\n";
    for (int i = 0; i < 6 << 10; ++i) stream << line;
  }
  const auto capture = runJson({"import", "--link", file.string()})["captures"][0];
  EXPECT_EQ(capture["graphs"][0]["nodes"], json()) << "graphs of large files are read when they are asked for";
  EXPECT_LT(fs::file_size(store()), 1u << 20);
  EXPECT_THAT(run({"show", "c1/g2", "--format", "text"}).output, HasSubstr("aten.sin"));
  EXPECT_EQ(runJson({"passes", "c1/g2"})["graph"], "c1/g2");
  EXPECT_EQ(runJson({"ls", "graphs", "c1"})["graphs"][1]["nodes"], 3) << "known once it was used";
  std::ofstream(file, std::ios::app) << "\n";
  const auto changed = run({"show", "c1/g2"});
  EXPECT_EQ(changed.status, 2);
  EXPECT_THAT(changed.errors, HasSubstr("has changed since it was imported"));
  fs::remove(file);
  EXPECT_EQ(run({"show", "c1/g2"}).status, 2);
}

TEST_F(CaptureTest, AStoredFolderKeepsItsStorages) {
  const auto source = recordingsFolder() / "variety/dynamic_mlp/dynamo";
  fs::copy(source, folder / "dynamo", fs::copy_options::recursive);
  ASSERT_EQ(run({"run", (folder / "dynamo").string(), "--save", (folder / "a.safetensors").string()}).errors, "");
  ASSERT_EQ(run({"import", (folder / "dynamo").string()}).status, 0);
  fs::remove_all(folder / "dynamo");
  EXPECT_EQ(run({"run", "c1/g1", "--save", (folder / "b.safetensors").string()}).errors, "");
  EXPECT_EQ(textOf(folder / "a.safetensors"), textOf(folder / "b.safetensors"));
}

TEST_F(CaptureTest, ALogInsideAFolderIsImportedOnce) {
  fs::create_directories(folder / "job/trace");
  fs::rename(log(), folder / "job/trace/dedicated_log_torch_trace_x.log");
  fs::copy(reluRepro(), folder / "job/repro.py");
  const auto captures = runJson({"import", (folder / "job").string()})["captures"];
  std::vector<std::string> kinds = strings(captures, "kind");
  std::ranges::sort(kinds);
  EXPECT_EQ(kinds, (std::vector<std::string>{"repro", "torch_trace"}));
}

TEST_F(CaptureTest, AnInterruptedImportLeavesNothing) {
  const auto file = log("large.log");
  std::string text = traceFixture;
  for (int i = 0; i < 13; ++i) text += text;
  write("large.log", text);
  setenv("KERF_STORE", store().c_str(), 1);
  setenv("KERF_LOG", "import=debug", 1);
  RunningKerf importing(kerf, {"import", file.string(), "--parse"}, folder / "output");
  unsetenv("KERF_LOG");
  const bool began = waitUntil([&] { return textOf(folder / "output.err").contains("recognised as"); });
  importing.signal(SIGINT);
  const int status = importing.wait();
  EXPECT_TRUE(began);
  const auto captures = runJson({"ls", "captures"})["captures"];
  if (status == 0) GTEST_SKIP() << "the import was faster than the signal";
  EXPECT_EQ(status, 3);
  EXPECT_EQ(captures, json::array());
}

}  // namespace
}  // namespace kerf::cli
