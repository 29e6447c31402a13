// Session: two captures beside each other: their compilations, stage by stage, and where they part.
#include <algorithm>

#include "ui/session/job_names.h"
#include "ui/session/session.h"
#include "ui/session/window_text.h"

namespace kerf::ui::inline session {

namespace {

using workbench::GraphAddress, workbench::StageDifference;

constexpr std::size_t mostFirstNodes = 24;  ///< compilations of which the first node is looked for ahead

/// The address of a graph by its name; nothing where the capture has no such graph.
std::optional<GraphAddress> addressOf(const CaptureDoc& capture, const std::string& graph) {
  const auto found = std::ranges::find(capture.graphs, graph, &GraphEntry::name);
  if (graph.empty() || found == capture.graphs.end()) return std::nullopt;
  return GraphAddress{capture.name, int(found - capture.graphs.begin())};
}

bool isOther(const DiffRow& row) { return row.kind != DiffRow::Kind::Same && row.kind != DiffRow::Kind::Renamed; }

}  // namespace

int RunsDoc::firstDifferent(const workbench::CompileDifference& compile) {
  const auto differs = [](const StageDifference& stage) {
    return stage.onlyBefore || stage.onlyAfter || !stage.failure.empty() || !stage.difference.same;
  };
  const auto found = std::ranges::find_if(compile.stages, differs);
  return found == compile.stages.end() ? -1 : int(found - compile.stages.begin());
}

void Session::compareRuns(int before, int after) {
  const auto mine = capture(before), other = capture(after);
  if (!mine || !other || mine->loading || other->loading) return;
  auto asked = std::make_shared<RunsDoc>();
  asked->before = before;
  asked->after = after;
  asked->running = true;
  m_runs = asked;
  emit runsChanged();
  if (!m_differ) m_differ = m_workers.forJob();
  using Parts = std::vector<std::optional<DiffRow>>;
  using Answer = std::pair<Result<workbench::CaptureDifference>, Parts>;
  m_jobs.submit<Answer>(
      "runs",
      [worker = m_differ, mine, other](std::stop_token stop) -> Answer {
        auto whole = worker->perform(workbench::CaptureDiffRequest{mine->name, other->name}, {{}, stop});
        Parts first;
        for (std::size_t i = 0; whole && i < std::min(mostFirstNodes, whole->compiles.size()); ++i) {
          auto& found = first.emplace_back();
          const auto& compile = whole->compiles[i];
          const int stage = RunsDoc::firstDifferent(compile);
          if (stage < 0 || stop.stop_requested()) continue;
          const auto a = addressOf(*mine, compile.stages[std::size_t(stage)].before);
          const auto b = addressOf(*other, compile.stages[std::size_t(stage)].after);
          if (!a || !b) continue;
          const auto graphs = worker->perform(workbench::DiffRequest{*a, *b}, {{}, stop});
          if (!graphs) continue;
          if (const auto row = std::ranges::find_if(graphs->rows, isOther); row != graphs->rows.end()) found = *row;
        }
        return {std::move(whole), std::move(first)};
      },
      [this, asked](Answer answer) {
        auto doc = std::make_shared<RunsDoc>(*asked);
        doc->running = false;
        if (answer.first) static_cast<workbench::CaptureDifference&>(*doc) = std::move(*answer.first);
        if (!answer.first)
          doc->error = cancelled(answer.first.error()) ? tr("Cancelled.") : windowText(answer.first.error());
        doc->firstRows = std::move(answer.second);
        m_runs = doc;
        emit runsChanged();
      });
}

void Session::goToStagePair(const workbench::StageDifference& stage) {
  const auto mine = m_runs ? capture(m_runs->before) : nullptr, other = m_runs ? capture(m_runs->after) : nullptr;
  if (!mine || !other) return;
  const auto a = addressOf(*mine, stage.before), b = addressOf(*other, stage.after);
  if (a) compareWith(Location{mine->id, a->index, Location::Stage::Captured, -1, {}});
  if (b) return go({other->id, b->index, Location::Stage::Captured, -1, {}});
  emit noted(tr("Only one of the runs has this graph."));
}

}  // namespace kerf::ui::inline session
