// Session: what the store holds, and writing graphs to where the user wants them.
#include "ui/session/graph_state.h"
#include "ui/session/session.h"

namespace kerf::ui::inline session {

void Session::listStore() {
  m_jobs.submit<Result<StoreListing>>(
      "store",
      [worker = m_workers.forJob()](std::stop_token stop) {
        return worker->perform(workbench::StoreRequest{}, {{}, stop});
      },
      [this](Result<StoreListing> listing) {
        if (!listing) return emit failed(tr("Cannot read the store"), text(listing.error().text()));
        m_listing = std::make_shared<const StoreListing>(std::move(*listing));
        emit storeChanged();
      });
}

void Session::exportTo(const QString& directory) {
  if (!state() || !state()->document) return;
  const auto graph = workbench::GraphAddress{capture(m_location.capture)->name, m_location.graph};
  exportAs({graph, directory.toStdString(), "repro"}, browser(m_location.capture));
}

void Session::exportMinified(const QString& directory) {
  const auto doc = minified();
  if (doc && !doc->repro.empty())
    exportAs({{doc->repro}, directory.toStdString(), "repro"}, browser(m_location.capture));
}

void Session::exportAs(const workbench::ExportRequest& request, RemotePtr worker) {
  m_jobs.submit<Result<workbench::Exported>>(
      "export",
      [worker = std::move(worker), request](std::stop_token stop) {
        return worker->perform(request, {{}, stop});
      },
      [this](const Result<workbench::Exported>& written) {
        if (written) return emit exported(text(written->path));
        emit failed(tr("Export failed"), text(written.error().text()));
      });
}

}  // namespace kerf::ui::inline session
