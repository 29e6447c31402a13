// GrowthChart: each node's error in the order of the graph, on a logarithmic scale: where it grows, and where the compiled
// side leaves the interpreter.
#pragma once

#include <QWidget>

#include "ui/session/documents.h"

namespace kerf::ui::inline panels {

class GrowthChart : public QWidget {
  Q_OBJECT

 public:
  explicit GrowthChart(QWidget* parent = nullptr);
  /// Rows in any order; `graph` says in which they are computed.
  void setNodes(const std::vector<NodeDivergence>& rows, const GraphDocPtr& graph);
  void setCurrent(const QString& node);
  int count() const { return int(m_points.size()); }
  /// Name of the node that is the `index`-th in order, and where it is drawn.
  QString nodeAt(int index) const { return m_points[std::size_t(index)].node; }
  QPointF pointAt(int index) const;

 signals:
  /// By mouse, or with Left and Right.
  void nodePicked(const QString& node);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  struct Point {
    QString node;
    int place = 0;
    double compiled = 0, interpreter = 0;  ///< RMSE against fp64
    bool same = true;
  };
  QRectF area() const;
  double heightOf(double error) const;
  void drawScale(QPainter& painter) const;
  void drawLine(QPainter& painter, double Point::* error, const QColor& color) const;

  std::vector<Point> m_points;
  QString m_current;
  bool m_odd = false;           ///< some error is no number
  int m_low = -16, m_high = 0;  ///< powers of ten at the ends of the scale
};

}  // namespace kerf::ui::inline panels
