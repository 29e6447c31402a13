// KernelsPanel: what the compiler made of the graph: fusion groups and extern kernels, with loop IR and LLVM IR. A line
// that reads or writes a node's value selects the node, and the selected node's kernel and lines are marked.
#pragma once

#include <QWidget>

#include "ui/models/tables.h"
#include "ui/panels/code_view.h"
#include "ui/panels/table_view.h"
#include "ui/session/session.h"

class QLabel;
class QTabBar;

namespace kerf::ui::inline panels {

class KernelsPanel : public QWidget {
  Q_OBJECT

 public:
  explicit KernelsPanel(Session& session, QWidget* parent = nullptr);
  DataTable& table() { return *m_table; }
  CodeView& code() { return *m_code; }

 signals:
  /// Nodes of the kernel that the user chose.
  void kernelPicked(const QStringList& nodes);

 private:
  void showKernels();
  void showCode();
  void showNode();
  void markNode();
  void pickLine(int line);
  QStringList nodesOn(const QString& line) const;

  Session& m_session;
  KernelModel* m_model;
  DataTable* m_table;
  QTabBar* m_tabs;
  CodeView* m_code;
  bool m_picking = false;  ///< a line was clicked: its kernel stays
};

}  // namespace kerf::ui::inline panels
