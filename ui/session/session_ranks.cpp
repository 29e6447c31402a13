// Session: what several ranks of a trace recorded, beside each other.
#include <algorithm>

#include "ui/session/job_names.h"
#include "ui/session/session.h"
#include "ui/session/window_text.h"

namespace kerf::ui::inline session {

namespace {

/// "0/0_1" of "[0/0_1]", as the lists of a capture name it.
std::string bareId(const std::string& id) {
  return id.size() > 1 && id.starts_with('[') && id.ends_with(']') ? id.substr(1, id.size() - 2) : id;
}

}  // namespace

bool Session::hasRanks(int capture) const {
  const auto doc = this->capture(capture);
  if (!doc || doc->loading || !doc->error.empty() || doc->compiles.empty()) return false;
  const int first = doc->compiles.front().rank;
  return std::ranges::any_of(doc->compiles, [&](const CompileEntryDoc& entry) { return entry.rank != first; });
}

RankLanesPtr Session::ranks(int capture) const {
  const auto found = m_ranks.find(capture);
  return found == m_ranks.end() ? nullptr : found->second;
}

void Session::findRanks(int capture) {
  const QString job = "ranks:" + QString::number(capture);
  if (!hasRanks(capture) || ranks(capture) || m_jobs.busy(job)) return;
  m_jobs.submit<Result<workbench::RanksDoc>>(
      job,
      [worker = browser(capture), request = workbench::RanksRequest{this->capture(capture)->path}](
          std::stop_token stop) { return worker->perform(request, {{}, stop}); },
      [this, capture](Result<workbench::RanksDoc> result) {
        if (!this->capture(capture)) return;
        auto doc = std::make_shared<RankLanesDoc>();
        if (result) static_cast<workbench::RanksDoc&>(*doc) = std::move(*result);
        if (!result) doc->error = windowText(result.error());
        m_ranks[capture] = doc;
        emit ranksChanged();
      });
}

void Session::goToRank(int rank, const std::string& compileId, const std::string& stage) {
  const auto doc = capture(m_location.capture);
  if (!doc) return;
  const auto isAsked = [&](const GraphEntry& entry) {
    return entry.rank == rank && bareId(entry.compileId) == bareId(compileId) &&
           (entry.stage == stage || (stage.empty() && entry.stage.starts_with("aot_")));
  };
  const auto found = std::ranges::find_if(doc->graphs, isAsked);
  if (found == doc->graphs.end()) return emit noted(tr("Rank %1 recorded no such graph.").arg(rank));
  go({doc->id, int(found - doc->graphs.begin()), Location::Stage::Captured, -1, {}});
}

}  // namespace kerf::ui::inline session
