// ReductionChart: nodes and input bytes of the best graph over tests, drawn live: accepted steps as marks by their
// reduction, rejected candidates as faint dots.
#pragma once

#include <vector>

#include <QWidget>

#include "ui/panels/chart_legend.h"
#include "ui/panels/plot_axis.h"
#include "ui/session/documents.h"

namespace kerf::ui::inline panels {

class ReductionChart : public QWidget {
  Q_OBJECT

 public:
  explicit ReductionChart(QWidget* parent = nullptr);
  void setPoints(const std::vector<MinifyPoint>& points);
  /// What the legend names: the two lines, and the reductions that were accepted most often.
  QStringList named() const { return m_legend.names(); }
  /// Accepted steps in their order: how many, and where the mark of one is drawn.
  int steps() const { return int(m_accepted.size()); }
  QPointF stepAt(int index) const;
  /// The accepted step that Left, Right, Home and End have gone to; -1 before them.
  int current() const { return m_current; }
  /// "drop_unused: 12 nodes, 3.2 KiB of inputs after 40 tests" at a mark, the best graph at that time elsewhere in the
  /// plot, nothing outside of it.
  QString textAt(const QPointF& position) const;

  QSize sizeHint() const override { return {256, 192}; }
  QSize minimumSizeHint() const override { return {120, 120}; }

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void changeEvent(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;

 private:
  void nameSteps();
  void arrange();
  int markOf(const MinifyPoint& point) const;
  int stepNear(const QPointF& position) const;
  QString textOf(const MinifyPoint& best, int test, bool step) const;
  QPointF place(double test, double value, const PlotAxis& axis) const;
  void drawAxes(QPainter& painter) const;
  void drawTitles(QPainter& painter) const;
  void drawLine(QPainter& painter, double (*value)(const MinifyPoint&), double unit, const PlotAxis& axis) const;
  void drawMarks(QPainter& painter) const;

  std::vector<MinifyPoint> m_accepted, m_rejected;
  std::vector<std::string> m_names;  ///< of the reductions that have a mark of their own, most often accepted first
  double m_mostNodes = 0, m_mostBytes = 0;
  int m_tested = 0, m_current = -1;
  std::size_t m_unit = 0;  ///< of sizes
  PlotAxis m_tests, m_nodes, m_size;
  ChartLegend m_legend;
  QRectF m_plot;
};

}  // namespace kerf::ui::inline panels
