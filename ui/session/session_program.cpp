// Session: captured programs: what torch.compile made of them, and running one in the sandbox.
#include <utility>

#include <QFileInfo>

#include "ui/session/job_names.h"
#include "ui/session/session.h"
#include "ui/session/window_text.h"

namespace kerf::ui::inline session {

namespace {
constexpr const char* captureJob = "program";
}  // namespace

bool Session::isProgram(int capture) const {
  const auto doc = this->capture(capture);
  return doc && !doc->loading && doc->error.empty() && doc->kind == "program";
}

ProgramDocumentPtr Session::program(int capture) const {
  const auto found = m_programs.find(capture);
  return found == m_programs.end() ? nullptr : found->second;
}

int Session::shownProgram() const { return isProgram(shownCapture()) ? shownCapture() : -1; }

void Session::showGraphless(int capture) {
  m_graphless = capture;
  m_showNext = false;
  emit programChanged();
}

/// What took its place is shown.
void Session::leaveGraphless() {
  if (std::exchange(m_graphless, -1) >= 0) emit programChanged();
}

void Session::findProgram(int capture) {
  const auto job = "program:" + QString::number(capture);
  if (!isProgram(capture) || program(capture) || m_jobs.busy(job)) return;
  if (!m_differ) m_differ = m_workers.forJob();
  m_jobs.submit<Result<workbench::ProgramReport>>(
      job,
      [worker = m_differ, request = workbench::ProgramReportRequest{this->capture(capture)->name}](
          std::stop_token stop) { return worker->perform(request, {{}, stop}); },
      [this, capture](Result<workbench::ProgramReport> result) {
        if (!this->capture(capture)) return;
        auto known = std::make_shared<ProgramDocument>();
        if (result)
          static_cast<workbench::ProgramReport&>(*known) = std::move(*result);
        else
          known->error = windowText(result.error());
        m_programs[capture] = known;
        emit programChanged();
      });
}

void Session::captureProgram(workbench::CaptureProgramRequest request) {
  const auto name = QFileInfo(text(request.path)).fileName();
  if (m_jobs.busy(captureJob))
    return emit failed(tr("%1 was not captured").arg(name),
                       tr("Another program is being captured. Wait until it has ended, or stop it."));
  m_jobs.submit<Result<workbench::ProgramDoc>>(
      captureJob,
      [worker = m_workers.forJob(), request](std::stop_token stop) { return worker->perform(request, {{}, stop}); },
      [this, name](const Result<workbench::ProgramDoc>& result) {
        emit busyChanged();
        if (!result && cancelled(result.error())) return emit noted(tr("%1 was stopped.").arg(name));
        if (!result) return emit failed(tr("Cannot capture %1").arg(name), windowText(result.error()));
        const auto& doc = *result;
        if (!doc.capture.empty()) open({text(doc.capture)});
        const auto line = doc.line > 0 ? tr("line %1: ").arg(doc.line) : QString();
        if (!doc.exception.empty()) emit failed(tr("%1 ended with an error").arg(name), line + text(doc.exception));
        if (doc.capture.empty() && doc.exception.empty())
          emit failed(tr("Nothing of %1 was compiled").arg(name),
                      tr("It does not call torch.compile. Capture it again and name a function of it to compile."));
      });
  emit busyChanged();
}

void Session::cancelCaptureProgram() { m_jobs.stop(captureJob); }

}  // namespace kerf::ui::inline session
