// StageLanes: lanes of stages, painted; arrow keys and the mouse go through them.
#pragma once

#include <QWidget>

#include "ui/panels/stage_cells.h"

namespace kerf::ui::inline panels {

class StageLanes : public QWidget {
  Q_OBJECT

 public:
  explicit StageLanes(QWidget* parent = nullptr);
  void setLanes(std::vector<StageLane> lanes);
  const std::vector<StageLane>& lanes() const { return m_lanes; }
  int lane() const { return m_lane; }
  /// Where a cell is painted; empty outside of the view.
  QRect cellRect(int lane, int cell) const;
  /// One step to the right or left in the lane at hand, over passes that changed nothing.
  void step(int offset);
  void setTimesVisible(bool visible);
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override;

 signals:
  void cellPicked(int lane, int cell);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void focusInEvent(QFocusEvent* event) override;
  void focusOutEvent(QFocusEvent* event) override;
  bool event(QEvent* event) override;

 private:
  struct Slot {
    int left = 0, width = 0;
  };
  int position(int lane) const;
  void arrange();
  void reveal();
  void pick(int lane, int cell);
  void jump(bool end);
  std::pair<int, int> cellAt(const QPoint& point) const;
  void paintLane(QPainter& painter, int lane) const;
  QString spoken(const StageCell& cell) const;

  std::vector<StageLane> m_lanes;
  std::vector<std::vector<Slot>> m_slots;
  std::vector<int> m_offset;  ///< by lane: how far it is scrolled
  int m_lane = 0;
  std::pair<int, int> m_code{-1, -1};  ///< lane and cell of the output code that was gone to; no graph is there
  bool m_times = true;
};

}  // namespace kerf::ui::inline panels
