// AccuracyPanel: runs the comparison in a child process and shows its verdicts per output and per node.
#pragma once

#include <QVariantMap>
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
  /// The verdict of the shown graph with its place, to come back to: empty where there is none, and of planted faults.
  QVariantMap kept() const;
  /// Says the verdict again when its graph is shown, until it is compared anew: values are not kept.
  void setEarlier(const QVariantMap& kept);
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
  QString earlierVerdict() const;
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
  QVariantMap m_earlier;  ///< verdict and place of the session before
};

}  // namespace kerf::ui::inline panels
