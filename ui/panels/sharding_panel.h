// ShardingPanel: the shown graph over a mesh of ranks: where each value is placed, what is moved for it and why.
#pragma once

#include <QWidget>

#include "ui/graph_view/elided_label.h"
#include "ui/models/tables.h"
#include "ui/panels/table_view.h"
#include "ui/session/session.h"

class QLineEdit;
class QPushButton;
class QSplitter;
class QTextBrowser;

namespace kerf::ui::inline panels {

class ShardingPanel : public QWidget {
  Q_OBJECT

 public:
  explicit ShardingPanel(Session& session, QWidget* parent = nullptr);
  DataTable& table() { return *m_table; }
  QLineEdit& mesh() { return *m_mesh; }
  QLineEdit& placements() { return *m_placements; }
  QPushButton& run() { return *m_run; }
  QString headline() const;
  /// Why the selected node is placed as it is.
  QString why() const;
  /// What stands where nothing is known yet.
  QString hint() const;

 private:
  void build();
  void shard();
  void showSharding();
  void showNode();
  void proposeInput();

  Session& m_session;
  ShardingModel* m_model;
  DataTable* m_table;
  QLineEdit *m_mesh, *m_placements;
  QPushButton* m_run;
  ElidedLabel* m_headline;
  QLabel* m_hint;
  QTextBrowser* m_why;
  QSplitter* m_content;
  ShardingDocPtr m_shown;
};

}  // namespace kerf::ui::inline panels
