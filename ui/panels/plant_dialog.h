// PlantDialog: chooses a fault to plant, to try Kerf with: an op or a pass of the shown graph, and what goes wrong.
#pragma once

#include "ui/panels/roomy_dialog.h"
#include "ui/session/session.h"

class QComboBox;

namespace kerf::ui::inline panels {

class PlantDialog : public RoomyDialog {
  Q_OBJECT

 public:
  explicit PlantDialog(Session& session, QWidget* parent = nullptr);
  /// "relu=accuracy", or empty for no fault.
  QString plant() const;
  QComboBox& op() { return *m_op; }
  QComboBox& kind() { return *m_kind; }

 private:
  QComboBox *m_op, *m_kind;
};

}  // namespace kerf::ui::inline panels
