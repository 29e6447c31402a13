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

namespace kerf::ui::inline panels {

class AccuracyPanel : public QWidget {
  Q_OBJECT

 public:
  explicit AccuracyPanel(Session& session, QWidget* parent = nullptr);
  PlantPicker& plant() { return *m_plant; }
  DataTable& outputs() { return *m_outputTable; }
  DataTable& nodes() { return *m_nodeTable; }
  QString verdict() const;
  void run();

 private:
  QWidget* buildBar();
  QWidget* buildTables();
  void showAccuracy();
  void showVerdict(const AccuracyDoc& doc);

  Session& m_session;
  PlantPicker* m_plant;
  OutputModel* m_outputs;
  NodeAccuracyModel* m_nodes;
  DataTable* m_outputTable;
  DataTable* m_nodeTable;
  QPushButton* m_run;
  QPushButton* m_cancel;
  QLabel* m_verdict;
  QLabel* m_hint;
  QWidget* m_tables;
};

}  // namespace kerf::ui::inline panels
