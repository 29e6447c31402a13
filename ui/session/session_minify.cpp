// Session: cutting the shown graph down, in a worker process.
#include "ui/session/graph_state.h"
#include "ui/session/job_names.h"
#include "ui/session/session.h"
#include "ui/session/window_text.h"

namespace kerf::ui::inline session {

using workbench::JobEvent;

void Session::minify(workbench::MinifyRequest request) {
  auto* known = state();
  if (!known || (known->minify && known->minify->running())) return;
  std::erase_if(known->graphs, [](const auto& item) { return item.first.first == int(Location::Stage::Step); });
  forgetSteps(key(), -1);
  const bool own = request.oracle.oracle == "engine";
  if (own) request.oracle.torchBackend = m_backend == workbench::BackendsRequest::usual ? std::string() : m_backend;
  known->minify =
      std::make_unique<MinifyWatch>(texts(request.oracle.plants).join(", "), own ? m_backend : std::string());
  connect(known->minify.get(), &MinifyWatch::progressed, this, [this, where = key()] { minifyProgressed(where); });
  request.graph = address(key());
  request.pins = plainTexts(known->pins);
  request.place = workbench::MinifyRequest::ReproPlace::Store;
  const QPointer<MinifyWatch> watch = known->minify.get();
  const auto control = watch->control();
  m_jobs.submit<Result<workbench::Minified>>(
      jobKey("minify", key()),
      [this, worker = m_workers.forJob(), request, watch, control](std::stop_token stop) {
        const auto follow = [&](const JobEvent& event) {
          if (const auto* step = std::get_if<workbench::MinifyEvent>(&event))
            QMetaObject::invokeMethod(this, [watch, step = *step] {
              if (watch) watch->add(step);
            });
          if (const auto* work = std::get_if<workbench::MinifyWorkEvent>(&event))
            QMetaObject::invokeMethod(this, [watch, work = *work] {
              if (watch) watch->add(work);
            });
        };
        return worker->perform(request, {follow, stop, control});
      },
      [this, where = key()](const Result<workbench::Minified>& result) { minifyFinished(where, result); });
  minifyProgressed(key());
  emit busyChanged();
}

void Session::cancelMinify() { m_jobs.stop(jobKey("minify", key())); }

void Session::pauseMinify(bool paused) {
  if (state() && state()->minify) state()->minify->setPaused(paused);
}

void Session::undoMinify(int step) {
  auto* known = state();
  if (!known || !known->minify) return;
  // Graphs of steps are known by their numbers, which others will bear.
  std::erase_if(known->graphs, [&](const auto& item) {
    return item.first.first == int(Location::Stage::Step) && item.first.second > step;
  });
  forgetSteps(key(), step);
  known->minify->undoTo(step);
}

void Session::minifyProgressed(const Key& where) {
  auto* known = state(where);
  if (!known || !known->minify) return;
  const auto before = known->minified;
  known->minified = known->minify->snapshot();
  const bool moved = !before || before->steps.size() != known->minified->steps.size();
  if (known->minify->running() && moved) readCandidate(where);
  if (where == key()) emit minifyChanged();
}

/// The newest graph that failed, while the search goes on.
void Session::readCandidate(const Key& where) {
  const auto job = jobKey("candidate", where);
  const auto reduction = state(where)->minified->reduction;
  if (reduction.empty() || m_jobs.busy(job)) return;
  const QPointer<MinifyWatch> watch = state(where)->minify.get();
  m_jobs.submit<Result<GraphDocPtr>>(
      job,
      [worker = browser(where.capture), reduction](std::stop_token stop) -> Result<GraphDocPtr> {
        auto steps = worker->perform(workbench::StepsRequest{reduction}, {{}, stop});
        if (!steps) return fail(std::move(steps.error()));
        if (steps->empty()) return fail(ErrorCode::NotFound, "no step yet");
        return worker->perform(workbench::GraphRequest{{steps->back().id}}, {{}, stop});
      },
      [watch](const Result<GraphDocPtr>& graph) {
        if (graph && watch) watch->setCandidate(*graph);
      },
      JobQueue::Weight::Quiet);
}

/// Differences of steps behind `step`, whose numbers others will bear.
void Session::forgetSteps(const Key& where, int step) {
  std::erase_if(m_differences, [&](const auto& item) {
    const auto& [key, stage, index, body] = item.first.second;
    return key == where && stage == Location::Stage::Step && index > step;
  });
}

void Session::pin(const QString& node, bool pinned) {
  if (!state() || state()->pins.contains(node) == pinned) return;
  setPin(key(), node, pinned);
  addUndo({pinned ? tr("keeping %1").arg(node) : tr("letting %1 go").arg(node),
           [this, where = key(), node, pinned] { setPin(where, node, !pinned); },
           [this, where = key()] { return state(where) != nullptr; }});
}

void Session::keepPinned(const QString& node) {
  if (state()) setPin(key(), node, true);
}

void Session::setPin(const Key& where, const QString& node, bool pinned) {
  auto& pins = state(where)->pins;
  pins.removeAll(node);
  if (pinned) pins.append(node);
  emit pinsChanged();
}

QStringList Session::pins() const { return state() ? state()->pins : QStringList(); }

/// The nearest graph that passes, of what the store knows of the finished search.
void Session::findNeighbour(const Key& where) {
  const auto repro = state(where)->minified->repro;
  if (repro.empty()) return;
  const QPointer<MinifyWatch> watch = state(where)->minify.get();
  m_jobs.submit<Result<workbench::Neighbour>>(
      jobKey("neighbour", where),
      [worker = browser(where.capture), request = workbench::NeighbourRequest{{repro}}](std::stop_token stop) {
        return worker->perform(request, {{}, stop});
      },
      [watch](Result<workbench::Neighbour> result) {
        if (result && watch) watch->setNeighbour(std::move(*result));
      },
      JobQueue::Weight::Quiet);
}

void Session::minifyFinished(const Key& where, const Result<workbench::Minified>& result) {
  auto* known = state(where);
  if (!known || !known->minify) return;
  if (result)
    known->minify->finish(*result);
  else
    known->minify->fail(cancelled(result.error()) ? QString() : windowText(result.error()));
  if (!known->minified->error.isEmpty()) emit failed(tr("Minify failed"), known->minified->error);
  emit busyChanged();
  if (m_listing) listStore();
  findNeighbour(where);
  if (known->minified->reduction.empty()) return;
  m_jobs.cancel(jobKey("candidate", where));
  readCandidate(where);
  const workbench::StepsRequest request{known->minified->reduction};
  m_jobs.submit<Result<std::vector<StepDoc>>>(
      jobKey("steps", where),
      [worker = browser(where.capture), request](std::stop_token stop) { return worker->perform(request, {{}, stop}); },
      [this, where](Result<std::vector<StepDoc>> steps) {
        auto* target = state(where);
        if (target && target->minify && steps && !steps->empty()) target->minify->setSteps(std::move(*steps));
      });
}

}  // namespace kerf::ui::inline session
