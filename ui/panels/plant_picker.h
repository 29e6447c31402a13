// PlantPicker: says that a fault is planted in the compiled side, with a way to change it and to take it out. Nothing is
// to be seen while none is.
#pragma once

#include <QWidget>

#include "ui/session/session.h"

class QToolButton;

namespace kerf::ui::inline panels {

class PlantPicker : public QWidget {
  Q_OBJECT

 public:
  explicit PlantPicker(Session& session, QWidget* parent = nullptr);
  /// "relu=accuracy", or empty for no fault: the session's.
  QString plant() const { return m_session.plant(); }
  void setPlant(const QString& plant) { m_session.setPlant(plant); }
  /// Whether the shown graph has what is to be broken; says so where it has not.
  bool accepted();

 signals:
  /// Another fault is to be chosen.
  void choiceRequested();

 private:
  void showPlant();

  Session& m_session;
  QToolButton *m_chip, *m_remove;
};

}  // namespace kerf::ui::inline panels
