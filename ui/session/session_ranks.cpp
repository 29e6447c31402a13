// Session: what several ranks of a trace recorded, beside each other.
#include <algorithm>
#include <set>

#include "ui/session/session.h"
#include "ui/session/window_text.h"

namespace kerf::ui::inline session {

namespace {

/// "0/0_1" of "[0/0_1]", as the lists of a capture name it.
std::string bareId(const std::string& id) {
  return id.size() > 1 && id.starts_with('[') && id.ends_with(']') ? id.substr(1, id.size() - 2) : id;
}

/// Which of a capture's graphs it is: those of one id and stage are numbered as they were recorded. -1: none.
int graphAt(const CaptureDoc& doc, int rank, const workbench::RankPlaceDoc& place) {
  int left = place.graph;
  for (std::size_t i = 0; i < doc.graphs.size(); ++i) {
    const GraphEntry& entry = doc.graphs[i];
    if (entry.rank == rank && entry.stage == place.stage && bareId(entry.compileId) == bareId(place.compileId) &&
        left-- == 0)
      return int(i);
  }
  return -1;
}

}  // namespace

bool Session::hasRanks(int capture) const {
  const auto doc = this->capture(capture);
  if (!doc || doc->loading || !doc->error.empty() || doc->compiles.empty()) return false;
  std::set<int> ranks;
  for (const CompileEntryDoc& entry : doc->compiles)
    if (entry.rank >= 0) ranks.insert(entry.rank);
  return ranks.size() > 1;
}

RankLanesPtr Session::ranks(int capture) const {
  const auto found = m_ranks.find(capture);
  return found == m_ranks.end() ? nullptr : found->second;
}

void Session::findRanks(int capture) {
  const QString job = "ranks:" + QString::number(capture);
  if (!hasRanks(capture) || ranks(capture) || m_jobs.busy(job)) return;
  if (!m_differ) m_differ = m_workers.forJob();  // so that browsing never waits
  const auto doc = this->capture(capture);
  const workbench::RanksRequest request{doc->isStored() ? doc->name : doc->path};
  m_jobs.submit<Result<workbench::RanksDoc>>(
      job, [worker = m_differ, request](std::stop_token stop) { return worker->perform(request, {{}, stop}); },
      [this, capture](Result<workbench::RanksDoc> result) {
        if (!this->capture(capture)) return;
        auto doc = std::make_shared<RankLanesDoc>();
        if (result) static_cast<workbench::RanksDoc&>(*doc) = std::move(*result);
        if (!result) doc->error = windowText(result.error());
        m_ranks[capture] = doc;
        emit ranksChanged();
      });
}

bool Session::goToRank(int rank, const std::string& compileId, const workbench::RankPlaceDoc* place) {
  const auto doc = capture(shownCapture());
  if (!doc) return false;
  const int graph = place == nullptr ? -1 : graphAt(*doc, rank, *place);
  if (graph < 0) {
    const std::string& id = place == nullptr ? compileId : place->compileId;
    emit noted(tr("Rank %1 recorded no graph of %2 there.").arg(rank).arg(QString::fromStdString(id)));
    return false;
  }
  go({doc->id, graph, Location::Stage::Captured, -1, QString::fromStdString(place->node)});
  return true;
}

}  // namespace kerf::ui::inline session
