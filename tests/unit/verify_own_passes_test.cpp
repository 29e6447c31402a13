// Kerf's passes beside the recorded ones: on real logs both give the same values, and a pass that changes them is found.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/passes/manager/pass_config.h"
#include "engine/pipeline/compiler_passes.h"
#include "engine/verification/own_passes.h"
#include "engine/verification/stage_inputs.h"
#include "engine/verification/verify.h"
#include "tests/support/recordings.h"

namespace kerf {
namespace {

namespace fs = std::filesystem;
using Kind = PairVerdict::Kind;

fs::path varietyLog(const std::string& name) {
  const fs::path folder = recordingsFolder() / "variety" / name / "trace";
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored))
    if (entry.path().extension() == ".log") return entry.path();
  return {};
}

struct Beside {
  std::vector<OwnPasses> passes;
  CompileVerdict verdict;
};

/// Of every compile id in a log that has recorded passes.
std::vector<Beside> besideRecorded(const fs::path& log, const std::vector<Pass>& passes) {
  std::vector<Beside> all;
  auto capture = importCapture(log);
  EXPECT_TRUE(capture) << (capture ? "" : capture.error().text());
  auto plans = planStages(*capture);
  EXPECT_TRUE(plans) << (plans ? "" : plans.error().text());
  for (StagePlan& plan : *plans) {
    auto made = addOwnPasses(*capture, plan, passes);
    EXPECT_TRUE(made) << log << ": " << (made ? "" : made.error().text());
    const auto inputs = makeStageInputs(*capture, plan, {}, loadWith(LoadOptions()));
    EXPECT_TRUE(inputs) << (inputs ? "" : inputs.error().text());
    auto verdict = verifyStages(*capture, plan, inputs->values, {.gradients = false});
    EXPECT_TRUE(verdict) << (verdict ? "" : verdict.error().text());
    all.push_back({std::move(*made), std::move(*verdict)});
  }
  return all;
}

class OwnPassesOf : public ::testing::TestWithParam<const char*> {};

TEST_P(OwnPassesOf, GiveTheRecordedValues) {
  const fs::path log = varietyLog(GetParam());
  if (log.empty()) GTEST_SKIP() << kerf::testing::leftOut(recordingsFolder() / "variety" / GetParam());
  PassConfig config;
  config.patches.push_back(*parsePassPatch("reinplace_inplaceable_ops.enabled=true"));
  const auto all = besideRecorded(log, *selectPasses(config, compilerPasses()));
  std::size_t compared = 0;
  for (const auto& [passes, verdict] : all) {
    EXPECT_TRUE(verdict.good());
    EXPECT_EQ(passes.size(), verdict.pairs.size());
    for (const PairVerdict& pair : verdict.pairs) {
      EXPECT_NE(pair.kind, Kind::NotCompared) << pair.after << ": " << pair.why;
      for (const SlotVerdict& value : pair.values)
        EXPECT_LT(value.relativeError, 1e-12) << pair.after << " " << value.slot;
      ++compared;
    }
    for (const OwnPasses& one : passes)
      for (const OwnOpCount& count : one.ops)
        fmt::print("{}: {} {:+}\n", one.own, count.op, count.own - count.recorded);
  }
  EXPECT_GT(compared, 0u);
}

INSTANTIATE_TEST_SUITE_P(Variety, OwnPassesOf,
                         ::testing::Values("dropout_rng", "dynamic_mlp", "inplace_alias", "complex_fft", "int8_quant",
                                           "graph_breaks", "cond_hop", "compiled_autograd"),
                         [](const auto& info) { return std::string(info.param); });

TEST(OwnPasses, APassThatChangesValuesIsFound) {
  const fs::path log = varietyLog("dynamic_mlp");
  if (log.empty()) GTEST_SKIP() << kerf::testing::leftOut(recordingsFolder() / "variety/dynamic_mlp");
  Pass wrong{.name = "wrong", .stage = PassStage::PostGrad, .description = "relu as neg"};
  wrong.run = [](GraphModule& module, const PassContext&) -> Result<void> {
    for (const NodeId id : module.graph.order())
      if (module.graph.node(id).isCall("aten.relu.default"_op)) {
        module.graph.setTarget(id, "torch.ops.aten.neg.default");
        break;
      }
    return {};
  };
  bool found = false;
  for (const auto& [passes, verdict] : besideRecorded(log, {wrong}))
    for (std::size_t i = 0; i < verdict.pairs.size(); ++i) {
      if (verdict.pairs[i].kind != Kind::Different) continue;
      found = true;
      const auto neg = std::ranges::find(passes[i].ops, "aten.neg.default", &OwnOpCount::op);
      ASSERT_NE(neg, passes[i].ops.end());
      EXPECT_EQ(neg->own, neg->recorded + 1);
    }
  EXPECT_TRUE(found);
}

}  // namespace
}  // namespace kerf
