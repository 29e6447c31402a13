#include "ui/panels/reduction_chart.h"

#include <algorithm>
#include <cmath>

#include <QEvent>
#include <QGraphicsLayout>
#include <QtCharts/QChart>
#include <QtCharts/QLineSeries>
#include <QtCharts/QScatterSeries>
#include <QtCharts/QValueAxis>

#include "ui/models/theme.h"

namespace kerf::ui::inline panels {
namespace {

constexpr std::size_t mostDots = 2000;

/// The next 1, 2 or 5 times a power of ten that splits `range` into at most five.
double tickStep(double range) {
  const double power = std::pow(10, std::floor(std::log10(std::max(range, 5.0) / 5)));
  for (const double factor : {1.0, 2.0, 5.0, 10.0})
    if (range / (power * factor) <= 5) return power * factor;
  return power * 10;
}

void setRange(QValueAxis& axis, double most) {
  const double step = std::max(1.0, tickStep(most));
  axis.setTickType(QValueAxis::TicksDynamic);
  axis.setTickAnchor(0);
  axis.setTickInterval(step);
  axis.setRange(0, std::max(step, std::ceil(most / step) * step));
}

}  // namespace

ReductionChart::ReductionChart(QWidget* parent)
    : QChartView(parent),
      m_best(new QLineSeries),
      m_tried(new QScatterSeries),
      m_tests(new QValueAxis),
      m_nodes(new QValueAxis) {
  setFrameShape(NoFrame);
  setRenderHint(QPainter::Antialiasing);
  setMinimumHeight(120);
  chart()->addSeries(m_tried);
  chart()->addSeries(m_best);
  chart()->addAxis(m_tests, Qt::AlignBottom);
  chart()->addAxis(m_nodes, Qt::AlignLeft);
  for (QAbstractSeries* series : {static_cast<QAbstractSeries*>(m_best), static_cast<QAbstractSeries*>(m_tried)}) {
    series->attachAxis(m_tests);
    series->attachAxis(m_nodes);
  }
  m_tests->setTitleText(tr("Tests"));
  m_nodes->setTitleText(tr("Nodes"));
  for (auto* axis : {m_tests, m_nodes}) {
    axis->setLabelFormat("%d");
    setRange(*axis, 10);
  }
  m_tried->setMarkerSize(5);
  chart()->legend()->hide();
  chart()->setMargins({8, 4, 12, 4});
  chart()->layout()->setContentsMargins(0, 0, 0, 0);
  chart()->setBackgroundRoundness(0);
  applyTheme();
}

void ReductionChart::setPoints(const std::vector<MinifyPoint>& points) {
  QList<QPointF> best, tried;
  double most = 10, tests = 5;
  const std::size_t stride = points.size() / mostDots + 1;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const auto& point = points[i];
    most = std::max(most, double(point.nodes));
    tests = std::max(tests, double(point.test));
    if (!point.accepted && i % stride == 0) tried << QPointF(point.test, point.nodes);
    if (!point.accepted) continue;
    if (!best.isEmpty()) best << QPointF(point.test, best.last().y());
    best << QPointF(point.test, point.nodes);
  }
  if (!best.isEmpty() && !points.empty()) best << QPointF(points.back().test, best.last().y());
  m_best->replace(best);
  m_tried->replace(tried);
  setRange(*m_tests, tests);
  setRange(*m_nodes, most);
}

void ReductionChart::changeEvent(QEvent* event) {
  if (event->type() == QEvent::PaletteChange) applyTheme();
  QChartView::changeEvent(event);
}

void ReductionChart::applyTheme() {
  QFont small = interfaceFont();
  small.setPixelSize(11);
  chart()->setBackgroundBrush(theme().base);
  setBackgroundBrush(theme().base);
  m_best->setPen(QPen(theme().accent, 2));
  m_tried->setColor(blend(theme().muted, theme().base, 0.5));
  m_tried->setBorderColor(Qt::transparent);
  for (auto* axis : {m_tests, m_nodes}) {
    axis->setLabelsFont(small);
    axis->setTitleFont(small);
    axis->setLabelsBrush(theme().muted);
    axis->setTitleBrush(theme().muted);
    axis->setLinePen(QPen(theme().border, 1));
    axis->setGridLinePen(QPen(blend(theme().border, theme().base, 0.6), 1));
  }
}

}  // namespace kerf::ui::inline panels
