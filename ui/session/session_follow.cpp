// Session: captures whose files grow while they are open.
#include <algorithm>
#include <span>

#include "ui/session/graph_state.h"
#include "ui/session/session.h"
#include "ui/session/window_text.h"

namespace kerf::ui::inline session {

namespace {

bool sameEntry(const GraphEntry& one, const GraphEntry& other) {
  return one.name == other.name && one.compileId == other.compileId && one.file == other.file && one.line == other.line;
}

/// Whether a log only got longer: graphs keep their places then.
bool continues(const CaptureDoc& before, const workbench::CaptureIndex& after) {
  return before.graphs.size() <= after.graphs.size() &&
         std::ranges::equal(before.graphs, std::span(after.graphs).first(before.graphs.size()), sameEntry);
}

}  // namespace

void Session::refresh(int capture) {
  const auto doc = this->capture(capture);
  const QString job = "open:" + QString::number(capture);
  if (!doc || doc->loading || !doc->error.empty() || m_jobs.busy(job)) return;
  for (const auto& worker : {m_compiler, m_differ})
    if (worker)
      m_jobs.submit<Result<workbench::Done>>(
          QString("forget:%1/%2").arg(capture).arg(worker == m_differ),
          [worker, name = doc->name](std::stop_token stop) {
            return worker->perform(workbench::CloseRequest{name}, {{}, stop});
          },
          [](const Result<workbench::Done>&) {}, JobQueue::Weight::Quiet);
  m_jobs.submit<Result<std::vector<workbench::CaptureIndex>>>(
      job,
      [worker = browser(capture),
       name = doc->name](std::stop_token stop) -> Result<std::vector<workbench::CaptureIndex>> {
        KERF_CHECK(worker->perform(workbench::CloseRequest{name}, {{}, stop}));
        return worker->perform(workbench::OpenRequest{name}, {{}, stop});
      },
      [this, capture](Result<std::vector<workbench::CaptureIndex>> result) { refreshed(capture, std::move(result)); },
      JobQueue::Weight::Quiet);
}

void Session::refreshed(int capture, Result<std::vector<workbench::CaptureIndex>> result) {
  const auto before = this->capture(capture);
  if (!before) return;
  if (!result || result->empty()) {
    if (!result) emit noted(windowText(result.error()));
    return;
  }
  auto doc = std::make_shared<CaptureDoc>();
  static_cast<workbench::CaptureIndex&>(*doc) = std::move(result->front());
  doc->id = capture;
  const bool longer = continues(*before, *doc);
  if (longer && doc->graphs.size() == before->graphs.size() && doc->records.size() == before->records.size()) return;
  m_captures[capture] = doc;
  m_fusion.erase(capture);
  m_jobs.cancel("ranks:" + QString::number(capture));  // an answer of before
  m_ranks.erase(capture);
  m_logs.erase(capture);
  forgetStages(capture);
  if (!longer) std::erase_if(m_states, [&](const auto& item) { return item.first.capture == capture; });
  emit capturesChanged();
  emit fusionChanged();
  emit ranksChanged();
  emit traceLogChanged();
  const auto more = qint64(doc->graphs.size()) - qint64(before->graphs.size());
  emit noted(more > 0 ? tr("%1 has grown: %n more graph(s)", nullptr, int(more)).arg(text(doc->path).section('/', -1))
                      : tr("%1 has been read again").arg(text(doc->path).section('/', -1)));
  if (m_location.capture != capture) return;
  if (longer) return findStages();
  const auto here = std::ranges::find_if(doc->graphs, [&](const GraphEntry& entry) {
    return sameEntry(before->graphs[std::size_t(m_location.graph)], entry);
  });
  if (doc->graphs.empty()) return emptyPlace();
  auto place = m_location;
  place.graph = here == doc->graphs.end() ? 0 : int(here - doc->graphs.begin());
  enter(place);
  go(place);
}

}  // namespace kerf::ui::inline session
