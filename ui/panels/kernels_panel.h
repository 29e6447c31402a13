// KernelsPanel: what the compiler made of the graph: fusion groups and extern kernels, with their loop IR and beside it
// what became of that: LLVM IR or assembly. A line of either marks those of the other that belong to it; one that reads
// or writes a node's value selects the node, and the selected node's kernel and lines are marked.
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
  /// LLVM IR or assembly, as the tab says.
  CodeView& lowered() { return *m_lowered; }
  QTabBar& forms() { return *m_tabs; }

 signals:
  /// Nodes of the kernel that the user chose.
  void kernelPicked(const QStringList& nodes);

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  void showKernels();
  void showCode();
  void showNode();
  void showLowered();
  void markNode();
  void pickLine(int line);
  void pickLowered(int line);
  void markLowered(const QSet<int>& loopLines, bool bringIntoView);
  void selectNodesOf(const QSet<int>& loopLines);
  const std::vector<int>& loopLines() const;
  QStringList nodesOn(const QString& line) const;

  Session& m_session;
  KernelModel* m_model;
  DataTable* m_table;
  QTabBar* m_tabs;
  CodeView *m_code, *m_lowered;
  bool m_picking = false;  ///< a line was clicked: its kernel stays
};

}  // namespace kerf::ui::inline panels
