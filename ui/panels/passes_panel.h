// PassesPanel: the timeline of passes; selecting one shows the graph after it.
#pragma once

#include <QWidget>

#include "ui/models/tables.h"
#include "ui/panels/table_view.h"
#include "ui/session/session.h"

class QCheckBox;
class QLabel;

namespace kerf::ui::inline panels {

class PassesPanel : public QWidget {
  Q_OBJECT

 public:
  explicit PassesPanel(Session& session, QWidget* parent = nullptr);
  DataTable& table() { return *m_table; }
  QCheckBox& hideUnchanged() { return *m_hide; }
  /// Times differ from run to run: a screenshot leaves them out.
  void setTimesVisible(bool visible);

 private:
  void showPasses();
  void showPlace();
  void applyFilter();
  void showSummary();
  /// Rows of AOTAutograd's stages.
  int stageCount() const;

  Session& m_session;
  PassModel* m_model;
  DataTable* m_table;
  QCheckBox* m_hide;
  QLabel* m_summary;
};

}  // namespace kerf::ui::inline panels
