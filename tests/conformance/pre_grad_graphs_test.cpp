// What Dynamo captured, through the pre-grad passes: the small launchers with their inputs keep their values after
// every pass, those that are off by default included; of the recorded full-size models it is known which passes change
// them.
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <set>

#include "engine/capture/common/capture.h"
#include "engine/passes/manager/pass_manager.h"
#include "engine/pipeline/pass_checker.h"
#include "engine/support/recordings.h"
#include "tests/support/recordings.h"

namespace kerf {
namespace {

namespace fs = std::filesystem;
using testing::leftOut;

/// All of the stage; those that are off are on, and folding takes inputs.
std::vector<Pass> everyPreGradPass() {
  std::vector<Pass> passes = preGradPasses();
  for (Pass& pass : passes)
    for (const char* option : {"enabled", "inputs"}) (void)pass.options.set(option, true);
  return passes;
}

fs::path launcherBelow(const fs::path& folder) {
  if (fs::exists(folder))
    for (const auto& entry : fs::recursive_directory_iterator(folder))
      if (entry.path().filename() == "minifier_launcher.py") return entry.path();
  return {};
}

class DynamoLaunchers : public ::testing::TestWithParam<const char*> {};

TEST_P(DynamoLaunchers, KeepTheirValues) {
  const fs::path folder = recordingsFolder() / "variety" / GetParam() / "dynamo";
  const fs::path launcher = launcherBelow(folder);
  if (launcher.empty()) GTEST_SKIP() << leftOut(folder);
  auto capture = importCapture(launcher);
  ASSERT_TRUE(capture) << capture.error().text();
  CapturedGraph& graph = capture->graphs.at(0);
  ASSERT_TRUE(graph.ensureLoaded());
  const auto inputs = graph.loadInputs(LoadOptions(), nullptr);
  ASSERT_TRUE(inputs) << inputs.error().text();
  ASSERT_TRUE(graph.annotateShapes());
  PassChecker checker(*inputs);
  PassManager manager(everyPreGradPass());
  manager.addObserver(&checker);
  const auto result = manager.run(graph.module);
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_TRUE(result->graph.lint());
  EXPECT_EQ(checker.failure(), "");
  if (checker.first()) ADD_FAILURE() << checker.first()->pass << ": " << checker.first()->reason;
}

INSTANTIATE_TEST_SUITE_P(Corpus, DynamoLaunchers,
                         ::testing::Values("inplace_alias", "dropout_rng", "int8_quant", "dynamic_mlp", "complex_fft",
                                           "graph_breaks"),
                         [](const auto& info) { return std::string(info.param); });

struct Recorded {
  const char* model;
  std::set<std::string> changing;  ///< passes that change the graph, all of them on
  std::size_t before, after;       ///< nodes, by default
};

void PrintTo(const Recorded& recorded, std::ostream* out) { *out << recorded.model; }

class RecordedModels : public ::testing::TestWithParam<Recorded> {};

std::optional<GraphModule> preGradGraph(const fs::path& folder) {
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() != ".log") continue;
    auto capture = importCapture(entry.path());
    if (!capture) return std::nullopt;
    for (CapturedGraph& graph : capture->graphs)
      if (graph.origin.stage == "before_pre_grad_graph" && graph.ensureLoaded() && graph.annotateShapes())
        return std::move(graph.module);
  }
  return std::nullopt;
}

TEST_P(RecordedModels, AreChangedByThesePasses) {
  const fs::path folder = recordingsFolder() / "traces" / GetParam().model;
  if (!fs::exists(folder)) GTEST_SKIP() << leftOut(folder);
  const auto graph = preGradGraph(folder);
  ASSERT_TRUE(graph);
  const auto start = std::chrono::steady_clock::now();
  const auto result = PassManager(preGradPasses()).run(*graph);
  const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_EQ(graph->graph.size(), GetParam().before);
  EXPECT_EQ(result->graph.size(), GetParam().after);
  std::vector<PassRecord> records;
  ASSERT_TRUE(PassManager(everyPreGradPass()).run(*graph, &records));
  std::set<std::string> changing;
  for (const PassRecord& record : records)
    if (record.changed) changing.insert(record.name);
  EXPECT_EQ(changing, GetParam().changing);
  fmt::print("{}: {} to {} nodes in {:.1f} ms\n", GetParam().model, graph->graph.size(), result->graph.size(),
             time.count());
}

const Recorded recorded[] = {
    {"bert_base", {"normalization_pass", "remove_identity", "fuse_parallel_linear_pass"}, 518, 506},
    {"convnext_seed", {"normalization_pass", "remove_identity"}, 728, 692},
    {"efficientnet_b0", {"normalization_pass", "remove_identity", "fuse_conv_bn"}, 562, 552},
    {"gpt2", {"normalization_pass", "remove_identity"}, 680, 653},
    {"llama_8l",
     {"normalization_pass", "remove_identity", "matmul_permute_fusion", "fuse_parallel_linear_pass"},
     566,
     511},
    {"mobilenet_v3_small", {"normalization_pass", "remove_identity", "fuse_conv_bn"}, 369, 368},
    {"vit_b_16", {"normalization_pass", "remove_identity"}, 332, 295},
};

INSTANTIATE_TEST_SUITE_P(Corpus, RecordedModels, ::testing::ValuesIn(recorded),
                         [](const auto& info) { return std::string(info.param.model); });

}  // namespace
}  // namespace kerf
