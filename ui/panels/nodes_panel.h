// NodesPanel: every node of the shown graph as a table that can be filtered and sorted.
#pragma once

#include <QTimer>
#include <QWidget>

#include "ui/models/tables.h"
#include "ui/panels/table_view.h"
#include "ui/session/session.h"

class QLineEdit;
class QLabel;

namespace kerf::ui::inline panels {

class NodesPanel : public QWidget {
  Q_OBJECT

 public:
  explicit NodesPanel(Session& session, QWidget* parent = nullptr);
  DataTable& table() { return *m_table; }
  QLineEdit& filter() { return *m_filter; }

 private:
  void showGraph();
  void applyFilter();

  Session& m_session;
  GraphDocPtr m_shown;  ///< the rows are of it
  NodeModel* m_model;
  DataTable* m_table;
  QLineEdit* m_filter;
  QLabel* m_count;
  QTimer m_delay;
};

}  // namespace kerf::ui::inline panels
