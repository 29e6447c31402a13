// Session: what the store holds, and writing graphs to where the user wants them.
#include "ui/session/graph_state.h"
#include "ui/session/session.h"
#include "ui/session/text.h"
#include "ui/session/window_text.h"

namespace kerf::ui::inline session {

void Session::listStore() {
  m_jobs.submit<Result<StoreListing>>(
      "store",
      [worker = m_workers.forJob()](std::stop_token stop) {
        return worker->perform(workbench::StoreRequest{}, {{}, stop});
      },
      [this](Result<StoreListing> listing) {
        if (!listing) return emit failed(tr("Cannot read the store"), windowText(listing.error()));
        m_listing = std::make_shared<const StoreListing>(std::move(*listing));
        emit storeChanged();
      });
}

void Session::removeStored(const QStringList& items) {
  workbench::RemoveRequest request;
  for (const auto& item : items) request.items.push_back(item.toStdString());
  request.cascade = true;
  m_jobs.submit<Result<workbench::Removed>>(
      "delete",
      [worker = m_workers.forJob(), request](std::stop_token stop) { return worker->perform(request, {{}, stop}); },
      [this](const Result<workbench::Removed>& result) { removed(result); });
}

void Session::removed(const Result<workbench::Removed>& result) {
  if (!result) return emit failed(tr("Cannot delete"), windowText(result.error()));
  QStringList names;
  for (const auto& item : result->items) names << text(item);
  m_deletions << names.value(0);
  addUndo({tr("delete"), [this] { undoDelete(); }, [this] { return canUndoDelete(); }});
  emit noted(tr("Deleted %1. Edit > Undo delete brings it back.").arg(names.join(", ")));
  emit deletionsChanged();
  listStore();
}

void Session::undoDelete() {
  if (m_deletions.isEmpty()) return;
  const workbench::RestoreRequest request{{m_deletions.takeLast().toStdString()}};
  m_jobs.submit<Result<workbench::Restored>>(
      "restore",
      [worker = m_workers.forJob(), request](std::stop_token stop) { return worker->perform(request, {{}, stop}); },
      [this](const Result<workbench::Restored>& result) { restored(result); });
  emit deletionsChanged();
  emit undoChanged();
}

void Session::restored(const Result<workbench::Restored>& result) {
  if (!result) return emit failed(tr("Cannot bring it back"), windowText(result.error()));
  QStringList names;
  for (const auto& item : result->items) names << text(item);
  emit noted(tr("Brought back %1.").arg(names.join(", ")));
  listStore();
}

void Session::exportTo(const QString& directory) {
  if (!state() || !state()->document) return;
  exportAs({shownAddress(key()), directory.toStdString(), "repro"}, browser(m_location.capture));
}

void Session::exportMinified(const QString& directory) {
  const auto doc = minified();
  if (doc && !doc->repro.empty())
    exportAs({{doc->repro}, directory.toStdString(), "repro"}, browser(m_location.capture));
}

void Session::exportMinifiedAs(const QString& path, const QString& format) {
  const auto doc = minified();
  if (doc && !doc->repro.empty())
    exportAs({{doc->repro}, path.toStdString(), format.toStdString()}, browser(m_location.capture));
}

void Session::exportAs(const workbench::ExportRequest& request, RemotePtr worker) {
  m_jobs.submit<Result<workbench::Exported>>(
      "export",
      [worker = std::move(worker), request](std::stop_token stop) { return worker->perform(request, {{}, stop}); },
      [this](const Result<workbench::Exported>& written) {
        if (written && !written->notes.empty()) emit noted(texts(written->notes).join('\n'));
        if (written) return emit exported(text(written->path));
        emit failed(tr("Export failed"), windowText(written.error()));
      });
}

}  // namespace kerf::ui::inline session
