// Session: the recorded stages of a compilation, going through them, and verifying them.
#include <algorithm>

#include "ui/session/graph_state.h"
#include "ui/session/session.h"
#include "ui/session/window_text.h"

namespace kerf::ui::inline session {

namespace {

QString stagesJob(int capture, int graph) { return QString("stages:%1/%2").arg(capture).arg(graph); }

QString verifyJob(int capture, const std::string& compile) {
  return QString("verify:%1/%2").arg(capture).arg(text(compile));
}

}  // namespace

RecordedStagesPtr Session::recordedStages() const {
  const auto found = m_recorded.find({m_location.capture, m_location.graph});
  return found == m_recorded.end() ? nullptr : found->second;
}

int Session::recordedStage() const {
  const auto recorded = recordedStages();
  if (!recorded) return -1;
  const auto found = std::ranges::find(recorded->stages, m_location.graph, &RecordedStageDoc::graph);
  return found == recorded->stages.end() ? -1 : int(found - recorded->stages.begin());
}

/// The answer holds for every graph of the compilation.
void Session::findStages() {
  const int capture = m_location.capture, graph = m_location.graph;
  const auto doc = this->capture(capture);
  if (!doc || recordedStages() || m_jobs.busy(stagesJob(capture, graph))) return emit stagesChanged();
  if (doc->graphs.size() < 2 && doc->records.empty()) return emit stagesChanged();
  if (!m_differ) m_differ = m_workers.forJob();
  const workbench::RecordedStagesRequest request{doc->name, graph};
  m_jobs.submit<Result<RecordedStages>>(
      stagesJob(capture, graph),
      [worker = m_differ, request](std::stop_token stop) { return worker->perform(request, {{}, stop}); },
      [this, capture, graph](Result<RecordedStages> result) {
        if (!this->capture(capture)) return;
        if (!result) emit noted(windowText(result.error()));
        const auto known = std::make_shared<const RecordedStages>(result ? std::move(*result) : RecordedStages());
        m_recorded[{capture, graph}] = known;
        for (const auto& stage : known->stages) m_recorded[{capture, stage.graph}] = known;
        if (m_location.capture != capture) return;
        emit stagesChanged();
        findDifference();
      });
}

void Session::forgetStages(int capture) {
  for (const auto& [where, verified] : m_verified)
    if (where.first == capture) m_jobs.cancel(verifyJob(capture, where.second));
  std::erase_if(m_recorded, [&](const auto& item) { return item.first.first == capture; });
  std::erase_if(m_code, [&](const auto& item) { return item.first.first == capture; });
  std::erase_if(m_verified, [&](const auto& item) { return item.first.first == capture; });
  std::erase_if(m_differences, [&](const auto& item) {
    const auto& [before, after] = item.first;
    return std::get<0>(before).capture == capture || std::get<0>(after).capture == capture;
  });
  std::erase_if(m_tried, [&](const auto& place) { return std::get<0>(place).capture == capture; });
  if (m_against && m_against->capture == capture) m_against.reset();
}

void Session::scrubTo(const Location& location) {
  auto there = location;
  const auto difference = m_difference;
  const auto node = m_location.node.toStdString();
  const bool back = difference && difference->from.sameGraph(location);
  if (there.node.isEmpty() && !node.empty()) {
    const auto followed = back ? difference->earlier(node) : node;
    there.node = QString::fromStdString(followed.empty() ? node : followed);
  }
  m_against.reset();
  m_scrubbing = m_scrubbed = true;
  go(there);
  m_scrubbing = false;
}

std::string Session::compileIdOf(const Key& key) const {
  const auto doc = capture(key.capture);
  return doc && key.graph < int(doc->graphs.size()) ? doc->graphs[std::size_t(key.graph)].compileId : std::string();
}

VerifyDocPtr Session::verified() const {
  const auto found = m_verified.find({m_location.capture, compileIdOf(key())});
  return found == m_verified.end() ? nullptr : found->second;
}

void Session::verifyStages() {
  const auto doc = capture(m_location.capture);
  const auto compile = compileIdOf(key());
  const std::pair where{m_location.capture, compile};
  if (!doc || (verified() && verified()->running)) return;
  auto running = std::make_shared<VerifyDoc>();
  running->running = true;
  m_verified[where] = running;
  workbench::VerifyRequest request{{doc->name}};
  request.compile = compile;
  const auto progressed = [this, where](const QString& what) {
    const auto found = m_verified.find(where);
    if (found == m_verified.end() || !found->second->running) return;
    auto now = std::make_shared<VerifyDoc>(*found->second);
    now->progress = what;
    found->second = now;
    emit verifiedChanged();
  };
  m_jobs.submit<Result<workbench::Verification>>(
      verifyJob(where.first, compile),
      [this, worker = m_workers.forJob(), request, progressed](std::stop_token stop) {
        const auto follow = [&](const workbench::JobEvent& event) {
          if (const auto* step = std::get_if<workbench::ProgressEvent>(&event))
            QMetaObject::invokeMethod(this, [progressed, what = text(step->what)] { progressed(what); });
        };
        return worker->perform(request, {follow, stop});
      },
      [this, where](Result<workbench::Verification> result) {
        if (!this->capture(where.first)) return;
        auto known = std::make_shared<VerifyDoc>();
        if (result) static_cast<workbench::Verification&>(*known) = std::move(*result);
        if (!result && result.error().code != ErrorCode::Cancelled) known->error = windowText(result.error());
        m_verified[where] = known;
        if (!known->error.isEmpty()) emit failed(tr("The stages could not be verified"), known->error);
        emit verifiedChanged();
      });
  emit verifiedChanged();
}

void Session::cancelVerify() { m_jobs.stop(verifyJob(m_location.capture, compileIdOf(key()))); }

}  // namespace kerf::ui::inline session
