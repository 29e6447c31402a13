// PathPanel: from the Python line to the kernel, in columns: Python, FX nodes, Inductor's code, the kernel itself.
#pragma once

#include <array>

#include <QWidget>

#include "ui/models/kernel_path.h"
#include "ui/panels/code_view.h"
#include "ui/session/session.h"

class QLabel;
class QPushButton;

namespace kerf::ui::inline panels {

class PathPanel : public QWidget {
  Q_OBJECT

 public:
  static constexpr int columns = 4;
  explicit PathPanel(Session& session, QWidget* parent = nullptr);
  CodeView& column(int at) { return *m_views[std::size_t(at)]; }
  QString title(int at) const;
  /// What the log does not have, and what is shown in its place; empty: nothing is missing.
  QString missing() const;

 signals:
  /// The user wants to see a line (from 1) of a file in the editor.
  void editorAsked(const QString& file, int line);
  /// Nodes of a line that was clicked.
  void nodesPicked(const QStringList& nodes);

 protected:
  void showEvent(QShowEvent* event) override;
  void changeEvent(QEvent* event) override;

 private:
  void ask();
  void readSource();
  void showGraph();
  void showNode();
  void showMissing();
  void show(int at, PathColumn column);
  void mark();
  void pick(int at, int line);
  void openEditor();
  const workbench::RecordedProgram* programOf(int node) const;

  Session& m_session;
  std::array<CodeView*, columns> m_views;
  std::array<QLabel*, columns> m_titles;
  std::array<PathColumn, columns> m_columns;
  QLabel* m_missing;
  QPushButton* m_editor;
  GraphDocPtr m_graph;  ///< of which the columns are
  RecordedCodePtr m_code;
  const workbench::RecordedProgram* m_program = nullptr;  ///< that is shown
  std::string m_file;
  QString m_source;
  bool m_picking = false;
};

}  // namespace kerf::ui::inline panels
