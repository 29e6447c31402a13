// Every graph of the corpus goes out as a repro.py and comes back the same, and Python compiles what was written.
// KERF_ROUND_TRIP_TABLE names a file that gets one line per opened path.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>

#include <fmt/format.h>

#include "engine/capture/import_all.h"
#include "engine/capture/repro/writer.h"
#include "engine/support/recordings.h"
#include "tests/unit/capture_testing.h"

namespace kerf {
namespace {

namespace fs = std::filesystem;

class RoundTrip : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const char* path = std::getenv("KERF_ROUND_TRIP_TABLE")) m_table.open(path, std::ios::app);
  }

  /// Every capture below a folder of the corpus; one line of the table each.
  void check(const std::string& folder, std::size_t least) {
    const auto start = std::chrono::steady_clock::now();
    auto captures = importAll(recordingsFolder() / folder);
    ASSERT_TRUE(captures) << captures.error().text();
    const double opening = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    for (Capture& capture : *captures) {
      for (const std::string& note : capture.notes) EXPECT_FALSE(note.starts_with("not ")) << note;
      const auto begin = std::chrono::steady_clock::now();
      std::size_t nodes = 0, exact = 0;
      for (std::size_t i = 0; i < capture.graphs.size(); ++i) exact += graph(capture, i, nodes) ? 1 : 0;
      m_graphs += capture.graphs.size();
      if (!m_table) continue;
      m_table << fmt::format(
          "{} | {} | {} graphs | {} nodes | {} exact | {:.1f} ms round trips\n",
          fs::relative(capture.path, recordingsFolder()).string(), capture.kind, capture.graphs.size(), nodes, exact,
          std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count());
    }
    if (m_table) m_table << fmt::format("{}: {} captures opened in {:.1f} ms\n", folder, captures->size(), opening);
    EXPECT_GE(m_graphs, least);
    compile();
  }

 private:
  bool graph(Capture& capture, std::size_t index, std::size_t& nodes) {
    CapturedGraph& graph = capture.graphs[index];
    const std::string where = fmt::format("{}, graph {} '{}'", capture.path.string(), index, graph.name);
    const auto loaded = graph.ensureLoaded();
    EXPECT_TRUE(loaded) << where << ": " << (loaded ? "" : loaded.error().text());
    if (!loaded) return false;
    nodes += graph.module.graph.size();
    const bool isArchive = capture.kind == "pt2";  // its nodes come from no line, its storages get other names
    if (isArchive) forgetStorageNames(graph);
    for (const NodeId id : graph.module.graph.order()) {
      const Node& node = graph.module.graph.node(id);
      EXPECT_TRUE(isArchive || node.meta().sourceLine > 0) << where << ": " << node.name() << " has no source line";
    }
    const std::string text = reproText(capture, index);
    auto again = importRepro(text, capture.path);
    EXPECT_TRUE(again) << where << ": " << (again ? "" : again.error().text());
    if (!again) return false;
    if (isArchive) forgetStorageNames(again->graphs[0]);
    const bool same = again->graphs[0].contentHash() == graph.contentHash();
    EXPECT_TRUE(same) << where;
    testing::writeFile(m_folder.path() / fmt::format("g{}_{}.py", m_written++, same ? "same" : "other"), text);
    return same;
  }

  static void forgetStorageNames(CapturedGraph& graph) {
    for (StorageRef& storage : graph.storages) {
      storage.hash.clear();
      storage.file.reset();
    }
  }

  void compile() {
    if (std::system("python3 -c pass >/dev/null 2>&1") != 0) return;  // no Python here: nothing to check with
    const std::string command =
        fmt::format("python3 -m compileall -q {} > {}/log 2>&1", m_folder.path().string(), m_folder.path().string());
    EXPECT_EQ(std::system(command.c_str()), 0) << testing::readFile(m_folder.path() / "log");
  }

  testing::TemporaryFolder m_folder;
  std::ofstream m_table;
  std::size_t m_written = 0, m_graphs = 0;
};

TEST_F(RoundTrip, GoldenModels) { check("golden", 40); }
TEST_F(RoundTrip, Variety) { check("variety", 60); }
TEST_F(RoundTrip, Anchors) { check("anchors", 4); }
TEST_F(RoundTrip, Traces) { check("traces", 20); }

}  // namespace
}  // namespace kerf
