// ProgramSource: the text of a captured program, with graph breaks and recompiles at their lines.
#pragma once

#include "ui/models/program_rows.h"
#include "ui/panels/code_view.h"
#include "ui/session/session.h"

namespace kerf::ui::inline panels {

/// Follows the session: its program, and the line of the selected node.
class ProgramSource : public CodeView {
  Q_OBJECT

 public:
  explicit ProgramSource(Session& session, QWidget* parent = nullptr);
  /// Goes to a line, counted from 1, and opens what there is to say below it.
  void choose(int line);
  /// From 1; 0: none.
  int chosenLine() const { return currentLine() + 1; }
  const ProgramLines& remarks() const { return m_remarks; }

 signals:
  /// A line was clicked or gone to, from 1.
  void lineChosen(int line);
  /// The nodes of a line are to be seen: Enter, a double click, or its menu.
  void nodesAsked(int line);
  void editorAsked(const QString& file, int line);

 private:
  void showProgram();
  void showNode();
  void mark();
  void fillMenu(QMenu* menu, int line);

  Session& m_session;
  ProgramDocumentPtr m_program;
  ProgramLines m_remarks;
};

}  // namespace kerf::ui::inline panels
