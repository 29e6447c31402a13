// How many kernels a graph becomes, beside those of the output code that Inductor left of the same graph.
#include <gtest/gtest.h>

#include "engine/capture/common/recorded_fusion.h"
#include "engine/pipeline/compile_fx.h"
#include "engine/support/recordings.h"

namespace kerf {
namespace {

namespace fs = std::filesystem;

struct KernelCount {
  int generated = 0, calls = 0;
};

KernelCount countOf(const std::vector<RecordedFusionGroup>& groups) {
  KernelCount count;
  for (const RecordedFusionGroup& group : groups) {
    const bool isGenerated = group.kernel.starts_with("triton_") || group.kernel.starts_with("cpp_");
    if (!group.kernel.empty()) ++(isGenerated ? count.generated : count.calls);
  }
  return count;
}

/// Items of tuples cost nothing: they are no calls.
KernelCount countOf(const std::vector<KernelInfo>& kernels) {
  KernelCount count;
  for (const KernelInfo& kernel : kernels) {
    if (kernel.kind == "fused") ++count.generated;
    if (kernel.kind == "extern" && !kernel.name.starts_with("extern_getitem")) ++count.calls;
  }
  return count;
}

fs::path traceOf(const std::string& model) {
  const fs::path folder = recordingsFolder() / "traces" / model;
  if (!fs::exists(folder)) return {};
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".log") return entry.path();
  return {};
}

struct Bounds {
  const char* model;
  double generated;  ///< at most so many times Inductor's
};

class KernelCounts : public ::testing::TestWithParam<Bounds> {};

TEST_P(KernelCounts, BesideInductors) {
  const fs::path log = traceOf(GetParam().model);
  if (log.empty()) GTEST_SKIP() << "no trace of " << GetParam().model;
  auto capture = importCapture(log);
  ASSERT_TRUE(capture) << capture.error().text();
  int compared = 0;
  for (std::size_t g = 0; g < capture->graphs.size(); ++g) {
    CapturedGraph& graph = capture->graphs[g];
    const std::string& stage = graph.origin.stage;
    if (stage != "aot_forward_graph" && stage != "aot_backward_graph" && stage != "aot_inference_graph") continue;
    const auto part = compiledPartOf(*capture, g);
    if (!part) continue;
    const auto loaded = graph.ensureLoaded();
    ASSERT_TRUE(loaded) << loaded.error().text();
    const auto compiled = compileFx(graph.module, {});
    ASSERT_TRUE(compiled) << compiled.error().text();
    const KernelCount own = countOf((*compiled)->kernels()), theirs = countOf(part->groups);
    fmt::print("| {} {} | {} | {} | {} | {} |\n", GetParam().model, part->part, theirs.generated, own.generated,
               theirs.calls, own.calls);
    ASSERT_GT(theirs.generated, 0);
    EXPECT_LE(own.generated, GetParam().generated * theirs.generated) << stage;
    EXPECT_LE(own.calls, theirs.calls + 5) << stage;
    ++compared;
  }
  EXPECT_GT(compared, 0);
}

INSTANTIATE_TEST_SUITE_P(Corpus, KernelCounts,
                         ::testing::Values(Bounds{"bert_base", 1.2}, Bounds{"convnext_seed", 1.05}, Bounds{"gpt2", 1.2},
                                           Bounds{"vit_b_16", 1.3}, Bounds{"efficientnet_b0", 1.0},
                                           Bounds{"llama_8l", 1.2}, Bounds{"mobilenet_v3_small", 1.0}),
                         [](const auto& info) { return std::string(info.param.model); });

}  // namespace
}  // namespace kerf
