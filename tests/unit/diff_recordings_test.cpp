// Differences between the stages of recorded compilations: against what Inductor itself wrote down, against source
// lines, and in values that were looked at.
#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "engine/capture/common/capture.h"
#include "engine/diff/compared_graph.h"
#include "engine/diff/correspondence.h"
#include "engine/diff/graph_diff.h"
#include "engine/ir/printer.h"
#include "engine/support/recordings.h"
#include "tests/support/cpu_time.h"
#include "tests/support/recordings.h"

namespace kerf {
namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

fs::path logOf(const std::string& folder) {
  const fs::path place = recordingsFolder() / folder;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(place, ignored))
    if (entry.path().extension() == ".log") return entry.path();
  return place;
}

class RecordedStages : public ::testing::Test {
 protected:
  /// False, with the test skipped, where the recording is left out.
  bool open(const std::string& folder) {
    const fs::path log = logOf(folder);
    if (!fs::is_regular_file(log)) return false;
    auto capture = importCapture(log);
    EXPECT_TRUE(capture) << capture.error().text();
    m_capture = std::move(*capture);
    return true;
  }
  /// The `nth` graph of that stage.
  const Graph& graph(const std::string& stage, int nth = 0) {
    for (CapturedGraph& each : m_capture.graphs) {
      if (each.origin.stage != stage || nth-- > 0) continue;
      EXPECT_TRUE(each.ensureLoaded());
      return each.module.graph;
    }
    ADD_FAILURE() << "no " << stage;
    return m_capture.graphs.front().module.graph;
  }
  const Capture& capture() const { return m_capture; }

 private:
  Capture m_capture;
};

Names namesOf(const Graph& graph, const std::vector<NodeId>& nodes) {
  Names names;
  for (const NodeId id : nodes) names.push_back(graph.node(id).name());
  return names;
}

/// "addmm → mm, add" and how often.
std::map<std::string, int> rewriteKinds(const Graph& a, const Graph& b, const GraphDiff& diff) {
  std::map<std::string, int> kinds;
  for (const Rewrite& rewrite : diff.rewrites) {
    if (rewrite.kind != FoundRewrite::Kind::Rewritten) continue;
    const auto ops = [](const Graph& graph, const std::vector<NodeId>& nodes) {
      Names names;
      for (const NodeId id : nodes) names.push_back(baseName(graph.node(id)));
      return fmt::format("{}", fmt::join(names, ", "));
    };
    ++kinds[ops(a, rewrite.before) + " → " + ops(b, rewrite.after)];
  }
  return kinds;
}

std::string_view lineOf(const Node& node) {
  const std::string_view trace = node.meta().stackTrace;
  const std::size_t file = trace.rfind("File: ");
  return file == std::string_view::npos ? std::string_view() : trace.substr(file);
}

/// Pairs of calls from different source lines, or of different dtypes or shapes that both graphs name.
Names wrongPairs(const Graph& a, const Graph& b, const GraphDiff& diff) {
  Names wrong;
  for (const NodeDelta& delta : diff.nodes) {
    if (!delta.before.valid() || !delta.after.valid() || delta.rewritten()) continue;
    const Node &mine = a.node(delta.before), &theirs = b.node(delta.after);
    const auto first = lineOf(mine), second = lineOf(theirs);
    const auto x = printAnnotation(mine.meta(), false, false), y = printAnnotation(theirs.meta(), false, false);
    const bool lines = !first.empty() && !second.empty() && first != second;
    if (lines || (!x.empty() && !y.empty() && x != y)) wrong.push_back(mine.name() + " " + theirs.name());
  }
  return wrong;
}

TEST_F(RecordedStages, DynamoAgainstPostGradIsWhatInductorWroteDown) {
  for (const auto& [model, count] : {std::pair("mobilenet_v3_small", 156), std::pair("efficientnet_b0", 239)}) {
    if (!open(std::string("traces/") + model)) GTEST_SKIP() << testing::leftOut(logOf(std::string("traces/") + model));
    const Graph &before = graph("dynamo_output_graph"), &after = graph("inductor_post_grad_graph");
    const auto diff = diffGraphs(before, after);  // without the map
    const Correspondence links(diff);
    int agreed = 0;
    for (const auto& [key, names] : capture().details->preToPost) {
      const auto node = before.find(key.substr(key.find(' ') + 1));
      ASSERT_TRUE(node) << key;
      std::set<std::string> found;
      for (const auto& link : links.after(*node)) found.insert(after.node(link.node).name());
      EXPECT_EQ(found, std::set<std::string>(names.begin(), names.end())) << key;
      ++agreed;
    }
    EXPECT_EQ(agreed, count);
    EXPECT_EQ(diff.count(&NodeDelta::added), 0u);
    EXPECT_EQ(diff.count(&NodeDelta::moved), 0u);
  }
}

TEST_F(RecordedStages, LayerNormBecomesItsNineCalls) {
  if (!open("traces/convnext_seed")) GTEST_SKIP() << testing::leftOut(logOf("traces/convnext_seed"));
  const Graph &dynamo = graph("dynamo_output_graph"), &joint = graph("aot_joint_graph");
  const auto diff = diffGraphs(dynamo, joint);
  const auto rewrite = std::ranges::find_if(
      diff.rewrites, [&](const Rewrite& each) { return namesOf(dynamo, each.before) == Names{"input_4"}; });
  ASSERT_NE(rewrite, diff.rewrites.end());
  EXPECT_EQ(namesOf(joint, rewrite->after),
            (Names{"var_mean_1", "getitem_2", "getitem_3", "add_2", "rsqrt_1", "sub_1", "mul_2", "mul_3", "add_3"}));
  EXPECT_EQ(diff.rewrites.size(), 346u);
  EXPECT_EQ(wrongPairs(dynamo, joint, diff), Names());
  // What else the joint graph has computes gradients; what else Dynamo's has is logging.
  for (const NodeDelta& delta : diff.nodes) {
    if (delta.added() && joint.node(delta.after).op() == Opcode::CallFunction) {
      EXPECT_TRUE(delta.gradient) << joint.node(delta.after).name();
    }
    if (delta.removed()) {
      EXPECT_TRUE(dynamo.node(delta.before).name().starts_with("_log_api_usage_once"));
    }
  }
}

TEST_F(RecordedStages, TheBackwardGraphIsFoundInItsJointGraph) {
  if (!open("traces/convnext_seed")) GTEST_SKIP() << testing::leftOut(logOf("traces/convnext_seed"));
  const Graph &joint = graph("aot_joint_graph"), &backward = graph("inductor_post_grad_graph", 1);
  GraphDiff diff;
  EXPECT_LT(testing::cpuSecondsOf([&] { diff = diffGraphs(joint, backward); }), 0.3 * testing::slowdown);
  EXPECT_EQ(diff.count(&NodeDelta::added), 0u);
  EXPECT_EQ(diff.count(&NodeDelta::moved), 0u);
  EXPECT_EQ(diff.count(&NodeDelta::given), 303u);
  EXPECT_EQ(wrongPairs(joint, backward, diff), Names());
}

TEST_F(RecordedStages, SoftmaxAndAddmmOfBertAreNamedAsRewrites) {
  if (!open("traces/bert_base")) GTEST_SKIP() << testing::leftOut(logOf("traces/bert_base"));
  const Graph &before = graph("aot_forward_graph"), &after = graph("inductor_post_grad_graph");
  const auto diff = diffGraphs(before, after);
  EXPECT_EQ(rewriteKinds(before, after, diff),
            (std::map<std::string, int>{{"addmm → mm, add", 60},
                                        {"amax, sum → prepare_softmax_online, getitem, getitem", 12}}));
  EXPECT_EQ(diff.count(&NodeDelta::removed) + diff.count(&NodeDelta::added), 0u);
}

TEST_F(RecordedStages, EveryRandomCallOfBertGetsItsSeed) {
  if (!open("traces/bert_base")) GTEST_SKIP() << testing::leftOut(logOf("traces/bert_base"));
  const Graph &joint = graph("aot_joint_graph"), &forward = graph("aot_forward_graph");
  const auto diff = diffGraphs(joint, forward);
  auto kinds = rewriteKinds(joint, forward, diff);
  EXPECT_EQ(kinds["rand → inductor_lookup_seed, inductor_random"], 36);
  EXPECT_EQ(kinds["rand → inductor_seeds, inductor_lookup_seed, inductor_random"], 1);
  EXPECT_EQ(diff.count(&NodeDelta::added), 0u);
  EXPECT_EQ(wrongPairs(joint, forward, diff), Names());
}

TEST_F(RecordedStages, PaddedProductsOfVitAreRewrites) {
  if (!open("traces/vit_b_16")) GTEST_SKIP() << testing::leftOut(logOf("traces/vit_b_16"));
  const Graph &joint = graph("aot_joint_graph"), &backward = graph("aot_backward_graph");
  const auto diff = diffGraphs(joint, backward);
  EXPECT_EQ(rewriteKinds(joint, backward, diff),
            (std::map<std::string, int>{{"mm, permute, permute → constant_pad_nd, constant_pad_nd, mm", 24},
                                        {"mm → constant_pad_nd, mm, slice", 12}}));
  EXPECT_EQ(diff.count(&NodeDelta::added), 0u);
  EXPECT_EQ(wrongPairs(joint, backward, diff), Names());
}

TEST_F(RecordedStages, NoPairOfAnyStageIsACoincidence) {
  const std::pair<const char*, const char*> stages[] = {{"dynamo_output_graph", "aot_joint_graph"},
                                                        {"aot_joint_graph", "aot_forward_graph"},
                                                        {"aot_joint_graph", "aot_backward_graph"},
                                                        {"aot_forward_graph", "inductor_post_grad_graph"}};
  int opened = 0;
  for (const char* model : {"gpt2", "llama_8l"}) {
    if (!open(std::string("traces/") + model)) continue;
    ++opened;
    for (const auto& [first, second] : stages) {
      const Graph &before = graph(first), &after = graph(second);
      const auto diff = diffGraphs(before, after);
      EXPECT_EQ(wrongPairs(before, after, diff), Names()) << model << " " << first << " " << second;
      EXPECT_EQ(diff.count(&NodeDelta::moved), 0u) << model << " " << first << " " << second;
    }
  }
  if (opened == 0) GTEST_SKIP() << testing::leftOut(logOf("traces/gpt2"));
}

}  // namespace
}  // namespace kerf
