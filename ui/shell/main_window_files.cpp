// MainWindow: opening, dropping, exporting, and the small dialogs.
#include <functional>

#include <QApplication>
#include <QClipboard>
#include <QCloseEvent>
#include <QDialogButtonBox>
#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QMenu>
#include <QMenuBar>
#include <QMessageBox>
#include <QMimeData>
#include <QStatusBar>
#include <QTemporaryDir>
#include <QTextBrowser>
#include <QVBoxLayout>

#include "ui/panels/passes_panel.h"
#include "ui/shell/banner.h"
#include "ui/shell/export_dialog.h"
#include "ui/shell/help_window.h"
#include "ui/shell/main_window.h"
#include "ui/shell/session_memory.h"
#include "ui/shell/welcome.h"

namespace kerf::ui::inline shell {
namespace {

QStringList localPaths(const QMimeData* data) {
  QStringList paths;
  for (const auto& url : data->urls())
    if (url.isLocalFile()) paths << url.toLocalFile();
  return paths;
}

}  // namespace

void MainWindow::open(const QStringList& paths) {
  if (paths.isEmpty()) return;
  m_banner->hide();
  m_session.open(paths);
}

/// What has been read is offered again; what was refused is not.
void MainWindow::rememberOpened() {
  const auto before = m_preferences.recent();
  for (const auto& capture : m_session.captures()) {
    const auto path = QString::fromStdString(capture->name);
    const bool file = !capture->loading && QFileInfo(path).isAbsolute();
    const bool pasted = QFileInfo(path).fileName().startsWith("pasted_");
    if (file && !capture->error.empty()) m_preferences.removeRecent(path);
    if (file && !pasted && capture->error.empty() && !m_offered.contains(path)) {
      m_offered.insert(path);
      m_preferences.addRecent(path);
    }
  }
  if (m_preferences.recent() != before) m_welcome->setRecent(m_preferences.recent());
}

void MainWindow::chooseFiles() {
  const auto folder = m_preferences.value("folder").toString();
  const auto paths = QFileDialog::getOpenFileNames(this, tr("Open captures"), folder,
                                                   tr("All files (*);;Captures (*.py *.txt *.pt2 *.log *.gz *.dot)"));
  if (paths.isEmpty()) return;
  m_preferences.set("folder", QFileInfo(paths.first()).absolutePath());
  open(paths);
}

void MainWindow::chooseFolder() {
  const auto path =
      QFileDialog::getExistingDirectory(this, tr("Open a folder"), m_preferences.value("folder").toString());
  if (path.isEmpty()) return;
  m_preferences.set("folder", path);
  open({path});
}

void MainWindow::fillRecent() {
  m_recentMenu->clear();
  for (const auto& path : m_preferences.recent()) m_recentMenu->addAction(path, this, [this, path] { open({path}); });
  if (m_recentMenu->isEmpty()) m_recentMenu->addAction(tr("Nothing yet"))->setEnabled(false);
}

QString MainWindow::chooseExportFolder() {
  const auto folder = QFileDialog::getExistingDirectory(this, tr("Export repro.py and storages into"),
                                                        m_preferences.value("exportFolder").toString());
  if (!folder.isEmpty()) m_preferences.set("exportFolder", folder);
  return folder;
}

void MainWindow::exportRepro() {
  if (const auto folder = chooseExportFolder(); !folder.isEmpty()) m_session.exportTo(folder);
}

void MainWindow::exportMinified(const QString& format) {
  if (format == "repro") {
    if (const auto folder = chooseExportFolder(); !folder.isEmpty()) m_session.exportMinified(folder);
    return;
  }
  const bool zip = format == "zip";
  const auto path =
      QFileDialog::getSaveFileName(this, zip ? tr("Save the repro") : tr("Save the issue"),
                                   zip ? "repro.zip" : "issue.md", zip ? tr("Zip (*.zip)") : tr("Markdown (*.md)"));
  if (!path.isEmpty()) m_session.exportMinifiedAs(path, format);
}

void MainWindow::exportImage() {
  auto* dialog = new ExportDialog(*m_pane, m_session.jobs(),
                                  m_preferences.value("pictureFolder", QDir::homePath()).toString(), this);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  connect(dialog, &ExportDialog::saved, this, [this](const QString& path) {
    m_preferences.set("pictureFolder", QFileInfo(path).absolutePath());
    statusBar()->showMessage(tr("Saved %1").arg(path), 8000);
  });
  dialog->open();
}

void MainWindow::showContextMenu(int node, const QPoint& position) {
  QMenu menu(this);
  if (node >= 0) {
    const auto doc = m_session.graph()->nodes[std::size_t(node)];
    m_session.selectNode(node);
    menu.addAction(tr("Copy name"), this, [doc] { QApplication::clipboard()->setText(text(doc.name)); });
    menu.addAction(tr("Copy target"), this, [doc] { QApplication::clipboard()->setText(text(doc.target)); });
    menu.addSeparator();
    menu.addAction((*m_actions)["centre"]);
    menu.addAction(tr("Show in source"), this, [this] { raisePanel("source"); });
    if (m_session.shownProgram() >= 0) menu.addAction((*m_actions)["showInProgram"]);
    if (doc.opcode == "call_function") {
      const auto name = text(doc.name);
      auto* pin = menu.addAction(tr("Keep when minifying"), this, [this, name](bool on) { m_session.pin(name, on); });
      pin->setCheckable(true);
      pin->setChecked(m_session.pins().contains(name));
    }
    menu.addSeparator();
  }
  menu.addAction((*m_actions)["fit"]);
  menu.addAction((*m_actions)["exportImage"]);
  menu.exec(position);
}

/// By menu, in a dialog that scrolls.
void MainWindow::showShortcuts() {
  QString html = "<style>td { padding: 2px 24px 2px 0; }</style>";
  const auto row = [](const QString& what, const QString& keys) {
    return "<tr><td>" + what.toHtmlEscaped() + "</td><td><b>" + keys.toHtmlEscaped() + "</b></td></tr>";
  };
  for (const auto* top : menuBar()->actions()) {
    QString rows;
    const std::function<void(const QMenu*)> list = [&](const QMenu* menu) {
      for (const auto* action : menu->actions()) {
        if (action->menu()) list(action->menu());
        QStringList keys;
        for (const auto& key : action->shortcuts()) keys << key.toString(QKeySequence::NativeText);
        if (!keys.isEmpty()) rows += row(QString(action->text()).remove('&').remove("…"), keys.join(tr(" or ")));
      }
    };
    if (top->menu()) list(top->menu());
    if (!rows.isEmpty()) html += "<h3>" + QString(top->text()).remove('&') + "</h3><table>" + rows + "</table>";
  }
  html += "<h3>" + tr("In the graph") + "</h3><table>" + row(tr("Walk along edges"), tr("Arrow keys")) +
          row(tr("Path to another node"), tr("Shift+click")) + row(tr("Zoom, pan"), tr("Wheel, drag")) + "</table>";
  auto* dialog = new QDialog(this);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->setObjectName("shortcutsDialog");
  dialog->setWindowTitle(tr("Keyboard shortcuts"));
  auto* browser = new QTextBrowser;
  browser->setObjectName("shortcuts");
  browser->setAccessibleName(tr("Keyboard shortcuts"));
  browser->document()->setDocumentMargin(14);
  browser->setHtml(html);
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close);
  connect(buttons, &QDialogButtonBox::rejected, dialog, &QDialog::reject);
  auto* column = new QVBoxLayout(dialog);
  column->addWidget(browser, 1);
  column->addWidget(buttons);
  dialog->resize(560, std::min(640, height() - 80));
  dialog->open();
}

void MainWindow::showHelp(const QString& page) {
  auto* help = findChild<HelpWindow*>();
  if (!help) help = new HelpWindow(this);
  help->showPage(page);
  help->raise();
  help->activateWindow();
}

void MainWindow::showAbout() {
  QMessageBox box(QMessageBox::Information, tr("About Kerf Studio"),
                  tr("<h3>Kerf Studio</h3><p>Graph debugger and minifier for PyTorch compiler graphs.</p>"
                     "<p>Files are parsed, never executed; graphs run only in child processes.</p>"
                     "<p>Version %1. Apache License 2.0. Built with Qt %2.</p>")
                      .arg(QApplication::applicationVersion(), qVersion()),
                  QMessageBox::Ok, this);
  box.setTextFormat(Qt::RichText);
  box.setIconPixmap(windowIcon().pixmap(64));
  box.exec();
}

/// A graph that is shown for the first time goes to the stage in which it was left.
void MainWindow::followStage() {
  const auto& place = m_session.location();
  const auto capture = m_session.capture(place.capture);
  if (!capture || !m_session.graph()) return;
  const auto name = text(capture->path) + QString("#%1").arg(place.graph);
  const bool first = !m_seen.contains({place.capture, place.graph});
  m_seen.insert({place.capture, place.graph});
  if (first && place.aotStage.empty() && m_stages.contains(name))
    return m_session.showAotStage(m_stages.value(name).toString().toStdString());
  if (place.aotStage.empty())
    m_stages.remove(name);
  else
    m_stages.insert(name, QString::fromStdString(place.aotStage));
}

/// Of what was opened lately only, so that the list does not grow for ever.
void MainWindow::saveStages() {
  const auto recent = m_preferences.recent();
  QVariantMap kept;
  for (auto left = m_stages.constBegin(); left != m_stages.constEnd(); ++left)
    if (std::ranges::any_of(recent, [&](const QString& path) { return left.key().startsWith(path); }))
      kept.insert(left.key(), left.value());
  m_preferences.set("stages", kept);
}

/// Whatever ends the program, what was open comes back.
void MainWindow::rememberSession() {
  const auto session = rememberedSession(*this);
  if (session.isEmpty() && m_session.busy()) return m_saveSoon.start();  // it is still being read
  m_preferences.set("session", session);
  m_preferences.sync();
}

void MainWindow::closeEvent(QCloseEvent* event) {
  m_preferences.set("geometry", saveGeometry());
  setGraphAlone(false);
  m_preferences.set("state" + screenName(), m_docks.isEmpty() ? saveState() : m_docks);
  saveStages();
  m_preferences.set("hideUnchanged", m_passes->hideUnchanged().isChecked());
  m_saveSoon.stop();
  rememberSession();
  m_preferences.set("columns", columnWidths(*this));
  QMainWindow::closeEvent(event);
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
  if (localPaths(event->mimeData()).isEmpty()) return;
  m_welcome->setHot(true);
  event->acceptProposedAction();
}

void MainWindow::dragLeaveEvent(QDragLeaveEvent*) { m_welcome->setHot(false); }

void MainWindow::dropEvent(QDropEvent* event) {
  m_welcome->setHot(false);
  open(localPaths(event->mimeData()));
  event->acceptProposedAction();
}

}  // namespace kerf::ui::inline shell
