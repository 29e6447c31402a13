// CaptureProgramDialog: asks before a Python program is run, and how torch.compile is to compile it.
#pragma once

#include "ui/panels/roomy_dialog.h"
#include "ui/session/documents.h"

class QCheckBox;
class QComboBox;
class QLineEdit;
class QSpinBox;

namespace kerf::ui::inline panels {

class CaptureProgramDialog : public RoomyDialog {
  Q_OBJECT

 public:
  explicit CaptureProgramDialog(const QString& path, QWidget* parent = nullptr);
  workbench::CaptureProgramRequest request() const;

 private:
  QString m_path;
  QLineEdit* m_function;
  QComboBox *m_backend, *m_sizes;
  QCheckBox* m_whole;
  QSpinBox* m_seconds;
};

}  // namespace kerf::ui::inline panels
