#include "ui/session/minify_watch.h"

namespace kerf::ui::inline session {

namespace {
constexpr int throttleMs = 50;
}

MinifyWatch::MinifyWatch(const QString& plant, QObject* parent) : QObject(parent) {
  m_doc.plant = plant;
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
  m_doc.points.push_back({event.tests, int(event.nodes), event.accepted});
  if (event.accepted) {
    m_doc.fingerprint = event.fingerprint;
    m_doc.steps.push_back({{},
                           int(m_doc.steps.size()),
                           event.tests,
                           int(event.nodes),
                           int(event.outputs),
                           event.inputBytes,
                           event.reduction,
                           event.fingerprint});
  }
  if (!m_throttle.isActive()) m_throttle.start();
}

void MinifyWatch::finish(const workbench::Minified& minified) {
  m_throttle.stop();
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
  if (!minified.cancelled) m_doc.oneMinimal = minified.oneMinimal;
  emit progressed();
}

void MinifyWatch::fail(const QString& error) {
  m_throttle.stop();
  m_doc.state = error.isEmpty() ? MinifyDoc::State::Cancelled : MinifyDoc::State::Failed;
  m_doc.secondsLeft = 0;
  m_doc.error = error;
  emit progressed();
}

void MinifyWatch::setSteps(std::vector<StepDoc> steps) {
  m_doc.steps = std::move(steps);
  emit progressed();
}

}  // namespace kerf::ui::inline session
