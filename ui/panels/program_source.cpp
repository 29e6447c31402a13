#include "ui/panels/program_source.h"

#include <QMenu>

#include "ui/models/theme.h"

namespace kerf::ui::inline panels {
namespace {

QColor signColor(ProgramLine::Kind kind) {
  if (kind == ProgramLine::Kind::Break) return theme().bad;
  return kind == ProgramLine::Kind::Frame ? theme().good : theme().warn;
}

}  // namespace

ProgramSource::ProgramSource(Session& session, QWidget* parent) : CodeView(parent), m_session(session) {
  setObjectName("programSource");
  setAccessibleName(tr("Source of the program"));
  connect(this, &CodeView::linePicked, this, [this](int line) {
    choose(line + 1);
    emit lineChosen(line + 1);
  });
  connect(this, &CodeView::lineEntered, this, [this](int line) { emit nodesAsked(line + 1); });
  connect(this, &CodeView::menuAsked, this, &ProgramSource::fillMenu);
  for (const auto signal : {&Session::programChanged, &Session::locationChanged, &Session::capturesChanged})
    connect(&session, signal, this, &ProgramSource::showProgram);
  for (const auto signal : {&Session::nodeChanged, &Session::graphChanged})
    connect(&session, signal, this, &ProgramSource::showNode);
  showProgram();
}

void ProgramSource::showProgram() {
  const int capture = m_session.shownProgram();
  m_session.findProgram(capture);
  const auto program = m_session.program(capture);
  setHint(capture < 0 ? tr("The source of a captured program appears here: File > Capture a program…")
          : !program  ? tr("Reading the program…")
                      : program->error);
  if (program == m_program) return;
  m_program = program;
  m_remarks = program ? programLines(*program) : ProgramLines();
  setCode(program ? text(program->source) : QString());
  mark();
  showNode();
}

/// Signs of what happened, and a bar at lines that nodes come from, in one colour for each graph.
void ProgramSource::mark() {
  if (!m_program) return;
  QHash<int, LineSign> signs;
  for (const auto& [line, remark] : m_remarks)
    signs[line - 1] = {signColor(remark.kind), letterOf(remark.kind), remark.tip};
  setSigns(signs);
  QHash<int, QColor> colors;
  for (const auto& row : programNodes(*m_program, 0))
    if (row.line > 0) colors[row.line - 1] = row.graph % 2 == 0 ? theme().accent : theme().kind(NodeKind::Reduction);
  setLineColors(colors);
}

void ProgramSource::choose(int line) {
  const auto remark = m_remarks.find(line);
  setCurrentLine(line - 1);
  setNote(line - 1, remark == m_remarks.end() ? QStringList() : remark->second.note);
}

/// Without a note: the user looks at the graph.
void ProgramSource::showNode() {
  const auto* node = m_session.nodeDoc();
  if (!m_program || !node || m_session.location().capture != m_session.shownProgram()) return;
  const int graph = reportGraph(*m_program, m_session.location().graph);
  const int line = lineOfNode(*m_program, graph, node->name);
  if (line > 0 && line != chosenLine()) choose(line);
}

void ProgramSource::fillMenu(QMenu* menu, int line) {
  if (!m_program || line < 0) return;
  const auto rows = programNodes(*m_program, line + 1);
  auto* nodes = menu->addAction(tr("Show the nodes of this line"), this, [this, line] { emit nodesAsked(line + 1); });
  nodes->setEnabled(!rows.empty());
  menu->addAction(tr("Open in editor"), this,
                  [this, line] { emit editorAsked(QString::fromStdString(m_program->path), line + 1); });
}

}  // namespace kerf::ui::inline panels
