// Session: how the compilations of a trace went, as its log tells.
#include "ui/session/session.h"
#include "ui/session/window_text.h"

namespace kerf::ui::inline session {

namespace {
/// What the overview shows; the other tables may have millions of rows.
constexpr const char* shownTables = "compiles,stacks,recompiles,breaks,restarts,failures";
constexpr const char* tritonTables = "compiles,stacks,triton,triton-lines";

workbench::CompileLogRequest shownOf(const CaptureDoc& capture) {
  return {capture.name, capture.kind == "tritonparse" ? tritonTables : shownTables};
}
}  // namespace

bool Session::isTrace(int capture) const {
  const auto doc = this->capture(capture);
  if (!doc || doc->loading || !doc->error.empty()) return false;
  return doc->kind == "tritonparse" ||
         ((doc->kind == "torch_trace" || doc->kind == "torch_logs") && !doc->compiles.empty());
}

TraceLogPtr Session::traceLog(int capture) const {
  const auto found = m_logs.find(capture);
  return found == m_logs.end() ? nullptr : found->second;
}

void Session::findTraceLog(int capture) {
  const auto job = "log:" + QString::number(capture);
  if (!isTrace(capture) || traceLog(capture) || m_jobs.busy(job)) return;
  if (!m_differ) m_differ = m_workers.forJob();
  m_jobs.submit<Result<workbench::CompileLogDoc>>(
      job,
      [worker = m_differ, request = shownOf(*this->capture(capture))](std::stop_token stop) {
        return worker->perform(request, {{}, stop});
      },
      [this, capture](Result<workbench::CompileLogDoc> result) {
        if (!this->capture(capture)) return;
        auto known = std::make_shared<TraceLogDoc>();
        if (result)
          static_cast<workbench::CompileLogDoc&>(*known) = std::move(*result);
        else
          known->error = windowText(result.error());
        m_logs[capture] = known;
        emit traceLogChanged();
      });
}

}  // namespace kerf::ui::inline session
