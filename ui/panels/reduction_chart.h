// ReductionChart: nodes and input bytes of the best graph over tests, drawn live: accepted steps as marks by their
// reduction, rejected candidates as faint dots.
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
  /// What the legend names: the reductions that were accepted most often, and the two lines.
  QStringList named() const;

 protected:
  void changeEvent(QEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  void applyTheme();
  QScatterSeries* addStepSeries(std::size_t at);
  void setSteps(const std::vector<MinifyPoint>& points);

  QLineSeries *m_best, *m_bytes;
  QScatterSeries* m_tried;
  std::vector<QScatterSeries*> m_steps;  ///< by reduction; the last one is all others
  QValueAxis *m_tests, *m_nodes, *m_size;
};

}  // namespace kerf::ui::inline panels
