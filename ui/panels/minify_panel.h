// MinifyPanel: starts, watches and cancels a reduction; its accepted steps can be browsed.
#pragma once

#include <QWidget>

#include "ui/models/tables.h"
#include "ui/panels/backend_picker.h"
#include "ui/panels/plant_picker.h"
#include "ui/panels/table_view.h"
#include "ui/session/session.h"

class QLabel;
class QListWidget;
class QProgressBar;
class QPushButton;
class QToolButton;

namespace kerf::ui::inline panels {

class CandidateView;
class MinifiedGraphs;
class ReductionChart;

class MinifyPanel : public QWidget {
  Q_OBJECT

 public:
  explicit MinifyPanel(Session& session, QWidget* parent = nullptr);
  PlantPicker& plant() { return *m_plant; }
  DataTable& steps() { return *m_table; }
  CandidateView& candidate();
  MinifiedGraphs& graphs() { return *m_graphs; }
  /// What each of the parallel queries does.
  QString workers() const;
  QListWidget& findings() { return *m_findings; }
  QString status() const;
  /// How the next minification is done; of the planted fault and the pins the session knows.
  const workbench::MinifyRequest& settings() const { return m_settings; }
  void setSettings(const workbench::MinifyRequest& settings);
  void askSettings();
  void start();
  /// Times differ from run to run: a screenshot leaves them out.
  void setTimesVisible(bool visible) { m_times = visible; }

 signals:
  /// Of the minified repro: "repro", "zip" or "issue".
  void exportRequested(const QString& format);
  void settingsChanged();

 private:
  QWidget* buildBar();
  QWidget* buildContent();
  void buildExport();
  void showFindings(const MinifyDoc* doc);
  void showMinified();
  void showPlace();
  void showControls();
  int chosenStep() const;
  QString statusOf(const MinifyDoc& doc) const;

  Session& m_session;
  PlantPicker* m_plant;
  BackendPicker* m_backend;
  StepModel* m_model;
  DataTable* m_table;
  ReductionChart* m_chart;
  MinifiedGraphs* m_graphs;
  QLabel* m_workers;
  QListWidget* m_findings;
  QWidget* m_found = nullptr;
  workbench::MinifyRequest m_settings;
  QToolButton* m_ask = nullptr;
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
