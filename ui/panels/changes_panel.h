// ChangesPanel: what differs between the shown graph and the one that it is compared with: how often each op is called,
// and the nodes that were added, went away, were rewritten or are called otherwise.
#pragma once

#include <QWidget>

#include "ui/models/tables.h"
#include "ui/panels/table_view.h"
#include "ui/session/session.h"

class QLabel;
class QSplitter;

namespace kerf::ui::inline panels {

class ChangesPanel : public QWidget {
  Q_OBJECT

 public:
  explicit ChangesPanel(Session& session, QWidget* parent = nullptr);
  DataTable& ops() { return *m_opTable; }
  DataTable& nodes() { return *m_nodeTable; }
  QString summary() const;

 signals:
  /// A node of the earlier graph that is gone.
  void goneNodePicked(const QString& name);

 private:
  void showDifference();
  void pick(int row);

  Session& m_session;
  QLabel* m_summary;
  OpCountModel* m_ops;
  ChangeModel* m_nodes;
  DataTable* m_opTable;
  DataTable* m_nodeTable;
  QSplitter* m_tables;
};

}  // namespace kerf::ui::inline panels
