// Session: two recordings of runs as one mapping of steps, and the first that is wrong.
#include <QFileInfo>

#include "ui/session/job_names.h"
#include "ui/session/session.h"
#include "ui/session/window_text.h"

namespace kerf::ui::inline session {

namespace {
constexpr const char* alignJob = "align";
}

void Session::align(const QString& a, const QString& b, const QString& graph) {
  auto asked = std::make_shared<AlignmentDoc>();
  asked->a.path = a.toStdString();
  asked->b.path = b.toStdString();
  asked->running = true;
  m_alignment = asked;
  emit alignmentChanged();
  workbench::AlignRequest request{asked->a.path, asked->b.path, graph.toStdString()};
  request.all = true;
  m_jobs.submit<Result<workbench::AlignDoc>>(
      alignJob,
      [worker = m_workers.forJob(), request](std::stop_token stop) { return worker->perform(request, {{}, stop}); },
      [this, asked = *asked](Result<workbench::AlignDoc> result) {
        auto doc = std::make_shared<AlignmentDoc>(asked);
        doc->running = false;
        if (result) static_cast<workbench::AlignDoc&>(*doc) = std::move(*result);
        if (!result) doc->error = cancelled(result.error()) ? tr("Cancelled.") : windowText(result.error());
        m_alignment = doc;
        emit alignmentChanged();
      });
}

void Session::cancelAlign() { m_jobs.stop(alignJob); }

void Session::goToStep(const workbench::AlignedRow& row) {
  if (row.graph.empty()) return void(emit noted(tr("No graph of the recordings has this step.")));
  const bool isFile = QFileInfo::exists(QString::fromStdString(row.graph));  // whatever its name holds
  const auto hash = isFile ? std::string::npos : row.graph.rfind('#');
  NamedPlace place{row.graph.substr(0, hash), hash == std::string::npos ? std::string() : row.graph.substr(hash + 1)};
  place.place.node = QString::fromStdString(row.node);
  goTo(place);
}

}  // namespace kerf::ui::inline session
