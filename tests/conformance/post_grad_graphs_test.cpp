// The recorded traces: the graph before Inductor's post-grad (or joint) passes through Kerf's passes of that stage,
// beside the graph that Inductor made of it: calls by op. What differs is listed, and nothing else may.
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <map>

#include "engine/capture/common/capture.h"
#include "engine/passes/manager/pass_manager.h"
#include "engine/pipeline/compiler_passes.h"
#include "engine/support/recordings.h"
#include "tests/support/recordings.h"

namespace kerf {
namespace {

namespace fs = std::filesystem;
using testing::leftOut;
using Counts = std::map<std::string, int>;

Counts countsOf(const Graph& graph) {
  Counts counts;
  for (const NodeId id : graph.order())
    if (graph.node(id).op() == Opcode::CallFunction) ++counts[canonicalOpName(graph.node(id).target())];
  return counts;
}

/// "aten.mm.default +2": how many more Kerf has.
std::string differences(const Counts& theirs, const Counts& ours) {
  std::string text;
  Counts all = theirs;
  for (const auto& [op, count] : ours) all.try_emplace(op, 0);
  for (const auto& [op, count] : all) {
    const auto find = [&](const Counts& in) { return in.contains(op) ? in.at(op) : 0; };
    if (const int more = find(ours) - find(theirs); more != 0) text += fmt::format("{} {:+}; ", op, more);
  }
  return text;
}

/// Inductor's passes of a stage as Kerf has them: what Kerf adds of its own (constant folding) is left out, what it
/// leaves out by default is on.
std::vector<Pass> passesOf(PassStage stage) {
  PassConfig config;
  for (const Pass& pass : defaultPasses())
    if (pass.stage != stage) config.disabled.push_back(pass.name);
  if (stage == PassStage::PostGrad) {
    config.disabled.push_back("constant_folding");
    config.patches.push_back(*parsePassPatch("reinplace_inplaceable_ops.enabled=true"));
  }
  return *selectPasses(config);
}

struct Recorded {
  const char* model;
  std::vector<std::string> differences;  ///< of each pair, in the log's order
  int attention = 0;                     ///< calls of fused attention in the recorded post-grad graphs
};

void PrintTo(const Recorded& recorded, std::ostream* out) { *out << recorded.model; }

class RecordedPasses : public ::testing::TestWithParam<Recorded> {
 protected:
  static fs::path folder() { return recordingsFolder() / "traces" / GetParam().model; }
  /// Empty: there is none.
  static fs::path log() {
    if (fs::exists(folder()))
      for (const auto& entry : fs::directory_iterator(folder()))
        if (entry.path().extension() == ".log") return entry.path();
    return {};
  }
};

/// Fused attention, forward and backward.
int attentionIn(const Graph& graph) {
  int count = 0;
  for (const auto& [op, calls] : countsOf(graph))
    if (op.starts_with("aten._scaled_dot_product_")) count += calls;
  return count;
}

/// What Inductor's post-grad graphs have, Kerf's attention patterns make of the joint graph (of inference: the graph
/// before the joint passes), where Inductor looks for them too.
TEST_P(RecordedPasses, FindTheRecordedAttention) {
  if (log().empty()) GTEST_SKIP() << leftOut(folder());
  auto capture = importCapture(log());
  ASSERT_TRUE(capture) << capture.error().text();
  int theirs = 0;
  std::optional<GraphModule> before;
  for (CapturedGraph& graph : capture->graphs) {
    const std::string stage = graph.origin.stage;
    const bool isLast = stage == "inductor_post_grad_graph";
    if (!isLast && stage != "aot_joint_graph" && stage != "before_joint_graph") continue;
    const auto loaded = graph.ensureLoaded();
    ASSERT_TRUE(loaded) << graph.name << ": " << loaded.error().text();
    if (isLast)
      theirs += attentionIn(graph.module.graph);
    else if (!before || stage == "aot_joint_graph")
      before = graph.module;
    graph.module = {};
  }
  ASSERT_TRUE(before);
  const PassConfig config{.only = std::vector<std::string>{"joint_remove_noop_ops", "fuse_attention"}};
  const auto ours = PassManager(*selectPasses(config, compilerPasses())).run(*before);
  ASSERT_TRUE(ours) << ours.error().text();
  EXPECT_EQ(attentionIn(ours->graph), theirs);
  EXPECT_EQ(theirs, GetParam().attention);
}

TEST_P(RecordedPasses, MakeTheRecordedCalls) {
  if (log().empty()) GTEST_SKIP() << leftOut(folder());
  auto capture = importCapture(log());
  ASSERT_TRUE(capture) << capture.error().text();
  std::vector<std::string> found;
  std::optional<GraphModule> before;
  for (CapturedGraph& graph : capture->graphs) {
    const std::string stage = graph.origin.stage;
    const bool begins = stage == "before_post_grad_graph" || stage == "before_joint_graph";
    const bool ends = stage == "inductor_post_grad_graph" || stage == "after_joint_graph";
    if (!begins && !(ends && before)) continue;
    const auto loaded = graph.ensureLoaded();
    ASSERT_TRUE(loaded) << graph.name << ": " << loaded.error().text();
    if (begins) {
      before = std::move(graph.module);
      continue;
    }
    const PassStage which = stage == "after_joint_graph" ? PassStage::Joint : PassStage::PostGrad;
    const auto start = std::chrono::steady_clock::now();
    const auto ours = PassManager(passesOf(which)).run(*before);
    const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
    ASSERT_TRUE(ours) << ours.error().text();
    found.push_back(differences(countsOf(graph.module.graph), countsOf(ours->graph)));
    fmt::print("{} {} before {} Inductor {} Kerf {} in {:.1f} ms: {}\n", GetParam().model, stage, before->graph.size(),
               graph.module.graph.size(), ours->graph.size(), time.count(), found.back());
    before.reset();
    graph.module = {};
  }
  EXPECT_EQ(found, GetParam().differences);
}

/// Where there are differences: expand to the size that is there and mul by the number 1 are no-ops to Kerf, not to
/// Inductor 2.11; equal add, pow and mul are computed once by Kerf's cse.
const Recorded recorded[] = {
    {"bert_base", {"aten.add.Tensor -1; aten.expand.default -49; ", ""}},
    {"convnext_seed", {"", ""}},
    {"efficientnet_b0", {"aten.mul.Tensor -49; ", "aten.mul.Tensor -49; "}},
    {"gpt2", {"aten.add.Tensor -1; aten.expand.default -1; ", ""}, 24},
    {"llama_8l",
     {"aten.add.Tensor -1; aten.expand.default -4; aten.mul.Tensor -2; ",
      "aten.mul.Tensor -10; aten.pow.Tensor_Scalar -17; "},
     16},
    {"mobilenet_v3_small", {"aten.mul.Tensor -34; ", "aten.mul.Tensor -34; "}},
    {"vit_b_16", {"", ""}, 24},
};

INSTANTIATE_TEST_SUITE_P(Corpus, RecordedPasses, ::testing::ValuesIn(recorded),
                         [](const auto& info) { return std::string(info.param.model); });

}  // namespace
}  // namespace kerf
