// RanksPanel: what several ranks recorded, each in a lane of its own: graphs that differ, collectives in their order, and
// the first that does not meet.
#pragma once

#include <QWidget>

#include "ui/panels/ranks_text.h"
#include "ui/session/session.h"

class QLabel;
class QPushButton;
class QSplitter;
class QTextBrowser;
class QTreeWidget;
class QTreeWidgetItem;

namespace kerf::ui::inline panels {

class RanksPanel : public QWidget {
  Q_OBJECT

 public:
  explicit RanksPanel(Session& session, QWidget* parent = nullptr);
  QTreeWidget& lanes() { return *m_lanes; }
  QString headline() const;
  QString detail() const;

 signals:
  /// A rank's graph is shown.
  void graphPicked();

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  void build();
  void showRanks();
  void fillLanes();
  void addLane(const LaneRow& row);
  void showRow();
  void goTo(QTreeWidgetItem* item, int column);
  void goToFirst();
  int rankOf(int column) const;

  Session& m_session;
  QLabel *m_headline, *m_hint;
  QPushButton* m_go;
  QTreeWidget* m_lanes;
  QTextBrowser* m_detail;
  QSplitter* m_content;
  RankLanesPtr m_shown;
  std::vector<LaneRow> m_rows;
  int m_first = -1;  ///< row of the first collective that does not meet, or of the first graph that differs
};

}  // namespace kerf::ui::inline panels
