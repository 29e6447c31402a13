// TimelinePanel: what PyTorch did when, as nested bars by thread: the chromium events of a trace.
#pragma once

#include <QAbstractScrollArea>

#include "ui/session/session.h"

namespace kerf::ui::inline panels {

/// One widget paints all bars; bars under a pixel wide are merged, so a million events cost what the screen holds.
class TimelinePanel : public QAbstractScrollArea {
  Q_OBJECT

 public:
  explicit TimelinePanel(Session& session, QWidget* parent = nullptr);
  void setTimeline(std::shared_ptr<const TimelineDoc> timeline);
  /// Index of the bar at a point of the viewport; -1: none.
  int spanAt(const QPoint& point) const;
  /// Where a bar is on the viewport now.
  QRect rectOf(int span) const;
  void zoomToAll();

 signals:
  void spanPicked(int span);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  bool viewportEvent(QEvent* event) override;

 private:
  void showCapture();
  void pick(int span);
  void zoomBy(double factor, double around);
  void setRange(double begin, double length);
  void updateBars();
  void paintLanes(QPainter& painter) const;
  void paintGrid(QPainter& painter, bool axis) const;
  void paintRow(QPainter& painter, const std::vector<int>& row) const;
  void paintSpan(QPainter& painter, int span, const QRect& box) const;
  double xOf(double time) const;
  double timeAt(double x) const;
  int rows() const;
  QString tip(int span) const;

  Session& m_session;
  std::shared_ptr<const TimelineDoc> m_timeline;
  std::vector<std::vector<int>> m_byRow;  ///< spans of each row, by begin
  int m_capture = -1, m_picked = -1;
  double m_begin = 0, m_length = 1;  ///< microseconds shown
  QPoint m_dragged;
};

}  // namespace kerf::ui::inline panels
