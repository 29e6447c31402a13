// Session: where the user is, and loading what is shown there.
#include "ui/session/graph_state.h"
#include "ui/session/session.h"
#include "ui/session/worker_jobs.h"

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
    emit compiledChanged();
    emit accuracyChanged();
    emit minifyChanged();
  }
  requestGraph(location);
}

/// Reads the captured graph, then goes on to `location`.
void Session::load(const Location& location) {
  m_jobs.submit<LoadedGraph>(
      "graph",
      [capture = m_sources[location.capture], graph = location.graph](std::stop_token) {
        return loadGraph(*capture, graph);
      },
      [this, location](LoadedGraph loaded) {
        auto* target = state({location.capture, location.graph});
        if (!target) return;
        if (!loaded.captured) return emit failed(tr("Cannot read this graph"), loaded.error);
        target->captured = std::move(loaded.captured);
        target->document = std::move(loaded.document);
        if (!loaded.notes.isEmpty()) emit noted(loaded.notes.join('\n'));
        if (key() == Key{location.capture, location.graph}) requestGraph(location);
      });
}

void Session::requestGraph(const Location& location) {
  m_jobs.cancel("graph");
  GraphState& known = *state();
  if (!known.captured) return load(location);
  compile();
  const auto slot = std::pair(int(location.stage), location.index);
  if (location.stage == Location::Stage::Captured) return showGraph(location, known.document);
  if (const auto built = known.graphs.find(slot); built != known.graphs.end())
    return showGraph(location, built->second);
  const auto done = [this, location, slot](StepGraph step) {
    if (!step.graph) return emit failed(tr("Cannot show this graph"), step.error);
    if (auto* target = state({location.capture, location.graph})) target->graphs[slot] = step.graph;
    showGraph(location, step.graph);
  };
  if (location.stage == Location::Stage::Pass && location.index < int(known.records.size())) {
    auto work = [captured = known.captured, record = known.records[std::size_t(location.index)]](std::stop_token) {
      return StepGraph{passGraph(*captured, record), {}};
    };
    m_jobs.submit<StepGraph>("graph", work, done);
  } else if (known.minified && location.index >= 0 && location.index < int(known.minified->steps.size())) {
    const auto id = known.minified->steps[std::size_t(location.index)].id;
    const auto title = tr("step %1").arg(location.index);
    m_jobs.submit<StepGraph>(
        "graph", [store = m_store, id, title](std::stop_token) { return readStep(store, id, title); }, done);
  }
}

void Session::showGraph(const Location& location, GraphDocPtr graph) {
  const bool changed = m_graph != graph;
  m_location = location;
  m_graph = std::move(graph);
  m_node = m_graph->find(location.node);
  if (m_node < 0) m_location.node.clear();
  m_history.push(m_location);
  if (changed) emit graphChanged();
  emit nodeChanged();
  emit locationChanged();
}

void Session::selectNode(int node) {
  if (!m_graph || node >= int(m_graph->nodes.size())) return;
  auto location = m_location;
  location.node = node < 0 ? QString() : m_graph->nodes[std::size_t(node)].name;
  if (location.node != m_location.node) go(location);
}

void Session::selectNode(const QString& name) {
  if (m_graph && m_graph->find(name) >= 0) selectNode(m_graph->find(name));
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
