// PartitionPanel: what forward saves for backward at a memory budget: the cut's values with bytes and the reason, and
// what each budget costs.
#pragma once

#include <QWidget>

#include "ui/models/tables.h"
#include "ui/panels/table_view.h"
#include "ui/session/session.h"

class QLabel;
class QPushButton;
class QSlider;
class QSplitter;

namespace kerf::ui::inline panels {

class ParetoChart;

class PartitionPanel : public QWidget {
  Q_OBJECT

 public:
  explicit PartitionPanel(Session& session, QWidget* parent = nullptr);
  DataTable& saved() { return *m_table; }
  QSlider& budget() { return *m_budget; }
  ParetoChart& chart() { return *m_chart; }
  QString summary() const;

 signals:
  /// Labels for the values that the chosen budget saves ("2 KiB"), and for what is computed again.
  void cutChanged(const QHash<QString, QString>& saved, const QStringList& recomputed);

 private:
  void showPartitions();
  void showCut();
  const workbench::PartitionDoc* chosen() const;

  Session& m_session;
  PartitionsDocPtr m_shown;
  SavedModel* m_model;
  DataTable* m_table;
  ParetoChart* m_chart;
  QPushButton* m_run;
  QSlider* m_budget;
  QLabel* m_summary;
  QLabel* m_hint;
  QSplitter* m_content;
};

}  // namespace kerf::ui::inline panels
