// PartitionPanel: what forward saves for backward at a memory budget: both parts as columns with the cut between them,
// the cut's values as a table, and what each budget costs.
#pragma once

#include <QWidget>

#include "ui/models/tables.h"
#include "ui/panels/table_view.h"
#include "ui/session/session.h"

class QLabel;
class QPushButton;
class QSlider;
class QSplitter;
class QStackedWidget;
class QTabBar;

namespace kerf::ui::inline panels {

class CutView;
class ParetoChart;

class PartitionPanel : public QWidget {
  Q_OBJECT

 public:
  explicit PartitionPanel(Session& session, QWidget* parent = nullptr);
  DataTable& saved() { return *m_table; }
  QSlider& budget() { return *m_budget; }
  ParetoChart& chart() { return *m_chart; }
  CutView& cut() { return *m_cut; }
  /// "relu_3: its gradient is computed by where_1, mul_4".
  QString relation() const;
  QString summary() const;

 signals:
  /// Nodes on the other side of the selected one, when it was selected here.
  void counterpartsPicked(const QStringList& nodes);
  /// Labels for the values that the chosen budget saves ("2 KiB"), and for what is computed again.
  void cutChanged(const QHash<QString, QString>& saved, const QStringList& recomputed);

 private:
  void showPartitions();
  void showCut();
  void showNode();
  const workbench::PartitionDoc* chosen() const;

  Session& m_session;
  PartitionsDocPtr m_shown;
  SavedModel* m_model;
  DataTable* m_table;
  ParetoChart* m_chart;
  CutView* m_cut;
  QTabBar* m_tabs;
  QLabel* m_relation;
  QPushButton* m_run;
  QSlider* m_budget;
  QLabel* m_summary;
  QLabel* m_hint;
  QSplitter* m_content;
};

}  // namespace kerf::ui::inline panels
