// RunsPanel: two captures beside each other: compile ids with their stages in lanes, and where they part.
#pragma once

#include "ui/panels/lane_view.h"
#include "ui/session/session.h"

class QComboBox;

namespace kerf::ui::inline panels {

class RunsPanel : public LaneView {
  Q_OBJECT

 public:
  explicit RunsPanel(Session& session, QWidget* parent = nullptr);
  /// Compares the chosen captures; those that were opened last, where none was chosen.
  void compare();
  void choose(int before, int after);

 signals:
  /// A graph of the later run is shown against that of the earlier one.
  void stagePicked();

 private:
  void buildBar();
  void fillCaptures();
  void showRuns();
  void fillLanes(const RunsDoc& runs);
  void showCompile();
  void goToFirst();
  void goTo(int compile, int stage);
  int currentCompile() const;

  Session& m_session;
  QComboBox *m_before, *m_after;
  QPushButton* m_compare;
  bool m_chosen = false;  ///< the user chose the captures; else they are those that were opened last
  RunsDocPtr m_shown;
  QStringList m_stages;  ///< of all compile ids, in the order of compilation
};

}  // namespace kerf::ui::inline panels
