// Import, export as repro.py, import: the content hash stays the same, for every recorded graph of every kind.
#include <algorithm>
#include <filesystem>

#include <gtest/gtest.h>
#include <unistd.h>

#include "engine/capture/common/capture.h"
#include "engine/capture/pt2/writer.h"
#include "engine/support/recordings.h"

namespace kerf {
namespace {

namespace fs = std::filesystem;

bool isScript(const fs::path& path) {
  const auto folder = path.parent_path().filename();
  const bool kept = folder == "repro" || folder == "minifier" || folder == "checkpoints" || folder == "launcher" ||
                    path.filename() == "minifier_launcher.py" || path.filename() == "repro.py" ||
                    path.filename() == "fx_graph_runnable.py";
  return kept && path.extension() == ".py";
}
bool isText(const fs::path& path) {
  const auto name = path.filename().string();
  return path.extension() == ".txt" && name != "stdout.txt" && name != "stderr.txt" && name != "minify_error.txt" &&
         !name.starts_with("ir_");
}
bool isProgram(const fs::path& path) { return path.extension() == ".pt2"; }
bool isLog(const fs::path& path) {
  return path.extension() == ".log" && path.filename().string().starts_with("dedicated_log");
}
bool isDebugFolder(const fs::path& path) { return path.filename() == "torch_compile_debug"; }

struct Kind {
  const char* name;
  bool (*accepts)(const fs::path&);
  bool isFolder;
  int atLeast;  ///< graphs in the recordings
};

class RecordedRoundTrip : public ::testing::TestWithParam<Kind> {
 protected:
  void SetUp() override {
    folder = fs::temp_directory_path() / fmt::format("kerf_round_trip_{}_{}", GetParam().name, getpid());
    fs::remove_all(folder);
  }
  void TearDown() override { fs::remove_all(folder); }

  std::vector<fs::path> paths() const {
    std::vector<fs::path> found;
    for (const auto& entry : fs::recursive_directory_iterator(recordingsFolder())) {
      if (entry.is_directory() == GetParam().isFolder && GetParam().accepts(entry.path()))
        found.push_back(entry.path());
    }
    std::ranges::sort(found);
    return found;
  }

  void check(const Capture& capture, std::size_t index) {
    const auto& graph = capture.graphs[index];
    SCOPED_TRACE(capture.path.string() + "#" + graph.name);
    const auto written = exportRepro(capture, index, folder / std::to_string(m_number++));
    ASSERT_TRUE(written) << written.error().text();
    const auto again = importCapture(*written);
    ASSERT_TRUE(again) << again.error().text();
    ASSERT_EQ(again->graphs.size(), 1u);
    EXPECT_EQ(again->graphs.front().contentHash().hex(), graph.contentHash().hex());
    if (GetParam().accepts == isProgram) checkProgram(graph);
    fs::remove_all(written->parent_path());
  }

  /// Archives are written back as archives too.
  void checkProgram(const CapturedGraph& graph) const {
    const auto path = folder / "again.pt2";
    const auto written = exportPt2(graph, path);
    ASSERT_TRUE(written) << written.error().text();
    const auto again = importCapture(path);
    ASSERT_TRUE(again) << again.error().text();
    EXPECT_EQ(again->graphs.front().contentHash().hex(), graph.contentHash().hex());
  }

  fs::path folder;

 private:
  int m_number = 0;
};

TEST_P(RecordedRoundTrip, KeepsTheContentHash) {
  int graphs = 0;
  for (const auto& path : paths()) {
    auto capture = importCapture(path);
    EXPECT_TRUE(capture) << path << ": " << capture.error().text();
    if (!capture) continue;
    for (std::size_t i = 0; i < capture->graphs.size(); ++i) {
      const auto loaded = capture->graphs[i].ensureLoaded();
      EXPECT_TRUE(loaded) << path << ": " << loaded.error().text();
      if (!loaded) continue;
      ++graphs;
      check(*capture, i);
    }
  }
  EXPECT_GE(graphs, GetParam().atLeast);
  RecordProperty("graphs", graphs);
  std::printf("%s: %d graphs\n", GetParam().name, graphs);
}

INSTANTIATE_TEST_SUITE_P(Kinds, RecordedRoundTrip,
                         ::testing::Values(Kind{"scripts", isScript, false, 40}, Kind{"texts", isText, false, 60},
                                           Kind{"programs", isProgram, false, 15}, Kind{"logs", isLog, false, 60},
                                           Kind{"debug_folders", isDebugFolder, true, 20}),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace kerf
