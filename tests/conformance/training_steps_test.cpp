// The recorded joint graphs of the golden models as training steps: partitioned, forward and backward in machine code,
// against the joint graph by PyTorch's accuracy rule.
#include <gtest/gtest.h>

#include <algorithm>

#include "engine/accuracy/same_two_models.h"
#include "engine/capture/common/capture.h"
#include "engine/ops/core/op_registry.h"
#include "engine/pipeline/compile_fx.h"
#include "engine/support/recordings.h"
#include "tests/support/recordings.h"

namespace kerf {
namespace {

using testing::leftOut;

class TrainingSteps : public ::testing::TestWithParam<const char*> {};

std::string differenceOf(const ComparisonReport& report) {
  if (!report.failure.empty()) return report.failure;
  for (const OutputVerdict& row : report.outputs)
    if (!row.same) return row.name + ": " + row.reason;
  return {};
}

TEST_P(TrainingSteps, GiveTheValuesOfTheJointGraph) {
  const auto file = recordingsFolder() / "golden" / GetParam() / "train_joint.txt";
  if (!std::filesystem::exists(file)) GTEST_SKIP() << leftOut(file);
  auto capture = importCapture(file);
  ASSERT_TRUE(capture) << capture.error().text();
  CapturedGraph& graph = capture->graphs.at(0);
  ASSERT_TRUE(graph.ensureLoaded());
  ASSERT_TRUE(graph.annotateShapes());
  const auto inputs = graph.loadInputs(LoadOptions(), nullptr);
  ASSERT_TRUE(inputs) << inputs.error().text();
  for (const double budget : {1.0, 0.3}) {
    const auto compiled =
        compileFx(graph.module, {.keepArtifacts = false, .goal = CompileGoal::Joint, .memoryBudget = budget});
    ASSERT_TRUE(compiled) << budget << ": " << compiled.error().text();
    EXPECT_EQ(std::ranges::count((*compiled)->stageRecords(), "partition", &StageRecord::group), 2);
    const RunModel run = [&](const ValueList& given) { return (*compiled)->run(given); };
    const auto report = sameTwoModels(graph.module, referenceOps(), run, *inputs, {}, {});
    ASSERT_TRUE(report) << budget << ": " << report.error().text();
    EXPECT_TRUE(report->same) << budget << ": " << differenceOf(*report);
    EXPECT_GT(report->outputs.size(), 4u);
  }
}

INSTANTIATE_TEST_SUITE_P(Golden, TrainingSteps,
                         ::testing::Values("mlp", "attention", "dlrm", "convbn", "gpt2_mini", "bert_mini",
                                           "convnext_mini", "timm_test_efficientnet"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace kerf
