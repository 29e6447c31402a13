// ExportDialog: the graph as a picture: all of it or what is seen, in which form, how large, and where to.
#pragma once

#include "ui/graph_view/graph_pane.h"
#include "ui/graph_view/picture_export.h"
#include "ui/panels/roomy_dialog.h"

class QComboBox;
class QDoubleSpinBox;
class QLabel;
class QLineEdit;
class QPushButton;

namespace kerf::ui::inline shell {

class ExportDialog : public RoomyDialog {
  Q_OBJECT

 public:
  /// `folder`: where the picture is to go, unless the user says otherwise.
  ExportDialog(GraphPane& pane, JobQueue& jobs, const QString& folder, QWidget* parent = nullptr);
  ~ExportDialog() override;

 signals:
  void saved(const QString& path);

 private:
  void build(const QString& folder);
  Picture picture() const;
  QString format() const;
  void showPlan();
  void changeFormat();
  void browse();
  void save();
  void finished(const QString& path, const QString& problem);

  GraphPane& m_pane;
  JobQueue& m_jobs;
  QComboBox* m_part;
  QComboBox* m_format;
  QDoubleSpinBox* m_scale;
  QLineEdit* m_path;
  QLabel* m_plan;
  QPushButton* m_save;
};

}  // namespace kerf::ui::inline shell
