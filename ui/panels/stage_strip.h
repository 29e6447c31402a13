// StageStrip: all stages of a graph in lanes from left to right; arrow keys go through them while the focus stays here.
#pragma once

#include <QWidget>

#include "ui/panels/stage_lanes.h"

class QToolButton;

namespace kerf::ui::inline panels {

class StageStrip : public QWidget {
  Q_OBJECT

 public:
  explicit StageStrip(Session& session, QWidget* parent = nullptr);
  StageLanes& lanes() { return *m_lanes; }
  QToolButton& verify() { return *m_verify; }
  QToolButton& baseline() { return *m_baseline; }
  /// Of the lane that the user is in, also from afar.
  void step(int offset) { m_lanes->step(offset); }
  /// Whether it is shown at all where there is a graph.
  void setWanted(bool wanted);
  bool holdsFocus() const { return m_lanes->hasFocus(); }

 signals:
  void compareWithRequested();

 private:
  void showStages();
  void showButtons();
  void go(int lane, int cell);

  bool m_wanted = true;
  Session& m_session;
  StageLanes* m_lanes;
  QToolButton* m_verify;
  QToolButton* m_baseline;
};

}  // namespace kerf::ui::inline panels
