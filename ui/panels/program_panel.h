// ProgramPanel: a captured program as a whole: source at the left; frames, what happened, bytecode, guards, graphs, nodes
// and output at the right.
#pragma once

#include <QVariantMap>
#include <QWidget>

#include "ui/models/program_rows.h"
#include "ui/panels/program_source.h"
#include "ui/panels/table_view.h"
#include "ui/session/session.h"

class QLabel;
class QLineEdit;
class QPlainTextEdit;
class QSplitter;
class QTabWidget;

namespace kerf::ui::inline panels {

class ProgramPanel : public QWidget {
  Q_OBJECT

 public:
  enum class Tab { Events, Bytecode, Guards, Graphs, Nodes, Output };

  explicit ProgramPanel(Session& session, QWidget* parent = nullptr);
  ProgramSource& source() { return *m_source; }
  DataTable& frames() { return *m_frames; }
  DataTable& guards() { return *m_guards; }
  DataTable& graphs() { return *m_graphs; }
  DataTable& nodes() { return *m_nodes; }
  DataTable& events() { return *m_events; }
  CodeView& original() { return *m_original; }
  CodeView& modified() { return *m_modified; }
  QLineEdit& guardFilter() { return *m_guardFilter; }
  QString totals() const;
  QString output() const;
  void showTab(Tab tab);
  Tab tab() const;
  /// Goes to a line of the program: its frame, bytecode and nodes.
  void choose(int line);

  /// Line, frame, tab and filter, to come back to.
  QVariantMap place() const;
  /// As soon as the program is there.
  void restore(const QVariantMap& place);

 signals:
  /// A graph of the capture is to be seen, and a node of it; no node: the graph alone.
  void nodePicked(int graph, const QString& node);
  void editorAsked(const QString& file, int line);

 private:
  void showProgram();
  void showFrame();
  void showBytecode();
  void filterGuards();
  void showNodes(int line);
  void markBytecode(int line);
  void openGraph(int graph, const QString& node);
  QWidget* bytecodePage();
  QWidget* guardsPage();
  void connectTables();
  const workbench::ProgramFrame* frame() const;

  Session& m_session;
  ProgramDocumentPtr m_program;
  QLabel *m_title, *m_totals;
  ProgramSource* m_source;
  ProgramFrameModel* m_frameModel;
  ProgramGuardModel* m_guardModel;
  ProgramGraphModel* m_graphModel;
  ProgramNodeModel* m_nodeModel;
  ProgramEventModel* m_eventModel;
  DataTable *m_frames, *m_guards, *m_graphs, *m_nodes, *m_events;
  CodeView *m_original, *m_modified;
  ProgramBytecode m_originalRows, m_modifiedRows;
  QLineEdit* m_guardFilter;
  QPlainTextEdit* m_output;
  QTabWidget* m_tabs;
  QSplitter* m_content;
  QVariantMap m_wanted;  ///< a place that is gone to once the program is there
};

}  // namespace kerf::ui::inline panels
