// MainWindow: captured programs: asking before one runs, from a line to its nodes, and from a node to its line.
#include <algorithm>

#include <QFileDialog>
#include <QFileInfo>

#include "ui/panels/capture_program_dialog.h"
#include "ui/panels/program_panel.h"
#include "ui/shell/banner.h"
#include "ui/shell/editor.h"
#include "ui/shell/main_window.h"

namespace kerf::ui::inline shell {

void MainWindow::chooseProgram() {
  const auto path = QFileDialog::getOpenFileName(
      this, tr("Capture a program"), m_preferences.value("folder").toString(), tr("Python programs (*.py)"));
  if (path.isEmpty()) return;
  m_preferences.set("folder", QFileInfo(path).absolutePath());
  askCapture(path);
}

/// Nothing of a file runs before the user said so.
void MainWindow::askCapture(const QString& path) {
  auto* dialog = new CaptureProgramDialog(path, this);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  connect(dialog, &QDialog::accepted, this, [this, dialog] {
    m_banner->hide();
    m_session.captureProgram(dialog->request());
  });
  dialog->open();
}

void MainWindow::connectProgram() {
  connect(&m_session, &Session::programMet, this, &MainWindow::askCapture);
  connect(m_program, &ProgramPanel::nodePicked, this, &MainWindow::goToProgramNode);
  connect(m_programSource, &ProgramSource::lineChosen, this, &MainWindow::showNodesOfLine);
  connect(m_programSource, &ProgramSource::nodesAsked, this, &MainWindow::showNodesOfLine);
  const auto edit = [this](const QString& file, int line) {
    if (const auto problem = openInEditor(file, line); !problem.isEmpty())
      m_banner->showError(tr("Cannot open the editor"), problem);
  };
  connect(m_program, &ProgramPanel::editorAsked, this, edit);
  connect(m_programSource, &ProgramSource::editorAsked, this, edit);
  for (const auto show : {&MainWindow::showCentre, &MainWindow::showTitle})
    connect(&m_session, &Session::programChanged, this, show);
}

void MainWindow::goToProgramNode(int graph, const QString& node) {
  m_places->go(WorkPlace::Graph);
  raisePanel("program");
  m_session.go({m_session.shownProgram(), graph, Location::Stage::Captured, -1, node});
}

/// In the shown graph, if that has nodes of the line; else in the first graph that has some.
void MainWindow::showNodesOfLine(int line) {
  const int capture = m_session.shownProgram();
  const auto program = m_session.program(capture);
  if (!program) return;
  const auto rows = programNodes(*program, line);
  const int shown = reportGraph(*program, m_session.location().graph);
  QStringList names;
  for (const auto& row : rows)
    if (row.graph == shown) names << row.name;
  if (!names.isEmpty()) {
    const auto found = markNodes(names);
    if (!found.isEmpty()) m_session.selectNode(*std::min_element(found.begin(), found.end()));
    if (!found.isEmpty()) m_pane->view().reveal(m_session.node());
    return;
  }
  for (const auto& row : rows)
    if (const int graph = program->graphs[std::size_t(row.graph)].stored; graph >= 0)
      return m_session.go({capture, graph, Location::Stage::Captured, -1, row.name});
}

/// The whole program, at the line of the selected node.
void MainWindow::showInProgram() {
  const int capture = m_session.shownProgram();
  const auto program = m_session.program(capture);
  const auto* node = m_session.nodeDoc();
  if (capture < 0) return m_session.noted(tr("This capture is not a captured program."));
  const int line =
      program && node ? lineOfNode(*program, reportGraph(*program, m_session.location().graph), node->name) : 0;
  m_places->go(WorkPlace::Overview);
  if (line > 0) m_program->choose(line);
  m_program->source().setFocus();
}

}  // namespace kerf::ui::inline shell
