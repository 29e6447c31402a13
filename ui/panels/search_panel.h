// SearchPanel: the nodes that the search of the tool bar finds, one a row; going to a row zooms to its node.
#pragma once

#include <QWidget>

#include "ui/graph_view/graph_pane.h"
#include "ui/models/tables.h"
#include "ui/panels/table_view.h"

class QLabel;

namespace kerf::ui::inline panels {

class SearchPanel : public QWidget {
  Q_OBJECT

 public:
  SearchPanel(Session& session, GraphPane& pane, QWidget* parent = nullptr);
  DataTable& table() { return *m_table; }
  /// "3 of 94 nodes", or why the search finds nothing.
  QString said() const;

 private:
  void showHits();

  Session& m_session;
  GraphPane& m_pane;
  NodeModel* m_model;
  DataTable* m_table;
  QLabel* m_said;
  GraphDocPtr m_graph;  ///< whose nodes are listed
  std::vector<int> m_listed;
};

}  // namespace kerf::ui::inline panels
