// BackendPicker: whose code the compiled side is. The choice is the session's: every picker shows the same.
#pragma once

#include <QComboBox>

#include "ui/session/session.h"

namespace kerf::ui::inline panels {

class BackendPicker : public QComboBox {
  Q_OBJECT

 public:
  explicit BackendPicker(Session& session, QWidget* parent = nullptr);

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  void fill();

  Session& m_session;
};

}  // namespace kerf::ui::inline panels
