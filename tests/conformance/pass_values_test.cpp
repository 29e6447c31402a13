// Every pass, with everything on, over the golden models' recorded graphs: after each pass the graph gives the values
// that it gave before.
#include <gtest/gtest.h>

#include "engine/capture/common/capture.h"
#include "engine/passes/manager/pass_manager.h"
#include "engine/pipeline/compiler_passes.h"
#include "engine/pipeline/pass_checker.h"
#include "engine/support/recordings.h"
#include "tests/support/every_pass.h"
#include "tests/support/recordings.h"

namespace kerf {
namespace {

using testing::leftOut;

/// All passes; those that are off by default are on, and those for other devices or larger values run on all.
std::vector<Pass> everyPass() {
  return *selectPasses({.patches = testing::everythingOn(compilerPasses())}, compilerPasses());
}

class PassValues : public ::testing::TestWithParam<const char*> {};

TEST_P(PassValues, StayAfterEveryPass) {
  const auto folder = recordingsFolder() / "golden" / GetParam();
  int graphs = 0, checked = 0;
  for (const char* file : {"train_joint.txt", "train_forward.txt", "train_backward.txt", "infer_forward.txt"}) {
    if (!std::filesystem::exists(folder / file)) continue;
    auto capture = importCapture(folder / file);
    ASSERT_TRUE(capture) << capture.error().text();
    CapturedGraph& graph = capture->graphs.at(0);
    ASSERT_TRUE(graph.ensureLoaded());
    ASSERT_TRUE(graph.annotateShapes());
    const auto inputs = graph.loadInputs(LoadOptions(), nullptr);
    ASSERT_TRUE(inputs) << inputs.error().text();
    PassChecker checker(*inputs);
    PassManager manager(everyPass());
    manager.addObserver(&checker);
    const auto result = manager.run(graph.module);
    ASSERT_TRUE(result) << file << ": " << result.error().text();
    EXPECT_EQ(checker.failure(), "") << file;
    if (checker.first())
      ADD_FAILURE() << file << ": " << checker.first()->pass << " changes " << checker.first()->result << " from "
                    << checker.first()->node << ": " << checker.first()->reason;
    ++graphs;
    checked += checker.checked();
  }
  if (graphs == 0) GTEST_SKIP() << leftOut(folder);
  EXPECT_GT(checked, 0);
  fmt::print("{}: {} graphs, {} passes checked\n", GetParam(), graphs, checked);
}

INSTANTIATE_TEST_SUITE_P(Golden, PassValues,
                         ::testing::Values("mlp", "attention", "dlrm", "convbn", "gpt2_mini", "bert_mini",
                                           "convnext_mini", "timm_test_efficientnet"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace kerf
