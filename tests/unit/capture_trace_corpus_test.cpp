// Every recorded TORCH_TRACE log: counts against an independent reading, all graphs parse, maps against their JSON.
#include <regex>
#include <set>

#include <nlohmann/json.hpp>

#include "engine/support/recordings.h"
#include "tests/unit/capture_trace_testing.h"

namespace kerf {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

std::vector<fs::path> corpusLogs() {
  std::vector<fs::path> logs;
  for (const char* part : {"traces", "variety"}) {
    std::error_code problem;
    for (const auto& entry : fs::recursive_directory_iterator(recordingsFolder() / part, problem))
      if (entry.path().filename().string().find("torch_trace") != std::string::npos &&
          entry.path().extension() == ".log")
        logs.push_back(entry.path());
  }
  std::sort(logs.begin(), logs.end());
  return logs;
}

/// A log read line by line, with nlohmann's JSON: what the importer must agree with.
struct PlainRecord {
  json header;
  std::string kind, payload;
  int line = 0;
};

std::vector<PlainRecord> readPlainly(const fs::path& path) {
  static const std::set<std::string> context{"rank",    "compiled_autograd_id", "frame_id", "frame_compile_id",
                                             "attempt", "has_payload",          "stack"};
  std::vector<PlainRecord> records;
  std::ifstream stream(path);
  bool first = true;
  int number = 0;
  for (std::string line; std::getline(stream, line);) {
    ++number;
    if (line.starts_with('\t')) {
      records.back().payload += (first ? "" : "\n") + line.substr(1);
      first = false;
    } else if (!line.empty()) {
      PlainRecord record;
      record.line = number;
      record.header = json::parse(line.substr(line.find("] ") + 2));
      for (const auto& [key, value] : record.header.items())
        if (!context.contains(key)) record.kind = key;
      records.push_back(std::move(record));
      first = true;
    }
  }
  return records;
}

std::string plainId(const json& header) {
  if (!header.contains("frame_id") && !header.contains("compiled_autograd_id")) return "";
  std::string id = "[";
  if (header.contains("compiled_autograd_id")) id += "!" + header["compiled_autograd_id"].dump();
  if (header.contains("frame_id"))
    id += (id.size() > 1 ? "/" : "") + header["frame_id"].dump() + "/" + header["frame_compile_id"].dump();
  if (header.value("attempt", 0) != 0) id += "_" + header["attempt"].dump();
  return id + "]";
}

class TorchTraceCorpus : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_GE(corpusLogs().size(), 16u) << "no recorded logs in " << recordingsFolder(); }
};

TEST_F(TorchTraceCorpus, RecordsAreThoseOfAPlainReading) {
  for (const fs::path& path : corpusLogs()) {
    const auto capture = importTorchTrace(path, {}, {});
    ASSERT_TRUE(capture) << capture.error().text();
    EXPECT_TRUE(capture->notes.empty()) << path << testing::joinedNotes(*capture);
    EXPECT_EQ(capture->torchVersion, "2.11.0+cu130") << path;
    const std::vector<PlainRecord> plain = readPlainly(path);
    const auto& records = capture->details->records;
    ASSERT_EQ(records.size(), plain.size()) << path;
    std::set<std::string> ids;
    for (std::size_t i = 0; i < plain.size(); ++i) {
      ASSERT_EQ(records[i].kind, plain[i].kind) << path << " record " << i;
      ASSERT_EQ(records[i].origin.line, plain[i].line) << path << " record " << i;
      ASSERT_EQ(records[i].origin.compileId, plainId(plain[i].header)) << path << " record " << i;
      ASSERT_EQ(json::parse(records[i].metadata), plain[i].header) << path << " record " << i;
      if (!records[i].origin.compileId.empty()) ids.insert(records[i].origin.compileId);
      if (i % 7 != 0) continue;
      ASSERT_EQ(records[i].text(), plain[i].payload) << path << " record " << i;
    }
    EXPECT_EQ(capture->details->compiles.size(), ids.size()) << path;
  }
}

TEST_F(TorchTraceCorpus, EveryGraphParses) {
  const std::regex graphKind(
      "aot_.*_graph|dynamo_output_graph|compiled_autograd_graph.*|.*_(pre|post)_grad_graph|"
      ".*_joint_graph|fx_graph_runnable");
  for (const fs::path& path : corpusLogs()) {
    auto capture = importTorchTrace(path, {}, {});
    ASSERT_TRUE(capture) << capture.error().text();
    std::size_t wanted = 0;
    for (const CaptureRecord& record : capture->details->records)
      wanted += std::regex_match(record.kind == "artifact" ? record.name : record.kind, graphKind) ? 1 : 0;
    EXPECT_EQ(capture->graphs.size(), wanted) << path;
    std::set<std::string> names;
    for (CapturedGraph& graph : capture->graphs) {
      const auto loaded = graph.ensureLoaded();
      ASSERT_TRUE(loaded) << graph.name << ": " << loaded.error().text();
      EXPECT_GT(graph.module.graph.order().size(), 1u) << path << graph.name;
      EXPECT_TRUE(graph.module.graph.lint()) << path << graph.name;
      EXPECT_TRUE(names.insert(graph.name).second) << graph.name;
      if (graph.origin.stage != "fx_graph_runnable") continue;
      ASSERT_NE(graph.envelope, nullptr) << path;
      EXPECT_FALSE(graph.envelope->configLines.empty()) << path;
      EXPECT_EQ(graph.inputs.size(), graph.module.graph.placeholders().size()) << path;
    }
  }
}

TEST_F(TorchTraceCorpus, NodesKeepTheirUsersLines) {
  const auto path = recordingsFolder() / "traces" / "bert_base";
  auto capture = importTorchTrace(path, {}, {});
  ASSERT_TRUE(capture) << capture.error().text();
  for (CapturedGraph& graph : capture->graphs) {
    if (graph.origin.stage != "dynamo_output_graph") continue;
    ASSERT_TRUE(graph.ensureLoaded());
    std::size_t calls = 0, placed = 0;
    for (const NodeId id : graph.module.graph.order()) {
      const Node& node = graph.module.graph.node(id);
      if (node.op() != Opcode::CallFunction) continue;
      ++calls;
      placed += node.meta().sourceFile.ends_with(".py") && node.meta().sourceLine > 0 ? 1 : 0;
    }
    EXPECT_GT(calls, 100u);
    EXPECT_EQ(placed, calls);
  }
}

TEST_F(TorchTraceCorpus, TimelineDurationsAreThoseOfTheEvents) {
  for (const fs::path& path : corpusLogs()) {
    const auto capture = importTorchTrace(path, {}, {});
    ASSERT_TRUE(capture) << capture.error().text();
    std::vector<json> open;
    std::multiset<std::pair<std::string, std::int64_t>> wanted, found;
    double origin = -1;
    for (const PlainRecord& record : readPlainly(path)) {
      if (record.kind != "chromium_event") continue;
      const json event = json::parse(record.payload);
      const double time = event["ts"];
      if (origin < 0) origin = time;
      if (event["ph"] == "B") open.push_back(event);
      if (event["ph"] == "i") wanted.emplace(event["name"], 0);
      if (event["ph"] != "E") continue;
      const auto begun =
          std::find_if(open.rbegin(), open.rend(), [&](const json& one) { return one["name"] == event["name"]; });
      ASSERT_NE(begun, open.rend()) << path;
      wanted.emplace(event["name"], std::llround(time - origin) - std::llround((*begun)["ts"].get<double>() - origin));
      open.erase(std::next(begun).base());
    }
    for (const TimelineEvent& event : capture->details->timeline) found.emplace(event.name, event.durationUs);
    EXPECT_EQ(found, wanted) << path;
  }
}

TEST_F(TorchTraceCorpus, FusionGroupsAreThoseOfTheProvenanceRecords) {
  std::size_t groups = 0;
  for (const fs::path& path : corpusLogs()) {
    const auto capture = importTorchTrace(path, {}, {});
    ASSERT_TRUE(capture) << capture.error().text();
    std::map<std::string, std::vector<std::string>> wanted, found;
    for (const PlainRecord& record : readPlainly(path)) {
      if (record.kind != "artifact" ||
          record.header["artifact"]["name"] != "inductor_provenance_tracking_node_mappings")
        continue;
      const json maps = json::parse(record.payload);
      const json kernels = maps.value("cppCodeToPost", json::object()),
                 before = maps.value("postToPre", json::object());
      for (const auto& [kernel, nodes] : kernels.items())
        wanted[plainId(record.header) + kernel] = nodes.get<std::vector<std::string>>();
      for (const auto& [node, names] : before.items())
        EXPECT_EQ(capture->details->postToPre.at(plainId(record.header) + " " + node).empty(), names.empty());
    }
    for (const RecordedFusionGroup& group : capture->details->fusionGroups)
      found[group.origin.compileId + group.kernel] = group.postGradNodes;
    EXPECT_EQ(found, wanted) << path;
    groups += wanted.size();
  }
  EXPECT_GT(groups, 300u);
}

TEST_F(TorchTraceCorpus, KnowsTheCompilationsOfCompiledAutograd) {
  const auto capture = importTorchTrace(recordingsFolder() / "variety" / "compiled_autograd" / "trace", {}, {});
  ASSERT_TRUE(capture) << capture.error().text();
  const auto& compiles = capture->details->compiles;
  ASSERT_EQ(compiles.size(), 3u);
  EXPECT_EQ(compiles[1].id, "[!0]");
  EXPECT_EQ(compiles[2].id, "[!0/1/0]");
  EXPECT_EQ(compiles[2].frame, "<eval_with_key>.7:4 in forward");
  EXPECT_EQ(compiles[1].symbols.at(0), (std::pair<std::string, std::int64_t>{"s35", 2}));
  for (const CompileEntry& entry : compiles) EXPECT_EQ(entry.status, CompileEntry::Status::Ok) << entry.id;
}

}  // namespace
}  // namespace kerf
