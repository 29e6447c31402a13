// MinifyPanel: starts, watches and cancels a reduction; its accepted steps can be browsed.
#pragma once

#include <QWidget>

#include "ui/models/tables.h"
#include "ui/panels/plant_picker.h"
#include "ui/panels/table_view.h"
#include "ui/session/session.h"

class QLabel;
class QProgressBar;
class QPushButton;

namespace kerf::ui::inline panels {

class ReductionChart;

class MinifyPanel : public QWidget {
  Q_OBJECT

 public:
  explicit MinifyPanel(Session& session, QWidget* parent = nullptr);
  PlantPicker& plant() { return *m_plant; }
  DataTable& steps() { return *m_table; }
  QString status() const;
  void start();
  /// Times differ from run to run: a screenshot leaves them out.
  void setTimesVisible(bool visible) { m_times = visible; }

 signals:
  void exportRequested();

 private:
  QWidget* buildBar();
  void showMinified();
  void showPlace();
  void showControls();
  int chosenStep() const;
  QString statusOf(const MinifyDoc& doc) const;

  Session& m_session;
  PlantPicker* m_plant;
  StepModel* m_model;
  DataTable* m_table;
  ReductionChart* m_chart;
  QPushButton* m_start;
  QPushButton* m_cancel;
  QPushButton* m_pause;
  QPushButton* m_undo;
  QPushButton* m_openRepro;
  QPushButton* m_export;
  QLabel* m_status;
  QLabel* m_hint;
  QWidget* m_content;
  bool m_times = true;
};

}  // namespace kerf::ui::inline panels
