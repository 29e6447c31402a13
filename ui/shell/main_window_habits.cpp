// MainWindow: going on from where one was, more windows, pasting, bookmarks, and the report.
#include <algorithm>

#include <QApplication>
#include <QClipboard>
#include <QDateTime>
#include <QDir>
#include <QFile>
#include <QFileDialog>
#include <QMimeData>
#include <QStatusBar>
#include <QTemporaryDir>

#include "ui/panels/notes_panel.h"
#include "ui/shell/banner.h"
#include "ui/shell/graph_report.h"
#include "ui/shell/main_window.h"
#include "ui/shell/session_memory.h"

namespace kerf::ui::inline shell {
namespace {
constexpr int windowOffset = 32;
constexpr qsizetype mostPasted = 64 << 20;
constexpr qsizetype mostKept = 40;  ///< pasted texts

/// Why a pasted text could not be written; empty: it was.
struct Written {
  bool blank = false;  ///< there is nothing in it
  QString problem;
};

Written writePasted(const QString& pasted, const QString& path) {
  if (std::ranges::all_of(pasted, [](QChar each) { return each.isSpace(); })) return {true, {}};
  QFile file(path);
  const auto bytes = pasted.toUtf8();
  if (!file.open(QIODevice::WriteOnly) || file.write(bytes) != bytes.size())
    return {false, MainWindow::tr("%1: %2").arg(path, file.errorString())};
  return {};
}
}  // namespace

void MainWindow::resume() { restoreSession(*this, m_preferences.value("session").toMap()); }

/// As soon as the first of them is there, what was open before comes back beside them.
void MainWindow::openBeside(const QStringList& paths) {
  const auto before = openedBefore(m_preferences.value("session").toMap());
  const auto once = std::make_shared<QMetaObject::Connection>();
  *once = connect(&m_session, &Session::graphChanged, this, [this, before, once] {
    if (!m_session.graph()) return;
    disconnect(*once);
    m_session.open(before, false);
  });
  open(paths);
}

MainWindow* MainWindow::openWindow() {
  auto* other = new MainWindow(m_options);
  other->setAttribute(Qt::WA_DeleteOnClose);
  other->session().setStorePath(m_session.storePath());
  other->resize(size());
  other->move(pos() + QPoint(windowOffset, windowOffset));
  other->show();
  return other;
}

/// A folder of the user where settings are kept as well, so that what was pasted comes back with the session.
QString MainWindow::pasteFolder() {
  const auto settings = m_preferences.file();
  if (settings.isEmpty()) {
    if (!m_pasted) m_pasted = std::make_unique<QTemporaryDir>();
    return m_pasted->path();
  }
  const QDir folder(QFileInfo(settings).dir().filePath("pasted"));
  folder.mkpath(".");
  const auto kept = folder.entryInfoList({"pasted_*.txt"}, QDir::Files, QDir::Time);
  for (qsizetype i = mostKept; i < kept.size(); ++i) QFile::remove(kept[i].filePath());
  return folder.path();
}

void MainWindow::paste() {
  const auto* data = QApplication::clipboard()->mimeData();
  QStringList paths;
  for (const auto& url : data ? data->urls() : QList<QUrl>())
    if (url.isLocalFile()) paths << url.toLocalFile();
  if (!paths.isEmpty()) return open(paths);
  auto pasted = data ? data->text() : QString();
  if (pasted.size() > mostPasted)
    return m_banner->showError(tr("Cannot paste"),
                               tr("The text is larger than 64 MB: save it as a file and open that."));
  const auto path = QDir(pasteFolder())
                        .filePath(QString("pasted_%1_%2.txt")
                                      .arg(QDateTime::currentDateTime().toString("yyyyMMdd_hhmmss"))
                                      .arg(++m_pastes));
  m_session.jobs().submit<Written>(
      "paste:" + path, [pasted = std::move(pasted), path](std::stop_token) { return writePasted(pasted, path); },
      [this, path](const Written& written) {
        if (written.blank)
          return statusBar()->showMessage(tr("The clipboard holds neither a file nor the text of a graph."), 8000);
        if (!written.problem.isEmpty()) return m_banner->showError(tr("Cannot paste"), written.problem);
        open({path});
      });
}

std::vector<ActionSpec> MainWindow::noteActions() {
  return {{"bookmark",
           tr("&Bookmark node"),
           {},
           "Ctrl+F2",
           tr("Bookmark the selected node, or remove its bookmark"),
           [this] { m_notes->toggle(); }},
          {"nextNote", tr("Next b&ookmark"), {}, "F2", {}, [this] { m_notes->step(1); }},
          {"previousNote", tr("Previous boo&kmark"), {}, "Shift+F2", {}, [this] { m_notes->step(-1); }},
          {"writeNote",
           tr("&Write a note…"),
           {},
           "Ctrl+Shift+N",
           tr("Write a note at the selected node"),
           [this] {
             raisePanel("notes");
             m_notes->edit().setFocus(Qt::ShortcutFocusReason);
           }},
          {"leaveBody",
           tr("&Leave the body"),
           {},
           "Alt+Up",
           tr("Go back to the graph that calls this nested graph"),
           [this] { m_session.leaveBody(); }}};
}

void MainWindow::saveReport() {
  const auto folder = m_preferences.value("pictureFolder", QDir::homePath()).toString();
  const auto path = QFileDialog::getSaveFileName(this, tr("Save a report"), QDir(folder).filePath("report.pdf"),
                                                 tr("PDF (*.pdf);;Web page (*.html)"));
  if (path.isEmpty()) return;
  const auto problem = writeReport(m_session, m_pane->view(), path);
  if (!problem.isEmpty()) return m_banner->showError(tr("Cannot save the report"), problem);
  statusBar()->showMessage(tr("Saved %1").arg(path), 8000);
}

}  // namespace kerf::ui::inline shell
