// Session: how the compilations of a trace went, as its log tells.
#include <algorithm>
#include <array>

#include "ui/session/session.h"
#include "ui/session/window_text.h"

namespace kerf::ui::inline session {

namespace {
/// What the overview shows of a kind of traces; the other tables may have millions of rows.
struct ShownTables {
  std::string_view kind;
  const char* tables;
  bool isTrace;  ///< also without compile ids
};
constexpr ShownTables usualTables{"", "compiles,stacks,recompiles,breaks,restarts,failures", false};
constexpr std::array shownTables{ShownTables{"torch_trace", usualTables.tables, false},
                                 ShownTables{"torch_logs", usualTables.tables, false},
                                 ShownTables{"tritonparse", "compiles,stacks,triton,triton-lines", true}};

/// Null for what is no trace.
const ShownTables* tablesOf(const CaptureDoc& capture) {
  const auto* found = std::ranges::find(shownTables, capture.kind, &ShownTables::kind);
  return found == shownTables.end() ? nullptr : found;
}

std::shared_ptr<const TraceLogDoc> logOf(Result<workbench::CompileLogDoc> result) {
  auto log = std::make_shared<TraceLogDoc>();
  if (!result) log->error = windowText(result.error());
  if (result) static_cast<workbench::CompileLogDoc&>(*log) = std::move(*result);
  log->afterReading();
  return log;
}

}  // namespace

bool Session::isTrace(int capture) const {
  const auto doc = this->capture(capture);
  if (!doc || doc->loading || !doc->error.empty()) return false;
  const auto* shown = tablesOf(*doc);
  return shown != nullptr && (shown->isTrace || !doc->compiles.empty());
}

TraceLogPtr Session::traceLog(int capture) const {
  const auto found = m_logs.find(capture);
  return found == m_logs.end() ? nullptr : found->second;
}

void Session::findTraceLog(int capture) {
  const auto job = "log:" + QString::number(capture);
  if (!isTrace(capture) || traceLog(capture) || m_jobs.busy(job)) return;
  if (!m_differ) m_differ = m_workers.forJob();
  const auto doc = this->capture(capture);
  m_jobs.submit<TraceLogPtr>(
      job,
      [worker = m_differ, request = workbench::CompileLogRequest{doc->name, tablesOf(*doc)->tables}](
          std::stop_token stop) { return logOf(worker->perform(request, {{}, stop})); },
      [this, capture](const TraceLogPtr& log) {
        if (!this->capture(capture)) return;
        m_logs[capture] = log;
        emit traceLogChanged();
      });
}

}  // namespace kerf::ui::inline session
