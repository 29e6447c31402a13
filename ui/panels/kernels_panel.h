// KernelsPanel: what the compiler made of the graph: fusion groups and extern kernels, with loop IR and LLVM IR.
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

 signals:
  /// Nodes of the kernel that the user chose.
  void kernelPicked(const QStringList& nodes);

 private:
  void showKernels();
  void showCode();

  Session& m_session;
  KernelModel* m_model;
  DataTable* m_table;
  QTabBar* m_tabs;
  CodeView* m_code;
};

}  // namespace kerf::ui::inline panels
