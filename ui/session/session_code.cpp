// Session: the output code that PyTorch recorded for the shown graph.
#include "ui/session/session.h"
#include "ui/session/window_text.h"

namespace kerf::ui::inline session {

RecordedCodePtr Session::recordedCode() const {
  const auto found = m_code.find({m_location.capture, m_location.graph});
  return found == m_code.end() ? nullptr : found->second;
}

void Session::findRecordedCode() {
  const int capture = m_location.capture, graph = m_location.graph;
  const auto doc = this->capture(capture);
  const auto job = QString("code:%1/%2").arg(capture).arg(graph);
  if (!doc || doc->loading || !doc->error.empty() || doc->records.empty() || recordedCode() || m_jobs.busy(job)) return;
  if (!m_differ) m_differ = m_workers.forJob();
  m_jobs.submit<Result<std::vector<workbench::RecordedProgram>>>(
      job,
      [worker = m_differ, request = workbench::RecordedCodeRequest{doc->name, graph}](std::stop_token stop) {
        return worker->perform(request, {{}, stop});
      },
      [this, capture, graph](Result<std::vector<workbench::RecordedProgram>> result) {
        if (!this->capture(capture)) return;
        auto known = std::make_shared<RecordedCodeList>();
        if (result)
          known->programs = std::move(*result);
        else
          known->error = windowText(result.error());
        m_code[{capture, graph}] = known;
        emit recordedCodeChanged();
      });
}

}  // namespace kerf::ui::inline session
