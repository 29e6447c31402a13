#include "ui/session/minify_watch.h"

namespace kerf::ui::inline session {

namespace {
constexpr int throttleMs = 50;
constexpr int mostWorkers = 256;  ///< a message may say anything
}  // namespace

MinifyWatch::MinifyWatch(const QString& plant, const std::string& backend, QObject* parent) : QObject(parent) {
  m_doc.plant = plant;
  m_doc.backend = backend;
  m_clock.start();
  m_throttle.setSingleShot(true);
  m_throttle.setInterval(throttleMs);
  connect(&m_throttle, &QTimer::timeout, this, &MinifyWatch::progressed);
}

void MinifyWatch::add(const workbench::MinifyEvent& event) {
  m_doc.tests = event.tests;
  m_doc.slips = event.slips;
  m_doc.bestNodes = int(event.bestNodes);
  m_doc.elapsedSeconds = std::chrono::duration<double>(event.elapsed).count();
  m_doc.secondsLeft = event.secondsLeft;
  if (!event.reductionId.empty()) m_doc.reduction = event.reductionId;
  if (m_doc.points.empty()) m_doc.startNodes = int(event.startNodes);
  m_doc.points.push_back({event.tests, int(event.nodes), event.inputBytes, event.accepted, event.reduction});
  if (event.accepted) accept(event);
  if (!m_throttle.isActive()) m_throttle.start();
}

/// Who works on what: a verdict from the cache is nobody's work.
void MinifyWatch::add(const workbench::MinifyWorkEvent& event) {
  using Kind = workbench::MinifyWorkEvent::Kind;
  if (event.cached || event.query <= 0) return;
  if (event.kind == Kind::Asked) ++m_doc.underWay;
  if (event.kind != Kind::Answered) return;
  m_doc.underWay = std::max(0, m_doc.underWay - 1);
  const auto worker = std::size_t(std::clamp(event.worker, 0, mostWorkers - 1));
  if (m_doc.workers.size() <= worker) m_doc.workers.resize(worker + 1);
  auto& doc = m_doc.workers[worker];
  ++doc.queries;
  doc.verdict = event.verdict;
  doc.seconds = std::chrono::duration<double>(event.time).count();
  if (!m_throttle.isActive()) m_throttle.start();
}

/// Steps that come while the search has not yet gone back lie behind those shown.
void MinifyWatch::accept(const workbench::MinifyEvent& event) {
  const auto step = std::size_t(std::max(event.step, 0));
  const bool isUndone = step > m_doc.steps.size();
  m_accepted.push_back(isUndone ? -1 : int(step));
  if (isUndone) return;
  m_doc.fingerprint = event.fingerprint;
  m_doc.steps.resize(step);
  m_doc.steps.push_back({{},
                         int(step),
                         event.tests,
                         int(event.nodes),
                         int(event.outputs),
                         event.inputBytes,
                         event.reduction,
                         event.fingerprint});
}

void MinifyWatch::setPaused(bool paused) {
  using Wish = workbench::ControlMessage::Wish;
  if (!running() || m_doc.paused == paused) return;
  m_doc.paused = paused;
  m_control->send({paused ? Wish::Pause : Wish::Resume});
  emit progressed();
}

void MinifyWatch::undoTo(int step) {
  if (!running() || step < 0 || std::size_t(step) + 1 >= m_doc.steps.size()) return;
  m_doc.steps.resize(std::size_t(step) + 1);
  m_doc.bestNodes = m_doc.steps.back().nodes;
  for (int& accepted : m_accepted)
    if (accepted > step) accepted = -1;
  m_control->send({workbench::ControlMessage::Wish::Undo, step});
  emit progressed();
}

void MinifyWatch::finish(const workbench::Minified& minified) {
  m_throttle.stop();
  m_doc.paused = false;
  m_doc.underWay = 0;
  m_doc.state = minified.cancelled ? MinifyDoc::State::Cancelled : MinifyDoc::State::Done;
  m_doc.secondsLeft = 0;
  m_doc.elapsedSeconds = double(m_clock.elapsed()) / 1000;
  m_doc.tests = minified.tests;
  m_doc.slips = minified.slips;
  m_doc.startNodes = minified.startNodes;
  m_doc.bestNodes = minified.nodes;
  m_doc.fingerprint = minified.fingerprint;
  m_doc.reduction = minified.reductionId;
  m_doc.repro = minified.reproId;
  m_doc.findings = minified.findings;
  m_doc.stoppedBy = minified.stoppedBy;
  if (!minified.cancelled) m_doc.oneMinimal = minified.oneMinimal;
  emit progressed();
}

void MinifyWatch::fail(const QString& error) {
  m_throttle.stop();
  m_doc.paused = false;
  m_doc.underWay = 0;
  m_doc.state = error.isEmpty() ? MinifyDoc::State::Cancelled : MinifyDoc::State::Failed;
  m_doc.secondsLeft = 0;
  m_doc.error = error;
  emit progressed();
}

void MinifyWatch::setCandidate(GraphDocPtr graph) {
  m_doc.candidate = std::move(graph);
  emit progressed();
}

void MinifyWatch::setNeighbour(workbench::Neighbour neighbour) {
  m_doc.neighbour = std::make_shared<const workbench::Neighbour>(std::move(neighbour));
  emit progressed();
}

void MinifyWatch::setSteps(std::vector<StepDoc> steps) {
  // The store keeps what was undone as well: its last steps are those that were accepted here, in the same order.
  const std::size_t seen = std::min(steps.size(), m_accepted.size());
  std::vector<StepDoc> kept;
  for (std::size_t i = 0; i < steps.size(); ++i)
    if (i + seen < steps.size() || m_accepted[m_accepted.size() - (steps.size() - i)] >= 0)
      kept.push_back(std::move(steps[i]));
  m_doc.steps = std::move(kept);
  emit progressed();
}

}  // namespace kerf::ui::inline session
