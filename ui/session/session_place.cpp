// Session: where the user is, and loading what is shown there.
#include "ui/session/aot_stages.h"
#include "ui/session/freed_elsewhere.h"
#include "ui/session/graph_state.h"
#include "ui/session/session.h"
#include "ui/session/window_text.h"

namespace kerf::ui::inline session {

void Session::go(const Location& location) {
  const auto doc = capture(location.capture);
  if (!doc || location.graph < 0 || location.graph >= int(doc->graphs.size())) return;
  leaveGraphless();
  auto* known = &stateFor(location.key());
  if (m_graph && m_location.sameGraph(location)) return showGraph(location, m_graph);
  if (key() == location.key()) {
    if (!m_graph) enter(location);  // it could not be read before
    return requestGraph(location);
  }
  // A graph need not have the stage that is asked for; until it is there, what is shown stays.
  const bool otherStage = m_graph && m_location.capture == location.capture && m_location.graph == location.graph;
  if (otherStage && !known->document) return load(location);
  enter(location);
  requestGraph(location);
}

GraphState& Session::stateFor(const Key& key) {
  auto& known = m_states[key];
  if (!known) {
    known = std::make_unique<GraphState>();
    if (const auto* captured = state({key.capture, key.graph})) known->symbols = captured->symbols;
  }
  return *known;
}

/// Leaves what was shown, before the graph of `location` is there.
void Session::enter(const Location& location) {
  m_location = {location.capture, location.graph, Location::Stage::Captured, -1, {}, location.aotStage};
  m_graph = nullptr;
  m_node = -1;
  m_reading = true;
  m_left.start();
  emit graphLeft();
  emit guardsChanged();
  emit compiledChanged();
  emit accuracyChanged();
  emit bisectChanged();
  emit minifyChanged();
}

workbench::GraphAddress Session::address(const Key& key) const {
  workbench::GraphAddress address{capture(key.capture)->name, key.graph};
  if (state(key)) address.symbols = plainTexts(state(key)->symbols);
  if (state(key)) {
    address.inputs = state(key)->inputs.inputs;
    address.seed = state(key)->inputs.seed;
  }
  address.stage = key.aotStage;
  return address;
}

workbench::GraphAddress Session::shownAddress(const Key& key) const {
  auto shown = address(key);
  shown.inputs = InputsChoice().inputs;  // nothing is run
  shown.seed = InputsChoice().seed;
  if (key.aotStage.empty()) shown.symbols.clear();
  return shown;
}

/// Reads the graph before all passes, then goes on to `location`.
void Session::load(const Location& location) {
  const workbench::GraphRequest request{shownAddress(location.key())};
  m_jobs.submit<Result<GraphDocPtr>>(
      "graph",
      [worker = browser(location.capture), request](std::stop_token stop) {
        return worker->perform(request, {{}, stop});
      },
      [this, location](const Result<GraphDocPtr>& result) { loaded(location, result); });
}

void Session::loaded(const Location& location, const Result<GraphDocPtr>& result) {
  auto* target = state(location.key());
  if (!target) return;
  if (!result)
    return notRead(location.aotStage.empty()
                       ? tr("Cannot read this graph")
                       : tr("This graph has no stage \"%1\"").arg(titleOfStage(location.aotStage)),
                   result.error());
  target->document = freedElsewhere(*result);
  if (!(*result)->notes.empty()) emit noted(texts((*result)->notes).join('\n'));
  if (key() != location.key()) enter(location);
  findGuards();
  requestGraph(location);
}

/// The next graph does not come: what was left for it is shown no more.
void Session::notRead(const QString& title, const Error& error) {
  m_left.stop();
  if (std::exchange(m_reading, false)) showNothing();
  emit failed(title, windowText(error));
  emit locationChanged();
}

void Session::showNothing() {
  if (m_graph) return;
  emit graphChanged();
  emit nodeChanged();
}

/// How to ask for what passes or a minification made of the graph; nothing for a step that there is not.
std::optional<workbench::GraphRequest> Session::requestFor(const Location& location) const {
  workbench::GraphRequest request{shownAddress(location.key())};
  if (location.stage == Location::Stage::Pass) {
    request.afterPass = location.index;
    if (location.index < 0) request.graph = shownAddress({location.capture, location.graph});
    return request;
  }
  const auto minified = state(location.key())->minified;
  if (!minified || location.index < 0 || location.index >= int(minified->steps.size())) return std::nullopt;
  request.graph = {minified->steps[std::size_t(location.index)].id};
  request.title = tr("step %1").arg(location.index).toStdString();
  return request;
}

void Session::requestGraph(const Location& location) {
  m_jobs.cancel("graph");
  GraphState& known = *state();
  if (!known.document) return load(location);
  if (m_scrubbing && !known.guards) findGuards();  // it may have been read ahead
  compileSoon();
  if (!location.body.empty()) return requestBody(location);
  const auto slot = std::pair(int(location.stage), location.index);
  if (location.stage == Location::Stage::Captured) return showGraph(location, known.document);
  if (const auto built = known.graphs.find(slot); built != known.graphs.end())
    return showGraph(location, built->second);
  const auto request = requestFor(location);
  if (!request)  // of a minification that is gone
    return showGraph({location.capture, location.graph, Location::Stage::Captured, -1, {}, location.aotStage},
                     known.document);
  m_jobs.submit<Result<GraphDocPtr>>(
      "graph",
      [worker = browser(location.capture), request = *request](std::stop_token stop) {
        return worker->perform(request, {{}, stop});
      },
      [this, location, slot](const Result<GraphDocPtr>& built) {
        if (!built) return notRead(tr("Cannot show this graph"), built.error());
        auto* target = state(location.key());
        if (!target) return;  // its capture has been closed
        target->graphs[slot] = freedElsewhere(*built);
        showGraph(location, target->graphs[slot]);
      });
}

void Session::showGraph(const Location& location, GraphDocPtr graph) {
  const bool changed = m_graph != graph;
  m_location = location;
  m_graph = std::move(graph);
  m_left.stop();
  m_reading = false;
  m_node = m_graph->find(location.node.toStdString());
  if (m_node < 0) m_location.node.clear();
  m_history.push(m_location);
  if (changed) m_difference = currentDifference();
  if (changed) emit graphChanged();
  if (changed) emit differenceChanged();
  emit nodeChanged();
  emit locationChanged();
  if (!changed) return;
  findKeptComparison();
  findStages();
  findDifference();
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
  location.body.clear();
  go(location);
}

void Session::showAotStage(const std::string& stage) {
  if (!m_graph) return;
  m_jobs.cancel("graph");  // the stage that was asked for before
  auto location = m_location;
  location.aotStage = stage;
  location.body.clear();
  location.stage = Location::Stage::Captured;
  location.index = -1;
  go(location);
}

void Session::back() {
  if (const auto place = m_history.back()) go(*place);
}

void Session::forward() {
  if (const auto place = m_history.forward()) go(*place);
}

}  // namespace kerf::ui::inline session
