// ReductionChart: nodes of the best graph over tests, drawn live, with the rejected candidates as faint dots.
#pragma once

#include <vector>

#include <QtCharts/QChartView>

#include "ui/session/documents.h"

QT_BEGIN_NAMESPACE
class QLineSeries;
class QScatterSeries;
class QValueAxis;
QT_END_NAMESPACE

namespace kerf::ui::inline panels {

class ReductionChart : public QChartView {
  Q_OBJECT

 public:
  explicit ReductionChart(QWidget* parent = nullptr);
  void setPoints(const std::vector<MinifyPoint>& points);

 protected:
  void changeEvent(QEvent* event) override;

 private:
  void applyTheme();

  QLineSeries* m_best;
  QScatterSeries* m_tried;
  QValueAxis* m_tests;
  QValueAxis* m_nodes;
};

}  // namespace kerf::ui::inline panels
