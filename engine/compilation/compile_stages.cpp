#include "engine/compilation/compile_stages.h"

#include <algorithm>

#include <fmt/format.h>

namespace kerf::inline compilation {

namespace {

struct StageRow {
  std::string_view stage;
  int rank;
  std::string_view label;
};
constexpr int reproRank = 7;
constexpr StageRow stageRows[] = {
    {"dynamo_output_graph", 0, "Dynamo"},
    {"before_pre_grad_graph", 1, "before pre-grad passes"},
    {"after_pre_grad_graph", 2, "after pre-grad passes"},
    {"aot_joint_graph", 3, "joint"},
    {"aot_inference_graph", 3, "inference"},
    {"before_joint_graph", 4, "before joint passes"},
    {"after_joint_graph", 5, "after joint passes"},
    {"aot_forward_graph", 6, "forward"},
    {"aot_backward_graph", 6, "backward"},
    {"fx_graph_runnable", reproRank, "repro"},
    {"before_post_grad_graph", 8, "before post-grad passes"},
    {"fx_graph_readable", 8, "before post-grad passes"},
    {"after_post_grad_graph", 9, "after post-grad passes"},
    {"inductor_post_grad_graph", 9, "after post-grad passes"},
    {"fx_graph_transformed", 9, "after post-grad passes"},
};

const StageRow* rowOf(const std::string& stage) {
  const auto found = std::ranges::find(stageRows, stage, &StageRow::stage);
  return found == std::end(stageRows) ? nullptr : found;
}

std::string partOf(const std::vector<CompiledPart>& parts, std::size_t graph, const std::string& stage) {
  for (const CompiledPart& part : parts)
    if (std::ranges::find(part.graphs, graph) != part.graphs.end() && !part.part.empty()) return part.part;
  if (stage == "aot_forward_graph") return "forward";
  return stage == "aot_backward_graph" ? "backward" : "";
}

std::string labelOf(const StageRow& row, const std::string& part) {
  const bool says = row.label == part || part.empty() || part == "inference";
  return says ? std::string(row.label) : fmt::format("{}, {}", part, row.label);
}

/// The nearest stage before it of its own part, or of none.
std::optional<std::size_t> parentOf(const std::vector<CompileStage>& stages, std::size_t at) {
  std::optional<std::size_t> parent;
  for (std::size_t i = 0; i < at; ++i) {
    const CompileStage& stage = stages[i];
    const bool fits = stage.part.empty() || stage.part == stages[at].part || stage.part == "inference";
    if (fits && stage.rank < stages[at].rank) parent = i;
  }
  return parent;
}

}  // namespace

bool sameCompilation(const Capture& capture, const GraphOrigin& a, const GraphOrigin& b) {
  if (capture.kind == "debug_dir") return a.file.parent_path() == b.file.parent_path();
  if (capture.kind == "compiled_functions")
    return a.compileId == b.compileId && a.file.parent_path() == b.file.parent_path();
  return a.file == b.file && a.rank == b.rank && a.compileId == b.compileId;
}

std::vector<CompileStage> compileStages(const Capture& capture, const std::vector<CompiledPart>& parts,
                                        std::size_t of) {
  std::vector<CompileStage> stages;
  const GraphOrigin& origin = capture.graphs[of].origin;
  const bool known = rowOf(origin.stage) != nullptr;
  for (std::size_t i = 0; i < capture.graphs.size(); ++i) {
    const CapturedGraph& graph = capture.graphs[i];
    const StageRow* row = rowOf(graph.origin.stage);
    if (i == of && row == nullptr) stages.push_back({i, graph.name, {}, 0, {}});
    if (!known || row == nullptr || !sameCompilation(capture, origin, graph.origin)) continue;
    const std::string part = partOf(parts, i, graph.origin.stage);
    stages.push_back({i, labelOf(*row, part), part, row->rank, {}});
  }
  const auto isCopied = [all = stages](const CompileStage& stage) {
    return std::ranges::any_of(
        all, [&](const CompileStage& other) { return other.rank == reproRank + 1 && other.part == stage.part; });
  };
  std::erase_if(stages, [&](const CompileStage& stage) {
    return stage.rank == reproRank && stage.graph != of && isCopied(stage);
  });
  std::ranges::stable_sort(stages, {}, &CompileStage::rank);
  for (std::size_t i = 0; i < stages.size(); ++i) stages[i].parent = parentOf(stages, i);
  return stages;
}

}  // namespace kerf::inline compilation
