// RanksPanel: what several ranks recorded, each in a lane of its own: graphs that differ, collectives in their order, and
// the first that does not meet.
#pragma once

#include "ui/panels/lane_view.h"
#include "ui/panels/ranks_text.h"
#include "ui/session/session.h"

class QTreeWidgetItem;

namespace kerf::ui::inline panels {

class RanksPanel : public LaneView {
  Q_OBJECT

 public:
  explicit RanksPanel(Session& session, QWidget* parent = nullptr);

 signals:
  /// A rank's graph is shown.
  void graphPicked();

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  void showRanks();
  void fillLanes();
  void addLane(const LaneRow& row);
  void showRow();
  void goTo(QTreeWidgetItem* item, int column);
  void goToFirst();
  int rankOf(int column) const;

  Session& m_session;
  RankLanesPtr m_shown;
  std::vector<LaneRow> m_rows;
  int m_first = -1;  ///< row of the first collective that does not meet, or of the first graph that differs
};

}  // namespace kerf::ui::inline panels
