// Every recorded log and debug folder: its output code gives groups, all of whose nodes its graphs have.
#include <set>

#include "engine/capture/common/fusion_calls.h"
#include "engine/capture/common/recorded_fusion.h"
#include "engine/support/recordings.h"
#include "tests/unit/capture_trace_testing.h"

namespace kerf {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> recordingsWithCode() {
  std::vector<fs::path> paths;
  for (const char* part : {"traces", "variety"}) {
    std::error_code problem;
    for (const auto& entry : fs::recursive_directory_iterator(recordingsFolder() / part, problem)) {
      const std::string name = entry.path().filename().string();
      if (name.find("torch_trace") != std::string::npos) paths.push_back(entry.path());
      if (name == "torch_compile_debug" && entry.path().parent_path().filename() != "aot" &&
          entry.path().parent_path().filename() != "dynamo")
        paths.push_back(entry.path());
    }
  }
  std::ranges::sort(paths);
  return paths;
}

std::set<std::string> computed(const Graph& graph) {
  std::set<std::string> names;
  for (const NodeId id : computingNodes(graph)) names.insert(graph.node(id).name());
  return names;
}

struct Coverage {
  std::size_t nodes = 0, covered = 0, parts = 0, calls = 0, unplaced = 0;
};

void addPart(const fs::path& path, Capture& capture, const CompiledPart& part, Coverage& all) {
  ASSERT_TRUE(part.lowered) << path;
  ASSERT_FALSE(part.groups.empty()) << path;
  CapturedGraph& lowered = capture.graphs[*part.lowered];
  ASSERT_TRUE(lowered.ensureLoaded());
  const Graph& graph = lowered.module.graph;
  std::set<std::string> names;
  for (const RecordedFusionGroup& group : part.groups) {
    names.insert(group.postGradNodes.begin(), group.postGradNodes.end());
    ++all.calls;
    if (group.postGradNodes.empty()) ++all.unplaced;
    if (group.origin.stage != "inductor_output_code") continue;
    for (const std::string& name : group.postGradNodes)
      EXPECT_TRUE(graph.find(name)) << path << " " << group.kernel << " " << name;
  }
  for (const std::string& name : computed(graph)) {
    ++all.nodes;
    all.covered += names.contains(name) ? 1 : 0;
  }
  ++all.parts;
}

class FusionCorpus : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!fs::exists(recordingsFolder() / "traces")) GTEST_SKIP() << "no recordings in " << recordingsFolder();
  }
};

TEST_F(FusionCorpus, EveryProgramHasGroupsForItsGraphs) {
  Coverage all;
  for (const fs::path& path : recordingsWithCode()) {
    auto capture = importCapture(path);
    ASSERT_TRUE(capture) << path << capture.error().text();
    const auto parts = compiledParts(*capture);
    EXPECT_FALSE(parts.empty()) << path;
    for (const CompiledPart& part : parts) addPart(path, *capture, part, all);
  }
  EXPECT_GE(all.parts, 30u);
  EXPECT_GE(double(all.covered), 0.98 * double(all.nodes)) << all.covered << " of " << all.nodes;
  EXPECT_LE(double(all.unplaced), 0.02 * double(all.calls)) << all.unplaced << " of " << all.calls;
}

/// Where both are recorded, the comments say what the maps say, less what a kernel loads.
TEST_F(FusionCorpus, CommentsAgreeWithProvenance) {
  std::size_t compared = 0;
  for (const fs::path& path : recordingsWithCode()) {
    auto capture = importCapture(path);
    ASSERT_TRUE(capture) << path << capture.error().text();
    if (capture->kind != "torch_trace") continue;
    for (const CompiledPart& part : compiledParts(*capture)) {
      CapturedGraph lowered = capture->graphs[*part.lowered];
      ASSERT_TRUE(lowered.ensureLoaded());
      const Graph& graph = lowered.module.graph;
      const auto text = capture->details->records[part.code].text();
      ASSERT_TRUE(text);
      for (const RecordedFusionGroup& group : groupsOfCalls(readWrapperCode(*text), graph)) {
        const auto known = std::ranges::find_if(capture->details->fusionGroups, [&](const RecordedFusionGroup& other) {
          return other.kernel == group.kernel &&
                 other.origin.compileId == capture->details->records[part.code].origin.compileId;
        });
        const bool isTriton = group.kernel.starts_with("triton_");
        if (known == capture->details->fusionGroups.end() || !isTriton) continue;
        const std::set<std::string> computing = computed(graph);
        const std::set<std::string> mapped(known->postGradNodes.begin(), known->postGradNodes.end());
        for (const std::string& name : group.postGradNodes)
          EXPECT_TRUE(mapped.contains(name) || !computing.contains(name)) << path << group.kernel << " " << name;
        ++compared;
      }
    }
  }
  EXPECT_GT(compared, 100u);
}

}  // namespace
}  // namespace kerf
