#include "app/bench/diff_cases.h"

#include <memory>

#include "engine/capture/common/capture.h"
#include "engine/diff/graph_diff.h"

namespace kerf::bench {
namespace {

namespace fs = std::filesystem;

/// The last graph of a stage: of several parts, the backward one.
Result<GraphModule> graphOf(const Capture& capture, const std::string& stage) {
  for (auto graph = capture.graphs.rbegin(); graph != capture.graphs.rend(); ++graph) {
    if (graph->origin.stage != stage) continue;
    CapturedGraph loaded = *graph;
    KERF_CHECK(loaded.ensureLoaded());
    return std::move(loaded.module);
  }
  return fail(ErrorCode::NotFound, "the log has no {}", stage);
}

Result<BenchWork> prepare(const fs::path& log, const std::string& first, const std::string& second) {
  KERF_TRY(const Capture capture, importCapture(log));
  KERF_TRY(GraphModule before, graphOf(capture, first));
  KERF_TRY(GraphModule after, graphOf(capture, second));
  const auto a = std::make_shared<GraphModule>(std::move(before)), b = std::make_shared<GraphModule>(std::move(after));
  return BenchWork([a, b]() -> Result<void> {
    if (diffGraphs(a->graph, b->graph).same()) return fail(ErrorCode::Internal, "the graphs are the same");
    return {};
  });
}

Result<BenchWork> prepareBackward(const fs::path& log) {
  return prepare(log, "aot_joint_graph", "inductor_post_grad_graph");
}
Result<BenchWork> prepareJoint(const fs::path& log) { return prepare(log, "dynamo_output_graph", "aot_joint_graph"); }

}  // namespace

std::vector<BenchCase> diffBenchCases() {
  static const std::string convnext = "traces/convnext_seed/dedicated_log_torch_trace_3_asr7uc.log";
  return {{"diff_convnext_backward", "joint graph of 3,557 nodes against its backward post-grad graph", 300, convnext,
           prepareBackward},
          {"diff_convnext_joint", "Dynamo's graph against that joint graph", 300, convnext, prepareJoint}};
}

}  // namespace kerf::bench
