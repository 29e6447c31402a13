// perform(NodeLifeRequest): what a node came from and what it became.
#include "app/workbench/captures/capture_source.h"
#include "app/workbench/captures/graph_source.h"
#include "engine/compilation/node_history.h"

namespace kerf::workbench {

namespace {

NodeLife documentOf(NodeHistory history) {
  NodeLife life{std::move(history.node),
                std::move(history.graph),
                std::move(history.compileId),
                std::move(history.source),
                {},
                {},
                std::move(history.notes)};
  for (HistoryStage& stage : history.stages) {
    LifeStage& shown = life.stages.emplace_back(std::move(stage.graph), std::move(stage.part));
    for (HistoryNode& node : stage.nodes)
      shown.nodes.push_back({std::move(node.name), std::move(node.call), std::move(node.how)});
  }
  for (HistoryKernel& kernel : history.kernels)
    life.kernels.push_back({std::move(kernel.kernel), std::move(kernel.part), std::move(kernel.nodes),
                            std::move(kernel.record), kernel.definedAt, kernel.calledAt, std::move(kernel.callText)});
  return life;
}

/// The first graph that has the node.
Result<std::size_t> graphWith(const Capture& capture, const std::string& text, const std::string& node,
                              const Job& job) {
  for (std::size_t i = 0; i < capture.graphs.size(); ++i) {
    const double done = double(i) / double(capture.graphs.size());
    if (!job.progress("looking for the node", done)) return fail(ErrorCode::Cancelled, "stopped");
    CapturedGraph graph = capture.graphs[i];
    if (graph.ensureLoaded() && graph.module.graph.find(node)) return i;
  }
  return fail(ErrorCode::NotFound, "no graph of {} has a node \"{}\"", text, node);
}

}  // namespace

Result<NodeLife> perform(Workbench& bench, const NodeLifeRequest& request, const Job& job) {
  KERF_TRY(const auto place, bench.perform(LocateRequest{request.capture}, job));
  if (place == LocateRequest::Place::Graph) {
    KERF_TRY(const auto source, resolveGraph(bench, {request.capture}, job));
    KERF_TRY(NodeHistory history, nodeHistory(source.capture, source.index, request.node, job.progressOnly()));
    return documentOf(std::move(history));
  }
  KERF_TRY(const auto source, openCapture(bench, request.capture, job));
  KERF_TRY(const auto graph, graphWith(source->capture, request.capture, request.node, job));
  KERF_TRY(NodeHistory history, nodeHistory(source->capture, graph, request.node, job.progressOnly()));
  return documentOf(std::move(history));
}

}  // namespace kerf::workbench
