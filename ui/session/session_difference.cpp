// Session: how the shown graph differs from the stage before it, or from a graph that the user chose; and reading
// ahead, so that the neighbours of what is shown are there before anybody asks for them.
#include <algorithm>

#include "ui/session/freed_elsewhere.h"
#include "ui/session/graph_state.h"
#include "ui/session/session.h"
#include "ui/session/window_text.h"

namespace kerf::ui::inline session {

namespace {

using Stage = Location::Stage;
using Weight = JobQueue::Weight;

Weight weightOf(bool quiet) { return quiet ? Weight::Quiet : Weight::Shown; }

QString placeText(const Location& place) {
  return QString("%1/%2/%3/%4/%5")
      .arg(place.capture)
      .arg(place.graph)
      .arg(text(place.aotStage))
      .arg(int(place.stage))
      .arg(place.index);
}

/// The last pass before `index` that changed the graph; -1: none.
int changedBefore(const workbench::CompileDoc& compiled, int index) {
  for (int i = std::min(index, int(compiled.passes.size())) - 1; i >= 0; --i)
    if (compiled.passes[std::size_t(i)].changed) return i;
  return -1;
}

}  // namespace

std::string DifferenceDoc::after(const std::string& node) const {
  const auto found = std::ranges::find(renamed, node, &std::pair<std::string, std::string>::first);
  if (found != renamed.end()) return found->second;
  return std::ranges::find(removed, node) == removed.end() ? node : std::string();
}

std::string DifferenceDoc::earlier(const std::string& node) const {
  const auto found = std::ranges::find(renamed, node, &std::pair<std::string, std::string>::second);
  if (found != renamed.end()) return found->first;
  for (const auto& rewrite : rewritten)
    if (std::ranges::find(rewrite.after, node) != rewrite.after.end() && !rewrite.before.empty())
      return rewrite.before.front();
  return std::ranges::find(added, node) == added.end() ? node : std::string();
}

/// What was read of a place already; null if nothing was.
GraphDocPtr Session::documentAt(const Location& location) const {
  const auto* known = state(location.key());
  if (!known) return nullptr;
  if (!location.body.empty()) {
    const auto body = known->bodies.find(location.body);
    return body == known->bodies.end() ? nullptr : body->second;
  }
  if (location.stage == Stage::Captured) return known->document;
  const auto built = known->graphs.find({int(location.stage), location.index});
  return built == known->graphs.end() ? nullptr : built->second;
}

std::optional<Location> Session::placeBefore(const Location& location) const {
  auto before = location;
  before.node.clear();
  if (location.stage == Stage::Step) {
    before.index = location.index - 1;
    return location.index > 0 ? std::optional(before) : std::nullopt;
  }
  if (location.stage == Stage::Pass) {
    const auto* known = state(location.key());
    if (location.index < 0 || !known || !known->compiled) return std::nullopt;
    before.index = changedBefore(*known->compiled, location.index);
    if (before.index < 0 && location.aotStage.empty()) before.stage = Stage::Captured;
    return before;
  }
  const auto recorded = recordedStages();
  if (!recorded || !location.aotStage.empty()) return std::nullopt;
  const auto stage = std::ranges::find(recorded->stages, location.graph, &RecordedStageDoc::graph);
  if (stage == recorded->stages.end() || stage->parent < 0) return std::nullopt;
  before.graph = recorded->stages[std::size_t(stage->parent)].graph;
  return before;
}

void Session::compareWith(const std::optional<Location>& before) {
  m_against = before;
  findDifference();
}

/// Null where there is nothing to compare with, or as long as something is missing.
DifferenceDocPtr Session::currentDifference() {
  const auto before = !m_graph || !m_location.body.empty() ? std::nullopt
                      : m_against                          ? m_against
                                                           : placeBefore(m_location);
  return before && !before->sameGraph(m_location) ? makeDifference(*before, m_location) : nullptr;
}

void Session::findDifference() {
  const auto found = currentDifference();
  if (found != m_difference) {
    m_difference = found;
    emit differenceChanged();
  }
  prefetch();
}

/// Null as long as something is missing, which is asked for.
DifferenceDocPtr Session::makeDifference(const Location& before, const Location& after) {
  auto& known = m_differences[{before.place(), after.place()}];
  const bool ofPass = after.stage == Stage::Pass && !m_against;
  if (!known && ofPass) {
    const auto passes = stateFor(after.key()).passDifferences;
    if (!passes) return askPassDifferences(after.key(), false), nullptr;
    known = std::make_shared<DifferenceDoc>();
    const auto found = std::ranges::find(*passes, after.index, &workbench::PassDifference::pass);
    if (found != passes->end()) static_cast<workbench::GraphDifference&>(*known) = found->difference;
    if (found == passes->end()) known->same = true;
  }
  if (!known) return askDifference(before, after, false), nullptr;
  known->from = before;
  known->before = documentAt(before);
  if (!known->before && known->error.isEmpty() && askGraph(before, false)) return nullptr;
  known->title = titleOf(before);
  return known;
}

QString Session::titleOf(const Location& location) const {
  const auto document = documentAt(location);
  const auto doc = capture(location.capture);
  const auto name = document ? text(document->title) : doc ? text(doc->graphs[std::size_t(location.graph)].name) : "";
  if (!doc || location.capture == m_location.capture) return name;
  return text(doc->path).section('/', -1) + "  ›  " + name;
}

workbench::GraphAddress Session::addressAt(const Location& location) const {
  if (location.stage != Stage::Step) return shownAddress(location.key());
  const auto request = requestFor(location);
  return request ? request->graph : shownAddress(location.key());
}

void Session::askDifference(const Location& before, const Location& after, bool quiet) {
  const auto job = "difference:" + placeText(before) + ":" + placeText(after);
  if (m_jobs.join(job, weightOf(quiet))) return;
  if (!m_differ) m_differ = m_workers.forJob();
  const workbench::DiffRequest request{addressAt(before), addressAt(after)};
  m_jobs.submit<Result<workbench::GraphDifference>>(
      job, [worker = m_differ, request](std::stop_token stop) { return worker->perform(request, {{}, stop}); },
      [this, before, after](Result<workbench::GraphDifference> result) {
        if (!capture(before.capture) || !capture(after.capture)) return;
        auto known = std::make_shared<DifferenceDoc>();
        if (result) static_cast<workbench::GraphDifference&>(*known) = std::move(*result);
        if (!result) known->error = windowText(result.error());
        m_differences[{before.place(), after.place()}] = known;
        findDifference();
      },
      weightOf(quiet));
}

const std::vector<workbench::PassDifference>* Session::passDifferences() const {
  return state() ? state()->passDifferences.get() : nullptr;
}

void Session::askPassDifferences(const Key& key, bool quiet) {
  const auto job = QString("passes:%1/%2/%3").arg(key.capture).arg(key.graph).arg(text(key.aotStage));
  if (m_jobs.join(job, weightOf(quiet))) return;
  if (!m_differ) m_differ = m_workers.forJob();
  const workbench::PassDifferencesRequest request{shownAddress(key)};
  using Answer = std::vector<workbench::PassDifference>;
  m_jobs.submit<Result<Answer>>(
      job, [worker = m_differ, request](std::stop_token stop) { return worker->perform(request, {{}, stop}); },
      [this, key](Result<Answer> result) {
        auto* known = state(key);
        if (!known) return;
        if (!result) emit noted(windowText(result.error()));
        known->passDifferences = std::make_shared<const Answer>(result ? std::move(*result) : Answer());
        findDifference();
      },
      weightOf(quiet));
}

/// Reads a graph for a place without going there; whether it could be asked for.
bool Session::askGraph(const Location& location, bool quiet) {
  const auto request = location.stage == Stage::Captured
                           ? std::optional(workbench::GraphRequest{shownAddress(location.key())})
                           : requestFor(location);
  const auto job = "ahead:" + placeText(location);
  if (!request) return false;
  if (m_jobs.join(job, weightOf(quiet))) return true;
  if (!m_differ) m_differ = m_workers.forJob();
  m_jobs.submit<Result<GraphDocPtr>>(
      job,
      [worker = m_differ, request = *request](std::stop_token stop) { return worker->perform(request, {{}, stop}); },
      [this, location](const Result<GraphDocPtr>& result) {
        if (!capture(location.capture)) return;
        auto& known = stateFor(location.key());
        if (result && location.stage == Stage::Captured)
          known.document = freedElsewhere(*result);
        else if (result)
          known.graphs[{int(location.stage), location.index}] = freedElsewhere(*result);
        // Where the earlier graph cannot be shown, only what is gone cannot be drawn.
        if (!result)
          for (auto& [places, difference] : m_differences)
            if (places.first == location.place() && difference) difference->error = windowText(result.error());
        findDifference();
      },
      weightOf(quiet));
  return true;
}

/// Where one step to the right or left leads, and another one.
std::vector<Location> Session::neighbours() const {
  std::vector<Location> places;
  auto place = m_location;
  place.node.clear();
  if (!place.body.empty()) return places;
  if (place.stage == Stage::Pass) {
    const auto compiled = this->compiled();
    const int count = compiled ? int(compiled->passes.size()) : 0;
    for (int i = place.index + 1; i < count && places.size() < 2; ++i)
      if (compiled->passes[std::size_t(i)].changed) (places.push_back(place), places.back().index = i);
    if (const auto before = placeBefore(place)) places.push_back(*before);
    return places;
  }
  const auto recorded = recordedStages();
  const int at = recordedStage();
  if (!recorded || at < 0 || place.stage != Stage::Captured || !place.aotStage.empty()) return places;
  for (const int step : {1, -1, 2})
    if (at + step >= 0 && at + step < int(recorded->stages.size())) {
      places.push_back(place);
      places.back().graph = recorded->stages[std::size_t(at + step)].graph;
    }
  return places;
}

/// One thing at a time: what is asked for now need not wait for more than that.
void Session::prefetch() {
  if (!m_graph || !m_scrubbed) return;
  for (const auto& place : neighbours()) {
    if (!documentAt(place)) {
      const auto& recorded = recordedStages();
      const bool readable = !recorded || std::ranges::none_of(recorded->stages, [&](const RecordedStageDoc& stage) {
        return stage.graph == place.graph && stage.nodes < 0;
      });
      if (readable && m_tried.insert(place.place()).second) return void(askGraph(place, true));
    }
    const auto before = placeBefore(place);
    const bool ofPass = place.stage == Stage::Pass;
    if (!before || ofPass || m_differences[{before->place(), place.place()}]) continue;
    return askDifference(*before, place, true);
  }
}

}  // namespace kerf::ui::inline session
