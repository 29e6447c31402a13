// The graphs that one compilation left behind, with how far each is from the one before it and how long that took.
#include <algorithm>
#include <map>

#include "app/workbench/captures/capture_source.h"
#include "engine/compilation/compile_stages.h"
#include "engine/compilation/recorded_provenance.h"
#include "engine/diff/graph_diff.h"

namespace kerf::workbench {

namespace {

/// The event whose time is what PyTorch took to make the graphs of a stage.
constexpr std::pair<std::string_view, std::string_view> stageEvents[] = {
    {"dynamo_output_graph", "bytecode_tracing"},
    {"after_pre_grad_graph", "_recursive_pre_grad_passes"},
    {"aot_joint_graph", "aot_trace_joint_graph"},
    {"after_joint_graph", "_recursive_joint_graph_passes"},
    {"aot_forward_graph", "min_cut_rematerialization_partition"},
    {"aot_backward_graph", "min_cut_rematerialization_partition"},
    {"inductor_post_grad_graph", "_recursive_post_grad_passes"},
    {"after_post_grad_graph", "_recursive_post_grad_passes"},
};
constexpr std::string_view codeEvent = "GraphLowering.codegen";

ChangeCounts countsOf(const GraphDiff& diff) {
  ChangeCounts counts;
  for (const NodeDelta& delta : diff.nodes) {
    counts.rewritten += delta.rewritten() && delta.after.valid();
    counts.added += delta.added();
    counts.removed += delta.removed();
    counts.changed += !delta.rewritten() && (delta.callChanged || delta.metaChanged || delta.given);
    counts.renamed += !delta.rewritten() && delta.renamed;
  }
  return counts;
}

ChangeCounts operator+(ChangeCounts a, const ChangeCounts& b) {
  a.added += b.added, a.removed += b.removed, a.rewritten += b.rewritten, a.changed += b.changed,
      a.renamed += b.renamed;
  return a;
}

class StageReader {
 public:
  StageReader(const Capture& capture, std::size_t graph)
      : m_capture(capture),
        m_parts(capture.details ? compiledParts(capture) : std::vector<CompiledPart>()),
        m_stages(compileStages(capture, m_parts, graph)),
        m_origin(capture.graphs[graph].origin) {
    for (std::size_t i = 0; i < m_stages.size(); ++i) m_order.push_back(i);
    std::ranges::stable_partition(m_order, [this](std::size_t i) { return m_stages[i].part != "backward"; });
    for (const CompileStage& stage : m_stages) m_graphs.push_back(capture.graphs[stage.graph]);
  }

  Result<RecordedStages> read(const Job& job) {
    RecordedStages answer;
    for (const std::size_t at : m_order) {
      if (!job.progress("reading " + m_graphs[at].name, double(answer.stages.size()) / double(m_order.size())))
        return fail(ErrorCode::Cancelled, "stopped");
      answer.stages.push_back(stageAt(at));
    }
    for (const CompiledPart& part : m_parts)
      if (belongs(part)) answer.code.push_back(codeOf(part));
    std::ranges::stable_partition(answer.code, [](const RecordedCodeDoc& code) { return code.part != "backward"; });
    return answer;
  }

 private:
  RecordedStageDoc stageAt(std::size_t at) {
    const CompileStage& stage = m_stages[at];
    RecordedStageDoc doc;
    doc.graph = int(stage.graph);
    doc.name = m_graphs[at].name;
    doc.title = stage.label;
    doc.part = stage.part;
    doc.milliseconds = timeOf(m_graphs[at].origin.stage, stage.part);
    if (stage.parent) doc.parent = placeOf(*stage.parent);
    if (const auto loaded = m_graphs[at].ensureLoaded(); !loaded) {
      doc.failure = loaded.error().text();
      return doc;
    }
    doc.nodes = int(m_graphs[at].module.graph.size());
    if (stage.parent) compare(*stage.parent, at, doc);
    return doc;
  }

  void compare(std::size_t before, std::size_t after, RecordedStageDoc& doc) {
    if (const auto loaded = m_graphs[before].ensureLoaded(); !loaded) {
      doc.failure = loaded.error().text();
      return;
    }
    const auto recorded = recordedBetween(m_capture, m_stages[before].graph, m_capture, m_stages[after].graph);
    for (const auto& [path, diff] : diffModules(m_graphs[before].module, m_graphs[after].module, recorded))
      doc.changes = doc.changes + countsOf(diff);
  }

  int placeOf(std::size_t stage) const { return int(std::ranges::find(m_order, stage) - m_order.begin()); }

  bool belongs(const CompiledPart& part) const {
    return std::ranges::any_of(m_stages, [&](const CompileStage& stage) {
      return std::ranges::find(part.graphs, stage.graph) != part.graphs.end() || part.lowered == stage.graph;
    });
  }

  RecordedCodeDoc codeOf(const CompiledPart& part) const {
    RecordedCodeDoc code;
    code.record = int(part.code);
    code.part = part.part;
    code.kernels = int(part.groups.size());
    code.milliseconds = timeOf(codeEvent, std::string_view(part.part));
    for (std::size_t i = 0; i < m_stages.size(); ++i)
      if (part.lowered && m_stages[i].graph == *part.lowered) code.parent = placeOf(i);
    return code;
  }

  double timeOf(const std::string& stage, const std::string& part) const {
    const auto event = std::ranges::find(stageEvents, stage, &std::pair<std::string_view, std::string_view>::first);
    return event == std::end(stageEvents) ? -1 : timeOf(event->second, std::string_view(part));
  }

  /// What is done once for each part is recorded in the order of the parts; what is done for both, once.
  double timeOf(std::string_view event, std::string_view part) const {
    std::vector<const TimelineEvent*> found;
    if (!m_capture.details) return -1;
    for (const TimelineEvent& each : m_capture.details->timeline)
      if (each.name == event && each.compileId == m_origin.compileId && each.rank == m_origin.rank)
        found.push_back(&each);
    std::ranges::sort(found, {}, [](const TimelineEvent* each) { return each->beginUs; });
    if (found.empty()) return -1;
    return double((part == "backward" ? found.back() : found.front())->durationUs) / 1000;
  }

  const Capture& m_capture;
  std::vector<CompiledPart> m_parts;
  std::vector<CompileStage> m_stages;
  GraphOrigin m_origin;
  std::vector<std::size_t> m_order;     ///< of the answer: stages, by their places
  std::vector<CapturedGraph> m_graphs;  ///< by stage
};

}  // namespace

Result<RecordedStages> perform(Workbench& bench, const RecordedStagesRequest& request, const Job& job) {
  KERF_TRY(const auto source, openCapture(bench, request.capture, job));
  const Capture& capture = source->capture;
  if (request.graph < 0 || std::size_t(request.graph) >= capture.graphs.size())
    return fail(ErrorCode::NotFound, "{} has no graph number {}", request.capture, request.graph + 1);
  return StageReader(capture, std::size_t(request.graph)).read(job);
}

}  // namespace kerf::workbench
