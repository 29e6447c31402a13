// AccuracyPanel: runs the comparison in a child process and shows its verdicts per output and per node.
#pragma once

#include <QWidget>

#include "ui/models/tables.h"
#include "ui/panels/plant_picker.h"
#include "ui/panels/table_view.h"
#include "ui/session/session.h"

class QLabel;
class QPushButton;
class QStackedLayout;

namespace kerf::ui::inline graph_view {
class ElidedLabel;
}

namespace kerf::ui::inline panels {

class GrowthChart;

class AccuracyPanel : public QWidget {
  Q_OBJECT

 public:
  explicit AccuracyPanel(Session& session, QWidget* parent = nullptr);
  PlantPicker& plant() { return *m_plant; }
  DataTable& outputs() { return *m_outputTable; }
  DataTable& nodes() { return *m_nodeTable; }
  DataTable& trials() { return *m_trialTable; }
  QString verdict() const;
  /// What the bisection found; empty if there was none.
  QString bisection() const;
  void run();
  void bisect(workbench::BisectRequest::By by);
  GrowthChart& growth() { return *m_growth; }

 signals:
  /// PyTorch is to be bisected, of which others know where it is.
  void torchBisectRequested(kerf::workbench::BisectRequest::By by);
  /// The next node is to be seen that is NaN or infinite; the first one that is beyond the limit.
  void oddRequested();
  void badRequested();

 private:
  QWidget* buildBar();
  QWidget* buildTables();
  void showAccuracy();
  void showVerdict(const AccuracyDoc& doc);
  void showBisection();
  void showHint();
  void showDoubts(const AccuracyDoc& doc);
  QString oddText(const AccuracyDoc& doc) const;

  Session& m_session;
  PlantPicker* m_plant;
  OutputModel* m_outputs;
  NodeAccuracyModel* m_nodes;
  DataTable* m_outputTable;
  DataTable* m_nodeTable;
  TrialModel* m_trials;
  DataTable* m_trialTable;
  QPushButton* m_run;
  QPushButton* m_bisect;
  QPushButton* m_cancel;
  QPushButton* m_go;  ///< to the node that the verdict names
  QLabel* m_doubts;   ///< why the verdict may not be the capture's
  ElidedLabel* m_verdict;
  QLabel* m_bisection;
  QLabel* m_hint;
  GrowthChart* m_growth = nullptr;  ///< in m_comparison
  QWidget* m_comparison;
  QWidget* m_trialBox;
  QWidget* m_tables;
};

}  // namespace kerf::ui::inline panels
