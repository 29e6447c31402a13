// Session: the value of one node, as somebody asks for it.
#include "ui/session/job_names.h"
#include "ui/session/session.h"
#include "ui/session/window_text.h"

namespace kerf::ui::inline session {

/// Only of what a request can name: the captured graph, a stage of AOTAutograd, a step of a minification.
void Session::findValue(workbench::NodeValueRequest request) {
  if (!m_graph) return;
  const bool step = m_location.stage == Location::Stage::Step;
  request.graph = step ? addressAt(m_location) : address(key());
  if (!step) request.plants = plants();
  request.backend = m_backend;
  auto asked = std::make_shared<ValueDoc>();
  asked->place = m_location;
  asked->asked = request;
  asked->running = m_location.stage != Location::Stage::Pass;
  if (!asked->running) asked->error = tr("A graph after one pass is not run by itself: go to the captured graph.");
  m_value = asked;
  if (!asked->running) return emit valueChanged();
  if (!m_valuer) m_valuer = m_workers.forJob();
  m_jobs.submit<Result<workbench::NodeValue>>(
      "value", [worker = m_valuer, request](std::stop_token stop) { return worker->perform(request, {{}, stop}); },
      [this, asked](Result<workbench::NodeValue> result) {
        auto doc = std::make_shared<ValueDoc>(*asked);
        doc->running = false;
        if (result)
          static_cast<workbench::NodeValue&>(*doc) = std::move(*result);
        else
          doc->error = cancelled(result.error()) ? tr("Cancelled.") : windowText(result.error());
        m_value = doc;
        emit valueChanged();
      });
  emit valueChanged();
}

/// What is kept of a capture that is gone may not be its next reading's.
void Session::forgetValue() {
  m_jobs.cancel("value");
  m_valuer = nullptr;
  m_value = nullptr;
  emit valueChanged();
}

bool Session::valueIsCurrent() const {
  if (!m_value || !m_value->place.sameGraph(m_location)) return false;
  if (m_value->asked.backend != m_backend) return false;
  if (m_location.stage == Location::Stage::Step) return true;
  return m_value->asked.plants == plants() && (m_value->running || m_value->asked.graph == address(key()));
}

void Session::cancelValue() { m_jobs.stop("value"); }

}  // namespace kerf::ui::inline session
