// Session: where the shown joint graph is cut into forward and backward, for every memory budget at once.
#include <algorithm>

#include "ui/session/graph_state.h"
#include "ui/session/session.h"
#include "ui/session/window_text.h"

namespace kerf::ui::inline session {

namespace {
constexpr int budgetSteps = 20;
}

PartitionsDocPtr Session::partitions() const { return state() ? state()->partitions : nullptr; }

/// A graph without backward nodes is shown as its joint graph first, which is partitioned then.
void Session::partition() {
  if (!m_graph) return;
  auto where = key();
  const bool joint = std::ranges::any_of(m_graph->nodes, &NodeDoc::backward);
  if (!joint && where.aotStage.empty()) {
    where.aotStage = "joint";
    showAotStage(where.aotStage);
  }
  auto& known = stateFor(where);
  if (known.partitions && known.partitions->running) return;
  auto running = std::make_shared<PartitionsDoc>();
  running->running = true;
  known.partitions = running;
  workbench::PartitionRequest request{shownAddress(where)};
  request.budgets.clear();
  for (int step = 0; step <= budgetSteps; ++step) request.budgets.push_back(double(step) / budgetSteps);
  m_jobs.submit<Result<workbench::PartitionReport>>(
      QString("partition:%1/%2/%3").arg(where.capture).arg(where.graph).arg(text(where.aotStage)),
      [worker = m_workers.forJob(), request](std::stop_token stop) { return worker->perform(request, {{}, stop}); },
      [this, where](Result<workbench::PartitionReport> result) {
        auto* target = state(where);
        if (!target) return;
        auto doc = std::make_shared<PartitionsDoc>();
        if (result) static_cast<workbench::PartitionReport&>(*doc) = std::move(*result);
        if (!result && result.error().code != ErrorCode::Cancelled) doc->error = windowText(result.error());
        target->partitions = doc;
        if (!doc->error.isEmpty()) emit failed(tr("This graph cannot be partitioned"), doc->error);
        emit partitionsChanged();
      });
  emit partitionsChanged();
}

}  // namespace kerf::ui::inline session
