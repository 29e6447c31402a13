// ParetoChart: bytes saved against work done again, a point for each memory budget.
#pragma once

#include <vector>

#include <QWidget>

#include "ui/session/documents.h"

namespace kerf::ui::inline panels {

class ParetoChart : public QWidget {
  Q_OBJECT

 public:
  explicit ParetoChart(QWidget* parent = nullptr);
  void setPartitions(const std::vector<workbench::PartitionDoc>& partitions);
  void setCurrent(int point);
  /// Where a budget's point is drawn.
  QPointF pointAt(int budget) const;

 signals:
  void pointPicked(int budget);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;

 private:
  QRectF area() const;

  std::vector<QPointF> m_points;  ///< bytes, operations
  QPointF m_most{1, 1};
  int m_current = -1;
};

}  // namespace kerf::ui::inline panels
