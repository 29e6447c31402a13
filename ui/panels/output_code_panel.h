// OutputCodePanel: the programs that PyTorch generated for the shown graph, as recorded. A line selects what it
// computes or touches, and the selected node's lines are marked.
#pragma once

#include <QHash>
#include <QWidget>

#include "ui/models/tables.h"
#include "ui/panels/code_view.h"
#include "ui/panels/table_view.h"
#include "ui/session/session.h"

class QComboBox;
class QLabel;
class QSplitter;

namespace kerf::ui::inline panels {

class OutputCodePanel : public QWidget {
  Q_OBJECT

 public:
  explicit OutputCodePanel(Session& session, QWidget* parent = nullptr);
  QComboBox& programs() { return *m_programs; }
  DataTable& calls() { return *m_table; }
  CodeView& code() { return *m_code; }
  QString status() const;
  /// Shows the program of a record of the current capture, once the programs of the shown graph are known; else
  /// recordMissing() follows.
  void showRecord(int record);

 signals:
  /// Nodes of the lines that the user chose.
  void nodesPicked(const QStringList& nodes);
  /// The record that was to be shown is no program of the shown graph.
  void recordMissing();

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  void ask();
  void showPrograms();
  void showProgram(int program);
  void showNode();
  void mark(const std::string& node);
  void pickLine(int line);
  void pickCall(int row);
  void say(const workbench::CodeSpan& span, int line);
  int spanAt(int line) const;
  int programWith(const std::string& node) const;
  const workbench::RecordedProgram* program() const;

  Session& m_session;
  RecordedCodePtr m_shown;
  QComboBox* m_programs;
  QLabel* m_status;
  QLabel* m_hint;
  CodeSpanModel* m_model;
  DataTable* m_table;
  CodeView* m_code;
  QSplitter* m_content;
  std::vector<std::unordered_map<std::string, std::vector<int>>> m_spansOf;  ///< by program: of each node
  int m_program = -1;
  int m_wanted = -1;      ///< record that is shown once its programs are known
  int m_pickedSpan = -1;  ///< another click on it goes on to its next node
  int m_pickedNode = -1;
  bool m_picking = false;  ///< a line was clicked: it stays
};

}  // namespace kerf::ui::inline panels
