// Session: where the user is, and loading what is shown there.
#include "ui/session/graph_state.h"
#include "ui/session/session.h"

namespace kerf::ui::inline session {

void Session::go(const Location& location) {
  const auto doc = capture(location.capture);
  if (!doc || location.graph < 0 || location.graph >= int(doc->graphs.size())) return;
  const bool newGraph = key() != Key{location.capture, location.graph};
  auto& known = m_states[{location.capture, location.graph}];
  if (!known) known = std::make_unique<GraphState>();
  if (!newGraph && m_graph && m_location.sameGraph(location)) return showGraph(location, m_graph);
  if (newGraph) {
    m_location = {location.capture, location.graph, Location::Stage::Captured, -1, {}};
    m_graph = nullptr;
    emit guardsChanged();
    emit compiledChanged();
    emit accuracyChanged();
    emit bisectChanged();
    emit minifyChanged();
  }
  requestGraph(location);
}

workbench::GraphAddress Session::address(Key key) const {
  return {capture(key.first)->name, key.second, plainTexts(state(key) ? state(key)->symbols : QStringList())};
}

/// Reads the captured graph, then goes on to `location`.
void Session::load(const Location& location) {
  const workbench::GraphRequest request{{capture(location.capture)->name, location.graph}};
  m_jobs.submit<Result<GraphDocPtr>>(
      "graph",
      [worker = browser(location.capture), request](std::stop_token stop) {
        return worker->perform(request, {{}, stop});
      },
      [this, location](const Result<GraphDocPtr>& loaded) {
        auto* target = state({location.capture, location.graph});
        if (!target) return;
        if (!loaded) return emit failed(tr("Cannot read this graph"), text(loaded.error().text()));
        target->document = *loaded;
        if (!(*loaded)->notes.empty()) emit noted(texts((*loaded)->notes).join('\n'));
        if (key() != Key{location.capture, location.graph}) return;
        findGuards();
        requestGraph(location);
      });
}

void Session::requestGraph(const Location& location) {
  m_jobs.cancel("graph");
  GraphState& known = *state();
  if (!known.document) return load(location);
  compile();
  const auto slot = std::pair(int(location.stage), location.index);
  if (location.stage == Location::Stage::Captured) return showGraph(location, known.document);
  if (const auto built = known.graphs.find(slot); built != known.graphs.end())
    return showGraph(location, built->second);
  workbench::GraphRequest request{{capture(location.capture)->name, location.graph}};
  if (location.stage == Location::Stage::Pass) {
    request.afterPass = location.index;
  } else {
    if (!known.minified || location.index < 0 || location.index >= int(known.minified->steps.size())) return;
    request.graph = {known.minified->steps[std::size_t(location.index)].id};
    request.title = tr("step %1").arg(location.index).toStdString();
  }
  m_jobs.submit<Result<GraphDocPtr>>(
      "graph",
      [worker = browser(location.capture), request](std::stop_token stop) {
        return worker->perform(request, {{}, stop});
      },
      [this, location, slot](const Result<GraphDocPtr>& built) {
        if (!built) return emit failed(tr("Cannot show this graph"), text(built.error().text()));
        if (auto* target = state({location.capture, location.graph})) target->graphs[slot] = *built;
        showGraph(location, *built);
      });
}

void Session::showGraph(const Location& location, GraphDocPtr graph) {
  const bool changed = m_graph != graph;
  m_location = location;
  m_graph = std::move(graph);
  m_node = m_graph->find(location.node.toStdString());
  if (m_node < 0) m_location.node.clear();
  m_history.push(m_location);
  if (changed) emit graphChanged();
  emit nodeChanged();
  emit locationChanged();
}

void Session::selectNode(int node) {
  if (!m_graph || node >= int(m_graph->nodes.size())) return;
  auto location = m_location;
  location.node = node < 0 ? QString() : QString::fromStdString(m_graph->nodes[std::size_t(node)].name);
  if (location.node != m_location.node) go(location);
}

void Session::selectNode(const QString& name) {
  const int node = m_graph ? m_graph->find(name.toStdString()) : -1;
  if (node >= 0) selectNode(node);
}

void Session::showStage(Location::Stage stage, int index) {
  auto location = m_location;
  location.stage = stage;
  location.index = stage == Location::Stage::Captured ? -1 : index;
  go(location);
}

void Session::back() {
  if (const auto place = m_history.back()) go(*place);
}

void Session::forward() {
  if (const auto place = m_history.forward()) go(*place);
}

}  // namespace kerf::ui::inline session
