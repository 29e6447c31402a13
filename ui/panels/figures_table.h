// FiguresTable: what the values of all nodes are like, on every side that has them.
#pragma once

#include <QWidget>

#include "ui/models/tables.h"
#include "ui/panels/table_view.h"
#include "ui/session/session.h"

class QCheckBox;
class QLabel;

namespace kerf::ui::inline panels {

class FiguresTable : public QWidget {
  Q_OBJECT

 public:
  explicit FiguresTable(Session& session, QWidget* parent = nullptr);
  DataTable& table() { return *m_table; }
  QCheckBox& onlyOdd() { return *m_onlyOdd; }
  QString status() const;

 private:
  void showFigures();
  void applyFilter();

  Session& m_session;
  FiguresModel* m_model;
  DataTable* m_table;
  QLabel* m_status;
  QCheckBox* m_onlyOdd;
  AccuracyDocPtr m_shown;
};

}  // namespace kerf::ui::inline panels
