#include "ui/panels/reduction_chart.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <QEvent>
#include <QGraphicsLayout>
#include <QToolTip>
#include <QtCharts/QChart>
#include <QtCharts/QLegendMarker>
#include <QtCharts/QLineSeries>
#include <QtCharts/QScatterSeries>
#include <QtCharts/QValueAxis>

#include "ui/models/format.h"
#include "ui/models/theme.h"

namespace kerf::ui::inline panels {
namespace {

constexpr std::size_t mostDots = 2000;

struct SizeUnit {
  double bytes;
  const char* name;
};
constexpr SizeUnit sizeUnits[] = {{1 << 30, "GiB"}, {1 << 20, "MiB"}, {1 << 10, "KiB"}, {1, "B"}};

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

/// A shape and a colour for each of the reductions that are told apart.
struct StepMark {
  QScatterSeries::MarkerShape shape;
  NodeKind color;
};
constexpr StepMark stepMarks[] = {{QScatterSeries::MarkerShapeCircle, NodeKind::Matmul},
                                  {QScatterSeries::MarkerShapeTriangle, NodeKind::Reduction},
                                  {QScatterSeries::MarkerShapeRectangle, NodeKind::Convolution},
                                  {QScatterSeries::MarkerShapeStar, NodeKind::Pointwise},
                                  {QScatterSeries::MarkerShapePentagon, NodeKind::Random},
                                  {QScatterSeries::MarkerShapeRotatedRectangle, NodeKind::Other}};
constexpr std::size_t told = std::size(stepMarks) - 1;  ///< the last mark is that of all others

/// The reductions that were accepted most often, most often first.
std::vector<std::string> frequentOf(const std::vector<MinifyPoint>& points) {
  std::map<std::string, int> counts;
  for (const auto& point : points)
    if (point.accepted && !point.reduction.empty()) ++counts[point.reduction];
  std::vector<std::pair<int, std::string>> order;
  for (const auto& [name, count] : counts) order.emplace_back(-count, name);
  std::ranges::sort(order);
  std::vector<std::string> names;
  for (std::size_t i = 0; i < std::min(told, order.size()); ++i) names.push_back(order[i].second);
  return names;
}

}  // namespace

ReductionChart::ReductionChart(QWidget* parent)
    : QChartView(parent),
      m_best(new QLineSeries),
      m_bytes(new QLineSeries),
      m_tried(new QScatterSeries),
      m_tests(new QValueAxis),
      m_nodes(new QValueAxis),
      m_size(new QValueAxis) {
  setFrameShape(NoFrame);
  setRenderHint(QPainter::Antialiasing);
  setMinimumHeight(120);
  m_best->setName(tr("nodes"));
  for (QAbstractSeries* series : std::initializer_list<QAbstractSeries*>{m_tried, m_bytes, m_best})
    chart()->addSeries(series);
  chart()->addAxis(m_tests, Qt::AlignBottom);
  chart()->addAxis(m_nodes, Qt::AlignLeft);
  chart()->addAxis(m_size, Qt::AlignRight);
  for (QAbstractSeries* series : std::initializer_list<QAbstractSeries*>{m_tried, m_bytes, m_best}) {
    series->attachAxis(m_tests);
    series->attachAxis(series == m_bytes ? m_size : m_nodes);
  }
  m_tests->setTitleText(tr("Tests"));
  m_nodes->setTitleText(tr("Nodes"));
  for (auto* axis : {m_tests, m_nodes, m_size}) {
    axis->setLabelFormat("%d");
    setRange(*axis, 10);
  }
  m_size->setGridLineVisible(false);
  m_tried->setMarkerSize(5);
  for (std::size_t at = 0; at < std::size(stepMarks); ++at) m_steps.push_back(addStepSeries(at));
  chart()->legend()->setAlignment(Qt::AlignTop);
  chart()->legend()->setMarkerShape(QLegend::MarkerShapeFromSeries);
  for (auto* marker : chart()->legend()->markers(m_tried)) marker->setVisible(false);
  chart()->setMargins({8, 4, 12, 4});
  chart()->layout()->setContentsMargins(0, 0, 0, 0);
  chart()->setBackgroundRoundness(0);
  applyTheme();
}

QScatterSeries* ReductionChart::addStepSeries(std::size_t at) {
  auto* series = new QScatterSeries;
  series->setMarkerShape(stepMarks[at].shape);
  series->setMarkerSize(9);
  chart()->addSeries(series);
  series->attachAxis(m_tests);
  series->attachAxis(m_nodes);
  connect(series, &QScatterSeries::hovered, this, [series](const QPointF& point, bool on) {
    if (!on) return QToolTip::hideText();
    QToolTip::showText(QCursor::pos(),
                       QString("%1: %2 after %3")
                           .arg(series->name(), plural(qint64(point.y()), "node"), plural(qint64(point.x()), "test")));
  });
  return series;
}

/// Sizes in the unit in which the largest reads well.
void ReductionChart::setPoints(const std::vector<MinifyPoint>& points) {
  QList<QPointF> best, bytes, tried;
  double most = 10, tests = 5, mostBytes = 0;
  const std::size_t stride = points.size() / mostDots + 1;
  for (const auto& point : points) mostBytes = std::max(mostBytes, double(point.inputBytes));
  const auto unit =
      std::ranges::find_if(sizeUnits, [&](const SizeUnit& each) { return mostBytes >= each.bytes || each.bytes == 1; });
  for (std::size_t i = 0; i < points.size(); ++i) {
    const auto& point = points[i];
    most = std::max(most, double(point.nodes));
    tests = std::max(tests, double(point.test));
    if (!point.accepted && i % stride == 0) tried << QPointF(point.test, point.nodes);
    if (!point.accepted) continue;
    const double size = double(point.inputBytes) / unit->bytes;
    if (!best.isEmpty()) best << QPointF(point.test, best.last().y());
    if (!bytes.isEmpty()) bytes << QPointF(point.test, bytes.last().y());
    best << QPointF(point.test, point.nodes);
    bytes << QPointF(point.test, size);
  }
  if (!best.isEmpty()) best << QPointF(points.back().test, best.last().y());
  if (!bytes.isEmpty()) bytes << QPointF(points.back().test, bytes.last().y());
  m_best->replace(best);
  m_bytes->replace(bytes);
  m_bytes->setName(tr("inputs, %1").arg(unit->name));
  m_size->setTitleText(tr("Inputs, %1").arg(unit->name));
  m_tried->replace(tried);
  setRange(*m_tests, tests);
  setRange(*m_nodes, most);
  setRange(*m_size, mostBytes / unit->bytes);
  setSteps(points);
}

void ReductionChart::setSteps(const std::vector<MinifyPoint>& points) {
  const auto names = frequentOf(points);
  std::vector<QList<QPointF>> steps(m_steps.size());
  for (const auto& point : points) {
    if (!point.accepted || point.reduction.empty()) continue;
    const auto at = std::size_t(std::ranges::find(names, point.reduction) - names.begin());
    steps[at < names.size() ? at : told] << QPointF(point.test, point.nodes);
  }
  for (std::size_t at = 0; at < m_steps.size(); ++at) {
    m_steps[at]->setName(at == told ? tr("others") : at < names.size() ? text(names[at]) : QString());
    m_steps[at]->replace(steps[at]);
    for (auto* marker : chart()->legend()->markers(m_steps[at])) marker->setVisible(!steps[at].isEmpty());
  }
}

QStringList ReductionChart::named() const {
  QStringList names;
  for (auto* marker : chart()->legend()->markers())
    if (marker->isVisible()) names << marker->label();
  return names;
}

/// In a low panel the curves come first: numbers at the axes instead of dots, the names of the axes in the legend alone.
void ReductionChart::resizeEvent(QResizeEvent* event) {
  constexpr int roomForTitles = 200, roomForLegend = 84;
  for (auto* axis : {m_tests, m_nodes, m_size}) axis->setTitleVisible(height() >= roomForTitles);
  chart()->legend()->setVisible(height() >= roomForLegend);
  QChartView::resizeEvent(event);
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
  m_bytes->setPen(QPen(theme().warn, 1.5, Qt::DashLine));
  m_tried->setColor(blend(theme().muted, theme().base, 0.5));
  m_tried->setBorderColor(Qt::transparent);
  for (std::size_t at = 0; at < m_steps.size(); ++at) {
    m_steps[at]->setColor(theme().kind(stepMarks[at].color));
    m_steps[at]->setBorderColor(theme().base);
  }
  chart()->legend()->setFont(small);
  chart()->legend()->setLabelColor(theme().muted);
  for (auto* axis : {m_tests, m_nodes, m_size}) {
    axis->setLabelsFont(small);
    axis->setTitleFont(small);
    axis->setLabelsBrush(theme().muted);
    axis->setTitleBrush(theme().muted);
    axis->setLinePen(QPen(theme().border, 1));
    axis->setGridLinePen(QPen(blend(theme().border, theme().base, 0.6), 1));
  }
}

}  // namespace kerf::ui::inline panels
