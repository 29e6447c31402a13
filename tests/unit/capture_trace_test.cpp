// TORCH_TRACE logs made by hand: compile ids, status, names, timeline, provenance, ranks, gzip.
#include <zlib.h>

#include "engine/capture/common/log_bytes.h"
#include "tests/unit/capture_trace_testing.h"

namespace kerf {
namespace {

using testing::frame00;
using testing::importTraceText;
using testing::reluReadable;
using testing::TemporaryFolder;
using testing::traceRecord;

std::string gzipped(const std::string& text) {
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
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

std::string event(const char* phase, const char* name, double time, const std::string& more = "") {
  return traceRecord("\"chromium_event\": {}" + frame00,
                     fmt::format("{{\n\"name\": \"{}\",\n\"ts\": {},\n\"ph\": \"{}\",\n\"cat\": \"dynamo_timed\",\n"
                                 "\"tid\": 0,\n\"pid\": 0{}\n}}",
                                 name, time, phase, more));
}

TEST(TorchTrace, PrintsCompileIdsAsTlparseDoes) {
  const TemporaryFolder folder;
  std::string log;
  for (const char* id :
       {"\"frame_id\": 0, \"frame_compile_id\": 0, \"attempt\": 0",
        "\"frame_id\": 0, \"frame_compile_id\": 0, \"attempt\": 1", "\"frame_id\": 2, \"frame_compile_id\": 3",
        "\"compiled_autograd_id\": 1, \"frame_id\": 0, \"frame_compile_id\": 2, \"attempt\": 1",
        "\"compiled_autograd_id\": 0, \"attempt\": 0", "\"frame_id\": 7", "\"stack\": []"})
    log += traceRecord(std::string("\"describe_storage\": {\"id\": 0}, ") + id);
  const auto capture = importTraceText(folder, log);
  ASSERT_TRUE(capture) << capture.error().text();
  std::vector<std::string> ids;
  for (const CompileEntry& entry : capture->details->compiles) ids.push_back(entry.id);
  EXPECT_EQ(ids, (std::vector<std::string>{"[0/0]", "[0/0_1]", "[2/3]", "[!1/0/2_1]", "[!0]", "[7]", "(unknown)"}));
  EXPECT_EQ(capture->details->compile("2/3"), &capture->details->compiles[2]);
  EXPECT_EQ(capture->details->compile("[!0]"), &capture->details->compiles[4]);
  EXPECT_EQ(capture->details->compile("5/5"), nullptr);
}

std::string metrics(int frame, int attempt, const std::string& more) {
  return traceRecord(
      fmt::format("\"compilation_metrics\": {{\"compile_id\": \"{0}/0\", {2}, \"code_gen_time_s\": 1.5, "
                  "\"pytorch_version\": \"2.11.0\"}}, \"frame_id\": {0}, \"frame_compile_id\": 0, "
                  "\"attempt\": {1}",
                  frame, attempt, more));
}

TEST(TorchTrace, TellsWhatBecameOfEachCompilation) {
  const TemporaryFolder folder;
  const auto frame = [](int number) {
    return fmt::format(", \"frame_id\": {}, \"frame_compile_id\": 0, \"attempt\": 0", number);
  };
  const std::string log =
      metrics(0, 0, "\"fail_type\": null, \"graph_op_count\": 3") +
      metrics(1, 0,
              "\"fail_type\": \"Unsupported\", \"fail_reason\": \"call \\\"f\\\"\\nno\", \"graph_op_count\": null") +
      metrics(2, 0, "\"fail_type\": null, \"graph_op_count\": 0") +
      traceRecord("\"artifact\": {\"name\": \"fx_graph_cache_hit\", \"encoding\": \"json\"}" + frame(3), "{}") +
      metrics(3, 0, "\"graph_op_count\": 2") + traceRecord("\"dynamo_start\": {\"stack\": []}" + frame(4)) +
      traceRecord("\"dynamo_start\": {\"stack\": []}" + frame(5)) +
      metrics(5, 1, "\"graph_op_count\": 2, \"restart_reasons\": [\"graph break\"]");
  const auto capture = importTraceText(folder, log);
  ASSERT_TRUE(capture) << capture.error().text();
  std::vector<std::string> states;
  for (const CompileEntry& entry : capture->details->compiles)
    states.push_back(entry.id + " " + std::string(compileStatusName(entry.status)));
  EXPECT_EQ(states, (std::vector<std::string>{"[0/0] ok", "[1/0] failed", "[2/0] empty", "[3/0] cache hit",
                                              "[4/0] incomplete", "[5/0] restarted", "[5/0_1] ok"}));
  EXPECT_EQ(capture->details->compiles[1].failure, "Unsupported: call \"f\"\nno");
  EXPECT_EQ(capture->details->compiles[6].restartReasons, std::vector<std::string>{"graph break"});
  EXPECT_EQ(capture->details->compiles[0].metrics,
            (std::vector<std::pair<std::string, double>>{{"graph_op_count", 3}, {"code_gen_time_s", 1.5}}));
  EXPECT_EQ(capture->torchVersion, "2.11.0");
}

TEST(TorchTrace, NamesFramesThroughTheInternTable) {
  const TemporaryFolder folder;
  const auto capture = importTraceText(
      folder, traceRecord("\"str\": [\"/home/u/main.py\", 1]") + traceRecord("\"str\": [\"/home/u/net.py\", 2]") +
                  traceRecord("\"dynamo_start\": {\"stack\": [{\"line\": 3, \"name\": \"<module>\", \"filename\": 1}, "
                              "{\"line\": 12, \"name\": \"forward\", \"filename\": 2}]}" +
                              frame00));
  ASSERT_TRUE(capture) << capture.error().text();
  EXPECT_EQ(capture->details->compiles.at(0).frame, "/home/u/net.py:12 in forward");
  EXPECT_EQ(capture->details->stackOf(capture->details->records.back()),
            (std::vector<std::string>{"/home/u/main.py:3 in <module>", "/home/u/net.py:12 in forward"}));
}

TEST(TorchTrace, GivesGraphsNamesThatAreUnique) {
  const TemporaryFolder folder;
  const std::string other = ", \"frame_id\": 1, \"frame_compile_id\": 0, \"attempt\": 2";
  const auto capture = importTraceText(
      folder, traceRecord("\"aot_joint_graph\": {}" + frame00, reluReadable) +
                  traceRecord("\"aot_inference_graph\": {}" + frame00, reluReadable) +
                  traceRecord("\"aot_inference_graph\": {}" + other, reluReadable) +
                  traceRecord("\"aot_inference_graph\": {}" + other, reluReadable) +
                  traceRecord("\"optimize_ddp_split_child\": {\"name\": \"submod_0\"}" + other, reluReadable) +
                  traceRecord("\"artifact\": {\"name\": \"my pass#1\", \"encoding\": \"string\"}" + other,
                              reluReadable + "\n # graph id: 140032"));
  ASSERT_TRUE(capture) << capture.error().text();
  std::vector<std::string> names;
  for (const CapturedGraph& graph : capture->graphs) names.push_back(graph.name);
  EXPECT_EQ(names, (std::vector<std::string>{"aot_joint_graph", "aot_inference_graph[0/0]",
                                             "aot_inference_graph[1/0_2]", "aot_inference_graph[1/0_2].2",
                                             "optimize_ddp_split_child_submod_0", "my_pass_1"}));
  EXPECT_EQ(capture->details->compiles.at(1).graphs, (std::vector<std::size_t>{2, 3, 4, 5}));
  EXPECT_EQ(capture->details->records.at(5).graph, 5);
  EXPECT_EQ(capture->graphs[5].origin.stage, "my pass#1");
  EXPECT_EQ(capture->graphs[5].origin.compileId, "[1/0_2]");
}

TEST(TorchTrace, ReadsAGraphWhenAsked) {
  const TemporaryFolder folder;
  auto capture = importTraceText(
      folder, "\n\n" + traceRecord("\"aot_inference_graph\": {}" + frame00, reluReadable + "\n # graph id: 140032"));
  ASSERT_TRUE(capture) << capture.error().text();
  CapturedGraph& graph = capture->graphs.at(0);
  EXPECT_TRUE(graph.module.graph.order().empty());
  EXPECT_EQ(graph.origin.line, 3);
  const auto loaded = graph.ensureLoaded();
  ASSERT_TRUE(loaded) << loaded.error().text();
  EXPECT_EQ(graph.name, "aot_inference_graph");
  ASSERT_EQ(graph.module.graph.order().size(), 3u);
  const Node& relu = graph.module.graph.node(graph.module.graph.order()[1]);
  EXPECT_EQ(relu.target(), "torch.ops.aten.relu.default");
  EXPECT_EQ(relu.meta().sourceFile, "/p/m.py");
  EXPECT_EQ(relu.meta().sourceLine, 79);
  const Node& input = graph.module.graph.node(graph.module.graph.order()[0]);
  ASSERT_NE(input.meta().value.tensor(), nullptr);
  EXPECT_EQ(input.meta().value.tensor()->concreteSizes(), (Sizes{2, 3}));
}

TEST(TorchTrace, GivesSymbolsTheValueTheyWereTracedAt) {
  const TemporaryFolder folder;
  std::string text = reluReadable;
  for (std::size_t at = text.find("[2, 3]"); at != std::string::npos; at = text.find("[2, 3]"))
    text.replace(at, 6, "[2*s0, 3]");
  auto capture = importTraceText(
      folder,
      traceRecord("\"create_symbol\": {\"symbol\": \"s0\", \"val\": \"5\", \"vr\": \"[2, int_oo]\"}" + frame00) +
          traceRecord("\"aot_inference_graph\": {}" + frame00, text));
  ASSERT_TRUE(capture) << capture.error().text();
  EXPECT_EQ(capture->details->compiles.at(0).symbols, (std::vector<std::pair<std::string, std::int64_t>>{{"s0", 5}}));
  CapturedGraph& graph = capture->graphs.at(0);
  const auto loaded = graph.ensureLoaded();
  ASSERT_TRUE(loaded) << loaded.error().text();
  const TensorMeta* meta = graph.module.graph.node(graph.module.graph.order()[0]).meta().value.tensor();
  ASSERT_NE(meta, nullptr);
  EXPECT_EQ(meta->sizes.at(0).text, "2*s0");
  EXPECT_EQ(meta->concreteSizes(), (Sizes{10, 3}));
}

TEST(TorchTrace, KeepsWhatItSaysOfSymbols) {
  const TemporaryFolder folder;
  std::string text = reluReadable;
  for (std::size_t at = text.find("[2, 3]"); at != std::string::npos; at = text.find("[2, 3]"))
    text.replace(at, 6, "[2*s0, 3]");
  const auto record = [](const std::string& json) { return traceRecord(json + frame00); };
  auto capture = importTraceText(
      folder,
      record("\"create_symbol\": {\"symbol\": \"s0\", \"val\": \"5\", \"vr\": \"[2, 9]\", \"source\": \"L['x'].n\"}") +
          record("\"create_symbol\": {\"symbol\": \"s1\", \"val\": \"5\", \"vr\": \"[-int_oo, int_oo]\"}") +
          record("\"create_unbacked_symbol\": {\"symbol\": \"u0\", \"vr\": \"VR[0, int_oo]\"}") +
          record("\"guard_added\": {\"expr\": \"s0 < 8\"}") + record("\"guard_added\": {\"expr\": \"s0 < 8\"}") +
          record("\"symbolic_shape_specialization\": {\"symbol\": \"s1\", \"value\": \"5\", \"reason\": \"find\"}") +
          traceRecord("\"dynamo_guards\": {}" + frame00,
                      "[\n{\n\"code\": \"3 <= L['x'].n\"\n},\n{\"code\": \"L['y']\"}\n]") +
          traceRecord("\"aot_inference_graph\": {}" + frame00, text));
  ASSERT_TRUE(capture) << capture.error().text();
  const CompileEntry& entry = capture->details->compiles.at(0);
  ASSERT_EQ(entry.tracedSymbols.size(), 3u);
  EXPECT_EQ(entry.tracedSymbols[0].upper, 9);
  EXPECT_EQ(entry.tracedSymbols[1].lower, std::nullopt);
  EXPECT_EQ(entry.tracedSymbols[2].lower, 0);
  std::vector<std::string> guards;
  for (const TracedGuard& guard : entry.guards) guards.push_back(guard.kind + " " + guard.expression);
  EXPECT_EQ(guards, (std::vector<std::string>{"guard_added s0 < 8", "symbolic_shape_specialization Eq(s1, 5)",
                                              "dynamo_guards 3 <= s0"}));
  EXPECT_EQ(entry.guards[1].reason, "find");
  CapturedGraph& graph = capture->graphs.at(0);
  ASSERT_TRUE(graph.ensureLoaded());
  EXPECT_EQ(graph.module.symbolRanges, (std::vector<SymbolRange>{{"s0", 2, 9, "L['x'].n"}}));
}

TEST(TorchTrace, FindsTheClassInsideAnExportedProgram) {
  const TemporaryFolder folder;
  std::string text = "ExportedProgram:\n";
  for (std::size_t at = 0; at < reluReadable.size();) {
    const std::size_t end = reluReadable.find('\n', at);
    text += "    " + reluReadable.substr(at, end - at + 1);
    at = end + 1;
  }
  text += "\nGraph signature: \n    # inputs\n    x: USER_INPUT\nRange constraints: {}\n";
  auto capture = importTraceText(folder, traceRecord("\"exported_program\": {}, \"stack\": []", text));
  ASSERT_TRUE(capture) << capture.error().text();
  const auto loaded = capture->graphs.at(0).ensureLoaded();
  ASSERT_TRUE(loaded) << loaded.error().text();
  EXPECT_EQ(capture->graphs[0].module.graph.order().size(), 3u);
}

TEST(TorchTrace, ErrorsOfAGraphNameTheLogsLine) {
  const TemporaryFolder folder;
  std::string text = reluReadable;
  text.replace(text.find("relu.default("), 13, "relu.default((");
  auto capture = importTraceText(
      folder, traceRecord("\"rank\": 0" + frame00) + traceRecord("\"aot_inference_graph\": {}" + frame00, text));
  ASSERT_TRUE(capture) << capture.error().text();
  const auto loaded = capture->graphs.at(0).ensureLoaded();
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().code, ErrorCode::BadInput);
  EXPECT_EQ(loaded.error().file, (folder.path() / "dedicated_log_torch_trace_a.log").string());
  EXPECT_EQ(loaded.error().line, 6) << loaded.error().text();
}

TEST(TorchTrace, KeepsUnknownRecordsAndPayloadsVerbatim) {
  const TemporaryFolder folder;
  const std::string payload = "\n\tindented\n\nlast\n";
  const auto capture = importTraceText(
      folder,
      traceRecord("\"brand_new_kind\": {\"a\": [1, {\"b\": null}]}, \"severity\": \"V\"" + frame00, payload) +
          traceRecord("\"artifact\": {\"name\": \"settings\", \"encoding\": \"json\"}" + frame00, "{\"x\": 1}") +
          traceRecord("\"inductor_output_code\": {\"filename\": \"/tmp/ab/cxyz.py\"}" + frame00,
                      "class Quoted(torch.nn.Module):\n    pass"));
  ASSERT_TRUE(capture) << capture.error().text();
  const CaptureRecord& record = capture->details->records.at(0);
  EXPECT_EQ(record.kind, "brand_new_kind");
  EXPECT_EQ(record.form, CaptureRecord::Form::Text);
  EXPECT_EQ(record.text(), payload);
  EXPECT_EQ(record.metadata.substr(0, 42), "{\"brand_new_kind\": {\"a\": [1, {\"b\": null}]}");
  EXPECT_EQ(capture->details->records[1].name, "settings");
  EXPECT_EQ(capture->details->records[1].form, CaptureRecord::Form::Json);
  EXPECT_EQ(capture->details->records[2].name, "cxyz.py");
  EXPECT_EQ(capture->details->records[2].form, CaptureRecord::Form::Python);
  EXPECT_TRUE(capture->graphs.empty());
  EXPECT_EQ(capture->details->records[0].text(3).error().code, ErrorCode::TooLarge);
  EXPECT_TRUE(capture->notes.empty()) << testing::joinedNotes(*capture);
}

TEST(TorchTrace, PairsTimelineEvents) {
  const TemporaryFolder folder;
  const auto capture = importTraceText(
      folder, event("B", "dynamo", 1000.0) + event("B", "compile", 1010.4) + event("i", "cache_miss", 1015.0) +
                  event("E", "compile", 1030.6) + event("X", "kernel", 1040.0, ",\n\"dur\": 12.5") +
                  event("B", "forgotten", 1060.0) + event("E", "never begun", 1070.0) + event("E", "dynamo", 1100.0) +
                  event("B", "open", 1200.0) + event("i", "last", 1250.0));
  ASSERT_TRUE(capture) << capture.error().text();
  std::vector<std::string> lines;
  for (const TimelineEvent& e : capture->details->timeline)
    lines.push_back(fmt::format("{}{} {}+{}", std::string(std::size_t(e.depth), ' '), e.name, e.beginUs, e.durationUs));
  EXPECT_EQ(lines, (std::vector<std::string>{"dynamo 0+100", " compile 10+21", "  cache_miss 15+0", " kernel 40+13",
                                             " forgotten 60+40", "open 200+50", " last 250+0"}));
  EXPECT_EQ(capture->details->timeline[0].compileId, "[0/0]");
  EXPECT_EQ(capture->details->timeline[0].category, "dynamo_timed");
  EXPECT_NE(testing::joinedNotes(*capture).find("1 timeline events were begun and not ended"), std::string::npos);
}

TEST(TorchTrace, ReadsProvenanceAsFusionGroups) {
  const TemporaryFolder folder;
  const auto capture = importTraceText(
      folder,
      traceRecord(
          "\"artifact\": {\"name\": \"inductor_provenance_tracking_node_mappings\", \"encoding\": \"json\"}" + frame00,
          R"({"preToPost": {"linear": ["mm", "add"], "relu": ["relu_1"]},)"
          R"( "postToPre": {"mm": ["linear"], "add": ["linear"], "relu_1": ["relu"]},)"
          R"( "cppCodeToPost": {"triton_poi_fused_add_relu_0:2": ["add", "relu_1"], "extern:1": ["mm"]},)"
          R"( "postToCppCode": {"mm": ["extern:1"]}, "version": 2.0})"));
  ASSERT_TRUE(capture) << capture.error().text();
  const CaptureDetails& details = *capture->details;
  ASSERT_EQ(details.fusionGroups.size(), 2u);
  EXPECT_EQ(details.fusionGroups[0].kernel, "triton_poi_fused_add_relu_0:2");
  EXPECT_EQ(details.fusionGroups[0].postGradNodes, (std::vector<std::string>{"add", "relu_1"}));
  EXPECT_EQ(details.fusionGroups[0].preGradNodes, (std::vector<std::string>{"linear", "relu"}));
  EXPECT_EQ(details.fusionGroups[1].origin.compileId, "[0/0]");
  EXPECT_EQ(details.preToPost.at("[0/0] linear"), (std::vector<std::string>{"mm", "add"}));
  EXPECT_EQ(details.postToPre.at("[0/0] relu_1"), std::vector<std::string>{"relu"});
}

TEST(TorchTrace, OpensAFolderOfRanksAsOneCapture) {
  const TemporaryFolder folder;
  for (int rank : {0, 1})
    testing::writeFile(folder.path() / fmt::format("dedicated_log_torch_trace_rank_{}_x.log", rank),
                       traceRecord("\"aot_inference_graph\": {}" + frame00, reluReadable));
  testing::writeFile(folder.path() / "dedicated_log_torch_trace_z.log",
                     traceRecord("\"aot_inference_graph\": {}, \"rank\": 2" + frame00, reluReadable));
  testing::writeFile(folder.path() / "stderr.txt", "V1206 15:18:15.925000 15 a.py:3] [0/0] an ordinary message\n");
  testing::writeFile(folder.path() / "empty.log", "");
  EXPECT_TRUE(isTorchTraceDirectory(folder.path()));
  const auto capture = importTorchTrace(folder.path(), {}, {});
  ASSERT_TRUE(capture) << capture.error().text();
  EXPECT_EQ(capture->files.size(), 3u);
  std::vector<std::string> names;
  for (const CapturedGraph& graph : capture->graphs) names.push_back(graph.name);
  EXPECT_EQ(names, (std::vector<std::string>{"aot_inference_graph[0/0]@rank0", "aot_inference_graph[0/0]@rank1",
                                             "aot_inference_graph[0/0]@rank2"}));
  ASSERT_NE(capture->details->compile("0/0", 1), nullptr);
  EXPECT_EQ(capture->details->compile("0/0", 1)->graphs, std::vector<std::size_t>{1});
}

TEST(TorchTrace, OpensGzipByContentAlsoInSeveralMembers) {
  const TemporaryFolder folder;
  const std::string first = traceRecord("\"aot_inference_graph\": {}" + frame00, reluReadable);
  const std::string second =
      traceRecord("\"artifact\": {\"name\": \"a\", \"encoding\": \"string\"}" + frame00, "two\nlines");
  auto capture = importTraceText(folder, gzipped(first) + gzipped(second), "log.txt");
  ASSERT_TRUE(capture) << capture.error().text();
  ASSERT_EQ(capture->details->records.size(), 2u);
  EXPECT_EQ(capture->details->records[1].text(), "two\nlines");
  EXPECT_EQ(capture->details->records[1].origin.line, 8);
  const auto loaded = capture->graphs.at(0).ensureLoaded();
  ASSERT_TRUE(loaded) << loaded.error().text();
  EXPECT_EQ(capture->graphs[0].module.graph.order().size(), 3u);
  EXPECT_TRUE(looksLikeTorchTrace(gzipped(first)));
  EXPECT_FALSE(looksLikeTorchTrace(gzipped(gzipped(first))));
}

TEST(TorchTrace, TellsLogsFromOtherText) {
  const std::string record = traceRecord("\"dynamo_start\": {}");
  EXPECT_TRUE(looksLikeTorchTrace(record));
  EXPECT_TRUE(looksLikeTorchTrace("\nsome warning\n" + record));
  EXPECT_TRUE(looksLikeTorchTrace("[rank3]: " + record));
  EXPECT_TRUE(looksLikeTorchTrace("E0101 00:00:00.000001 7 /abs path/with spaces/x.py:1] {\"k\": {"));
  EXPECT_FALSE(looksLikeTorchTrace("V1206 15:18:15.925000 15 a.py:3] [0/0] message"));
  EXPECT_FALSE(looksLikeTorchTrace("class GraphModule(torch.nn.Module):\n    pass\n"));
  EXPECT_FALSE(looksLikeTorchTrace("Q1206 15:18:15.925000 15 a.py:3] {}"));
  EXPECT_FALSE(looksLikeTorchTrace(""));
}

}  // namespace
}  // namespace kerf
