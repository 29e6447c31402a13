// MinifySettings: the dialog that asks who says whether a graph still fails (Kerf's engine, PyTorch, a command), and
// how long and how often it is asked.
#pragma once

#include "ui/panels/roomy_dialog.h"
#include "ui/session/documents.h"

class QCheckBox;
class QComboBox;
class QDoubleSpinBox;
class QLabel;
class QLineEdit;
class QPushButton;
class QSpinBox;
class QStackedWidget;

namespace kerf::ui::inline panels {

class InputsEditor;

class MinifySettings : public RoomyDialog {
  Q_OBJECT

 public:
  /// `symbols`: those of the graph, "s0=8"; empty: its sizes are numbers.
  explicit MinifySettings(const workbench::MinifyRequest& request, const QStringList& symbols = {},
                          QWidget* parent = nullptr);
  InputsEditor& inputs() { return *m_inputs; }
  /// What was chosen; of the graph inputs, seed and symbols; plants and pins are as they were given.
  workbench::MinifyRequest request() const;
  /// The user wants to begin with it at once.
  bool begins() const { return m_begins; }
  /// Why this cannot be run; empty: it can.
  QString problem() const;

 private:
  QWidget* enginePage();
  QWidget* torchPage();
  QWidget* commandPage();
  QWidget* searchBox();
  QLineEdit* programEdit(const QString& name, const QString& hint, QWidget** row);
  void fill(const workbench::MinifyRequest& request);
  void showProblem();

  workbench::MinifyRequest m_given;
  QComboBox* m_oracle;
  QStackedWidget* m_pages;
  QDoubleSpinBox* m_tolerance = nullptr;
  QLineEdit* m_python = nullptr;
  QComboBox* m_backend = nullptr;
  QComboBox* m_failsIf = nullptr;
  QLineEdit* m_check = nullptr;
  InputsEditor* m_inputs = nullptr;
  QSpinBox *m_jobs = nullptr, *m_votes = nullptr, *m_timeout = nullptr;
  QSpinBox *m_maxTests = nullptr, *m_maxMinutes = nullptr, *m_starts = nullptr;
  QLineEdit* m_match = nullptr;
  QCheckBox *m_any = nullptr, *m_fresh = nullptr;
  QLabel* m_problem;
  QPushButton *m_accept = nullptr, *m_now = nullptr;
  bool m_begins = false;
};

/// "PyTorch, inductor, 4 jobs": what differs from the usual, for the panel.
QString settingsText(const workbench::MinifyRequest& request);

}  // namespace kerf::ui::inline panels
