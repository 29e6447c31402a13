// Every dynamic capture: from the placeholders' annotations alone (and the names that PyTorch gave to what depends on
// data) each recorded annotation is derived, as text or for 20 random sizes that the guards allow.
#include <gtest/gtest.h>

#include <filesystem>

#include "engine/capture/common/capture.h"
#include "engine/ops/core/op_registry.h"
#include "engine/support/recordings.h"
#include "tests/support/symbolic_check.h"

namespace kerf {
namespace {

namespace fs = std::filesystem;
using namespace testing_support;

/// Graphs before Inductor chose its own strides for saved values.
bool isCompared(const std::string& stage) {
  return stage != "inductor_post_grad_graph" && stage != "fx_graph_transformed";
}

AnnotationReport compareGraph(CapturedGraph& graph, const std::string& title) {
  AnnotationReport report;
  if (!graph.inputs.empty()) {
    EXPECT_TRUE(graph.annotateShapes()) << title;
  }
  const auto recorded = stripAnnotations(graph.module);
  ShapeEnv env;
  const auto done = deriveAnnotations(graph.module, recorded, {}, env);
  EXPECT_TRUE(done) << title << ": " << (done ? "" : done.error().text());
  SymbolBindings hints;
  for (const ShapeSymbol& symbol : env.symbols()) hints.emplace(symbol.name, symbol.hint.value_or(5));
  const Assignments assignments(hints, conditionsOf(env));
  AnnotationComparison comparison(assignments, report);
  for (const auto& [index, meta] : recorded) {
    const Node& node = graph.module.graph.node(NodeId{index});
    comparison.compare(fmt::format("{} ({})", node.name(), node.target()), meta, node.meta().value);
  }
  fmt::print("{:<80} {:>5} equal texts {:>4} equal values {:>3} underived {:>3} different; {} guards\n", title,
             report.equalTexts, report.equalValues, report.unknown, report.differences.size(), env.guards().size());
  return report;
}

std::vector<fs::path> dynamicCaptures() {
  const fs::path own = fs::path(KERF_SOURCE_DIR) / "tests/data/symbolic";
  const fs::path variety = recordingsFolder() / "variety";
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(own)) found.push_back(entry.path());
  for (const char* name : {"dynamic_mlp", "compiled_autograd"}) {
    if (!fs::exists(variety / name)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(variety / name)) {
      const std::string file = entry.path().filename();
      if (entry.path().extension() == ".log" ? file.starts_with("dedicated") : file.starts_with("fx_graph_r"))
        found.push_back(entry.path());
    }
  }
  std::ranges::sort(found);
  return found;
}

TEST(SymbolicCaptures, AnnotationsFollowFromThePlaceholders) {
  int graphs = 0;
  AnnotationReport all;
  for (const fs::path& path : dynamicCaptures()) {
    auto capture = importCapture(path);
    ASSERT_TRUE(capture) << path << ": " << capture.error().text();
    for (CapturedGraph& graph : capture->graphs) {
      ASSERT_TRUE(graph.ensureLoaded()) << path;
      if (graph.symbols().empty() || !isCompared(graph.origin.stage)) continue;
      const std::string title = path.filename().string() + " " + graph.name;
      const AnnotationReport report = compareGraph(graph, title);
      ++graphs;
      all.equalTexts += report.equalTexts;
      all.equalValues += report.equalValues;
      all.unknown += report.unknown;
      for (const std::string& difference : report.differences) ADD_FAILURE() << title << ": " << difference;
    }
  }
  fmt::print("{} graphs: {} numbers equal as texts, {} by value, {} nodes underived\n", graphs, all.equalTexts,
             all.equalValues, all.unknown);
  EXPECT_GE(graphs, 12);
}

}  // namespace
}  // namespace kerf
