// perform(AotRequest): every stage of AOTAutograd with its size, time and calls.
#include <algorithm>
#include <map>

#include "app/workbench/compile/aot_passes.h"
#include "app/workbench/protocol/joint.h"

namespace kerf::workbench {

namespace {

using Clock = std::chrono::steady_clock;

std::vector<std::pair<std::string, std::int64_t>> callsOf(const Graph& graph) {
  std::map<std::string, std::int64_t> counts;
  for (const NodeId id : graph.order()) {
    const Opcode op = graph.node(id).op();
    if (op == Opcode::CallFunction || op == Opcode::CallMethod || op == Opcode::CallModule)
      ++counts[graph.node(id).target()];
  }
  return {counts.begin(), counts.end()};
}

void addMetadata(AotReport& report, const AotMetadata& metadata) {
  report.inputs.clear();
  report.outputs.clear();
  for (const AotInput& input : metadata.inputs)
    report.inputs.push_back({input.name, input.source, std::string(kindName(input.kind)), input.requiresGrad,
                             input.mutatesData, input.mutatesMetadata});
  for (const AotOutput& output : metadata.outputs)
    report.outputs.push_back(
        {std::string(aliasName(output.alias)), output.base ? int(*output.base) : -1, output.requiresGrad});
  report.fixedInputs = std::int64_t(metadata.fixedInputs);
}

}  // namespace

Result<AotReport> perform(Workbench& bench, const AotRequest& request, const Job& job) {
  KERF_TRY(const auto last, parseStage(request.stage));
  GraphAddress address = request.graph;
  address.stage.clear();
  KERF_TRY(GraphSource found, resolveGraph(bench, address, job));
  const ShapedGraph source = shapedForReading(std::move(found), job);
  AotReport report;
  const Graph& captured = source.graph().module.graph;
  report.stages.push_back({"dynamo", std::int64_t(captured.size()), {}, callsOf(captured), ""});
  for (const auto& [name, choice] : last ? stagesUpTo(*last) : std::vector<std::pair<std::string, StageChoice>>()) {
    const auto start = Clock::now();
    const auto traced = traceStage(source.graph(), choice, job);
    AotStageDoc doc{name, 0, Clock::now() - start, {}, ""};
    if (!traced && traced.error().code == ErrorCode::Cancelled) return fail(traced.error());
    if (traced) {
      doc.nodes = std::int64_t(traced->module.graph.size());
      doc.calls = callsOf(traced->module.graph);
      addMetadata(report, traced->metadata);
    } else {
      doc.error = traced.error().text();
    }
    report.stages.push_back(std::move(doc));
  }
  return report;
}

}  // namespace kerf::workbench
