// PlantPicker: chooses a fault to plant in the compiled side: nothing, or an op of the graph and a kind of fault.
#pragma once

#include <QWidget>

#include "ui/session/session.h"

class QComboBox;

namespace kerf::ui::inline panels {

class PlantPicker : public QWidget {
  Q_OBJECT

 public:
  explicit PlantPicker(Session& session, QWidget* parent = nullptr);
  /// "relu=accuracy", or empty for no fault.
  QString plant() const;
  void setPlant(const QString& plant);
  /// Whether the shown graph has what is to be broken; says so where it has not.
  bool accepted();

 signals:
  void plantChanged(const QString& plant);

 private:
  void fillOps();

  Session& m_session;
  QComboBox* m_op;
  QComboBox* m_kind;
};

}  // namespace kerf::ui::inline panels
