// Session: compiling for view, comparing, bisecting and minifying, each in a worker process.
#include "ui/session/freed_elsewhere.h"
#include "ui/session/graph_state.h"
#include "ui/session/job_names.h"
#include "ui/session/session.h"
#include "ui/session/window_text.h"

namespace kerf::ui::inline session {

namespace {

using workbench::JobEvent;

/// Null for a comparison that the user cancelled.
AccuracyDocPtr accuracyOf(const QString& plant, const std::string& backend,
                          const Result<workbench::Comparison>& result) {
  if (!result && cancelled(result.error())) return nullptr;
  auto doc = std::make_shared<AccuracyDoc>();
  if (result) static_cast<workbench::Comparison&>(*doc) = *result;
  if (!result) doc->error = windowText(result.error());
  if (doc->failure.empty()) doc->failure = doc->nodesFailure;
  doc->same = doc->good();
  doc->plant = plant;
  doc->backend = backend;
  doc->afterReading();
  return doc;
}

}  // namespace

/// While stages are scrubbed through, only the one where the user stays is compiled.
void Session::compileSoon() {
  if (!m_scrubbing) {
    m_compileSoon.stop();
    return compile();
  }
  if (!state()->compiled) m_compileSoon.start();
}

void Session::compile() {
  const auto where = key();
  if (state()->compiled || state()->compiling) return;
  for (auto& [other, known] : m_states) known->compiling = false;  // the job below replaces theirs
  state()->compiling = true;
  if (!m_compiler) m_compiler = m_workers.forJob();
  const workbench::CompileRequest request{shownAddress(where)};
  m_jobs.submit<Result<CompileDocPtr>>(
      "compile", [worker = m_compiler, request](std::stop_token stop) { return worker->perform(request, {{}, stop}); },
      [this, where](const Result<CompileDocPtr>& result) {
        auto* known = state(where);
        if (!known) return;
        auto failure = std::make_shared<workbench::CompileDoc>();
        if (!result) failure->error = windowText(result.error()).toStdString();
        known->compiled = result ? freedElsewhere(*result) : failure;
        if (where == key()) emit compiledChanged();
      });
}

/// The kernels of what is run: with the planted fault and by the chosen backend. What passes did is told without them.
void Session::compilePlanted() {
  const auto where = key();
  const auto setting = runSetting();
  auto* known = state();
  if (!known || setting.empty() || known->plantedWith == setting) return;
  known->planted = nullptr;
  known->plantedWith = setting;
  if (!m_differ) m_differ = m_workers.forJob();
  const workbench::CompileRequest request{shownAddress(where), std::chrono::minutes(1), plants(), m_backend};
  m_jobs.submit<Result<CompileDocPtr>>(
      jobKey("planted", where),
      [worker = m_differ, request](std::stop_token stop) { return worker->perform(request, {{}, stop}); },
      [this, where, setting](const Result<CompileDocPtr>& result) {
        auto* known = state(where);
        if (!known || known->plantedWith != setting) return;
        auto failure = std::make_shared<workbench::CompileDoc>();
        if (!result) failure->error = windowText(result.error()).toStdString();
        known->planted = result ? freedElsewhere(*result) : failure;
        if (where == key()) emit compiledChanged();
      });
}

CompileDocPtr Session::compiledAsRun() const {
  const auto* known = state();
  const auto setting = runSetting();
  if (!known || setting.empty()) return compiled();
  return known->plantedWith == setting ? known->planted : nullptr;
}

/// Of graphs with symbolic sizes: their symbols, ranges and guards, checked against the chosen sizes.
void Session::findGuards() {
  const auto where = key();
  if (!state()->document || state()->document->symbols.empty()) return;
  const workbench::GuardsRequest request{address(where)};
  m_jobs.submit<Result<GuardsDocPtr>>(
      jobKey("guards", where),
      [worker = browser(where.capture), request](std::stop_token stop) { return worker->perform(request, {{}, stop}); },
      [this, where](const Result<GuardsDocPtr>& result) {
        auto* known = state(where);
        if (!known || (!result && cancelled(result.error()))) return;
        if (!result) emit noted(windowText(result.error()));
        known->guards = result ? *result : nullptr;
        if (where == key()) emit guardsChanged();
      });
}

void Session::compare(const QString& plant) {
  setPlant(plant);
  compare();
}

void Session::compare() {
  const auto plant = this->plant();
  auto* known = state();
  if (!known || (known->accuracy && known->accuracy->running)) return;
  auto running = std::make_shared<AccuracyDoc>();
  running->running = true;
  running->plant = plant;
  running->backend = m_backend;
  known->accuracy = running;
  workbench::CompareRequest request{address(key())};
  request.plants = plants();
  request.depth = workbench::CompareRequest::Depth::Nodes;
  request.values = true;
  request.backend = m_backend;
  m_jobs.submit<Result<workbench::Comparison>>(
      jobKey("compare", key()),
      [worker = m_workers.forJob(), request](std::stop_token stop) { return worker->perform(request, {{}, stop}); },
      [this, where = key(), plant, backend = m_backend](const Result<workbench::Comparison>& result) {
        compared(where, plant, backend, result);
      });
  emit accuracyChanged();
  emit busyChanged();
}

void Session::compared(const Key& where, const QString& plant, const std::string& backend,
                       const Result<workbench::Comparison>& result) {
  auto* known = state(where);
  if (!known) return;
  known->accuracy = accuracyOf(plant, backend, result);
  const auto doc = known->accuracy;
  if (where == key()) emit accuracyChanged();
  keepComparison(where);
  if (where == key() && doc && node() < 0) selectNode(QString::fromStdString(doc->firstBadNode()));
  if (doc && !doc->error.isEmpty()) emit failed(tr("Comparison failed"), doc->error);
  emit busyChanged();
  if (m_listing) listStore();
}

void Session::bisect(workbench::BisectRequest::By by, const QString& plant) {
  setPlant(plant);
  bisect(by);
}

void Session::bisect(workbench::BisectRequest::By by) { bisect({{}, by, plants()}); }

void Session::bisect(workbench::BisectRequest request) {
  auto* known = state();
  if (!known || (known->bisected && known->bisected->running)) return;
  BisectDoc asked;
  asked.by = request.by;
  asked.running = true;
  if (request.oracle == "engine") asked.backend = request.backend = m_backend;
  known->bisected = std::make_shared<BisectDoc>(asked);
  request.graph = address(key());
  const auto where = key();
  const auto progressed = [this, where](const QString& what) {
    auto* target = state(where);
    if (!target || !target->bisected || !target->bisected->running) return;
    auto doc = std::make_shared<BisectDoc>(*target->bisected);
    doc->progress = what;
    target->bisected = doc;
    if (where == key()) emit bisectChanged();
  };
  m_jobs.submit<Result<workbench::Bisection>>(
      jobKey("bisect", where),
      [this, worker = m_workers.forJob(), request, progressed](std::stop_token stop) {
        const auto follow = [&](const JobEvent& event) {
          if (const auto* step = std::get_if<workbench::ProgressEvent>(&event))
            QMetaObject::invokeMethod(this, [progressed, what = text(step->what)] { progressed(what); });
        };
        return worker->perform(request, {follow, stop});
      },
      [this, where, asked](const Result<workbench::Bisection>& result) { bisected(where, asked, result); });
  emit bisectChanged();
}

void Session::bisected(const Key& where, const BisectDoc& asked, const Result<workbench::Bisection>& result) {
  auto* known = state(where);
  if (!known) return;
  auto doc = std::make_shared<BisectDoc>(asked);
  doc->running = false;
  if (result) static_cast<workbench::Bisection&>(*doc) = *result;
  if (!result && !cancelled(result.error())) doc->error = windowText(result.error());
  known->bisected = !result && cancelled(result.error()) ? nullptr : doc;
  if (where == key()) emit bisectChanged();
  const bool byNode = asked.by == workbench::BisectRequest::By::Node;
  if (where == key() && byNode && !doc->culprits.empty() && node() < 0)
    selectNode(QString::fromStdString(doc->culprits.front()));
  if (!doc->error.isEmpty()) emit failed(tr("Bisection failed"), doc->error);
}

void Session::cancelCompare() {
  m_jobs.stop(jobKey("compare", key()));
  m_jobs.stop(jobKey("bisect", key()));
}

}  // namespace kerf::ui::inline session
