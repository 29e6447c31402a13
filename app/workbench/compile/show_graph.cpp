// perform(GraphRequest): a graph as it was captured, as a stage of AOTAutograd, or after a pass.
#include "app/workbench/captures/graph_source.h"
#include "app/workbench/captures/recorded_settings.h"
#include "app/workbench/compile/aot_passes.h"
#include "app/workbench/compile/pass_trace.h"
#include "app/workbench/graphs/graph_doc.h"
#include "engine/capture/repro/export_text.h"

namespace kerf::workbench {

namespace {

using Stages = std::vector<std::pair<std::string, StageChoice>>;

}  // namespace

Result<GraphDocPtr> perform(Workbench& bench, const GraphRequest& request, const Job& job) {
  KERF_TRY(const auto asked, splitStage(request.graph));
  const auto stages = asked.stage ? stagesUpTo(*asked.stage) : Stages();
  const int pass = request.afterPass - int(stages.size());
  if (request.afterPass >= 0 && pass < 0) {
    GraphRequest earlier{asked.captured, -1, request.title};
    earlier.graph.stage = stageText(stages[std::size_t(request.afterPass)].second);
    return perform(bench, earlier, job);
  }
  KERF_TRY(auto found, resolveGraph(bench, request.graph, job));
  ShapedGraph source = shapedAsKnown(std::move(found));
  std::vector<std::string> notes;  // shapes that cannot be found are no failure: the rest can still be read
  if (source.incomplete) notes.push_back("Shapes: " + source.incomplete->text());
  for (auto& note : leftOutNotes(source.capture, source.index)) notes.push_back(std::move(note));
  for (const auto& setting : recordedSettings(source)) notes.push_back("PyTorch's minifier was set: " + setting);
  const auto& graph = source.graph();
  const auto file = graph.origin.file.empty() ? source.capture.path : graph.origin.file;
  auto title = request.title.empty() ? graph.name : request.title;
  if (!stages.empty()) title += fmt::format(" ({})", stages.back().first);
  if (request.afterPass >= 0) {
    if (!request.body.empty())
      return fail(ErrorCode::BadUsage, "nested graphs are shown as they were captured, not after passes");
    KERF_TRY(const auto after, graphAfterPass(graph.module, std::size_t(pass), title, file.string(), job));
    const auto named = std::make_shared<GraphDoc>(*after);
    nameInputModules(*named, source);
    return named;
  }
  KERF_TRY(const auto* shown, nestedGraph(graph.module, request.body));
  if (!request.body.empty()) title += " / " + request.body;
  auto doc = buildGraphDoc(*shown, title, file.string());
  doc->notes = std::move(notes);
  if (request.body.empty()) nameInputModules(*doc, source);
  return doc;
}

}  // namespace kerf::workbench
