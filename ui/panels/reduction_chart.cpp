#include "ui/panels/reduction_chart.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <QAccessible>
#include <QKeyEvent>
#include <QPainter>
#include <QToolTip>

#include "ui/models/format.h"
#include "ui/models/theme.h"

namespace kerf::ui::inline panels {
namespace {

constexpr std::size_t mostDots = 2000;
constexpr int roomForTitles = 200, roomForLegend = 84;  ///< heights of the chart from which it has them
constexpr int chartMargin = 6, nearMark = 9;            ///< pixels

struct SizeUnit {
  double bytes;
  const char* name;
};
constexpr SizeUnit sizeUnits[] = {{1 << 30, "GiB"}, {1 << 20, "MiB"}, {1 << 10, "KiB"}, {1, "B"}};

/// A shape and a colour for each of the reductions that are told apart.
struct StepMark {
  MarkShape shape;
  NodeKind color;
};
constexpr StepMark stepMarks[] = {{{}, NodeKind::Matmul},
                                  {{.corners = 3, .size = 1.35}, NodeKind::Reduction},
                                  {{.corners = 4, .turn = 0.125, .size = 1.2}, NodeKind::Convolution},
                                  {{.corners = 5, .inner = 0.45, .size = 1.4}, NodeKind::Pointwise},
                                  {{.corners = 5, .size = 1.1}, NodeKind::Random},
                                  {{.corners = 4, .size = 1.2}, NodeKind::Other}};
constexpr std::size_t told = std::size(stepMarks) - 1;  ///< the last mark is that of all others

double nodesOf(const MinifyPoint& point) { return point.nodes; }
double bytesOf(const MinifyPoint& point) { return double(point.inputBytes); }

/// The reductions that were accepted most often, most often first.
std::vector<std::string> frequentOf(const std::vector<MinifyPoint>& accepted) {
  std::map<std::string, int> counts;
  for (const auto& point : accepted)
    if (!point.reduction.empty()) ++counts[point.reduction];
  std::vector<std::pair<int, std::string>> order;
  for (const auto& [name, count] : counts) order.emplace_back(-count, name);
  std::ranges::sort(order);
  std::vector<std::string> names;
  for (std::size_t i = 0; i < std::min(told, order.size()); ++i) names.push_back(order[i].second);
  return names;
}

}  // namespace

ReductionChart::ReductionChart(QWidget* parent) : QWidget(parent) {
  setObjectName("reductionChart");
  setAccessibleName(tr("Nodes and bytes of inputs of the smallest failing graph, by tests"));
  setFocusPolicy(Qt::StrongFocus);
  setMouseTracking(true);
  setMinimumHeight(120);
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
  m_tests.title = tr("Tests");
  m_nodes.title = tr("Nodes");
  setPoints({});
}

/// Sizes are written in the unit in which the largest reads well.
void ReductionChart::setPoints(const std::vector<MinifyPoint>& points) {
  m_accepted.clear();
  m_rejected.clear();
  m_mostNodes = m_mostBytes = 0;
  const std::size_t stride = points.size() / mostDots + 1;
  for (std::size_t i = 0; i < points.size(); ++i) {
    m_mostNodes = std::max(m_mostNodes, nodesOf(points[i]));
    m_mostBytes = std::max(m_mostBytes, bytesOf(points[i]));
    if (points[i].accepted) m_accepted.push_back(points[i]);
    if (!points[i].accepted && i % stride == 0) m_rejected.push_back(points[i]);
  }
  m_tested = points.empty() ? 0 : points.back().test;
  m_current = std::min(m_current, steps() - 1);
  m_unit = 0;
  while (m_mostBytes < sizeUnits[m_unit].bytes && m_unit + 1 < std::size(sizeUnits)) ++m_unit;
  m_size.title = tr("Inputs, %1").arg(sizeUnits[m_unit].name);
  nameSteps();
  arrange();
  update();
}

void ReductionChart::nameSteps() {
  m_names = frequentOf(m_accepted);
  m_legend.entries = {
      {.name = tr("nodes"), .color = theme().accent},
      {.name = tr("inputs, %1").arg(sizeUnits[m_unit].name), .color = theme().warn, .line = Qt::DashLine}};
  const auto add = [&](const QString& name, const StepMark& mark) {
    m_legend.entries.push_back({.name = name, .color = theme().kind(mark.color), .mark = &mark.shape});
  };
  for (std::size_t at = 0; at < m_names.size(); ++at) add(text(m_names[at]), stepMarks[at]);
  if (std::ranges::any_of(m_accepted, [&](const auto& point) { return markOf(point) == int(told); }))
    add(tr("others"), stepMarks[told]);
}

/// -1 for the graph at the start, which no reduction made.
int ReductionChart::markOf(const MinifyPoint& point) const {
  if (point.reduction.empty()) return -1;
  const auto found = std::ranges::find(m_names, point.reduction);
  return found == m_names.end() ? int(told) : int(found - m_names.begin());
}

/// In a low panel the curves come first: the names of the axes are in the legend alone, and then the legend goes too.
void ReductionChart::arrange() {
  const QFontMetrics metrics(chartFont());
  const int line = metrics.height(), title = height() >= roomForTitles ? line + 2 : 0;
  m_legend.arrange(metrics, width() - 2 * chartMargin, std::max(1, height() / 80));
  const int top = height() >= roomForLegend ? m_legend.height() + 2 * chartMargin : chartMargin + line / 2;
  const int bottom = height() - chartMargin - line - 4 - title;
  const int rows = std::clamp((bottom - top) / (2 * line), 1, 7);
  m_nodes.fit(std::max(m_mostNodes, 10.0), rows, 1);
  m_size.fit(std::max(m_mostBytes / sizeUnits[m_unit].bytes, 1.0), rows, sizeUnits[m_unit].bytes > 1 ? 0.1 : 1);
  const int left = chartMargin + title + m_nodes.labelWidth(metrics) + 5;
  m_tests.fit(std::max(m_tested, 5), 5, 1);
  const int right = chartMargin + title + std::max(m_size.labelWidth(metrics) + 5, m_tests.labelWidth(metrics) / 2);
  const int wide = std::max(1, width() - left - right);
  m_tests.fit(std::max(m_tested, 5), std::clamp(wide / (2 * m_tests.labelWidth(metrics) + 10), 1, 10), 1);
  m_plot = QRectF(left, top, wide, std::max(1, bottom - top));
}

void ReductionChart::resizeEvent(QResizeEvent* event) {
  arrange();
  QWidget::resizeEvent(event);
}

void ReductionChart::changeEvent(QEvent* event) {
  if (event->type() == QEvent::FontChange || event->type() == QEvent::PaletteChange) {
    nameSteps();
    arrange();
  }
  QWidget::changeEvent(event);
}

QPointF ReductionChart::place(double test, double value, const PlotAxis& axis) const {
  return {m_plot.left() + m_plot.width() * test / m_tests.end, m_plot.bottom() - m_plot.height() * value / axis.end};
}

QPointF ReductionChart::stepAt(int index) const {
  const auto& step = m_accepted[std::size_t(index)];
  return place(step.test, step.nodes, m_nodes);
}

int ReductionChart::stepNear(const QPointF& position) const {
  int nearest = -1;
  double least = nearMark;
  for (int i = 0; i < steps(); ++i) {
    const QPointF away = stepAt(i) - position;
    if (const double distance = std::hypot(away.x(), away.y()); distance <= least) {
      least = distance;
      nearest = i;
    }
  }
  return nearest;
}

QString ReductionChart::textOf(const MinifyPoint& best, int test, bool step) const {
  const QString graph = tr("%1, %2 of inputs after %3")
                            .arg(plural(best.nodes, "node"), formatBytes(best.inputBytes), plural(test, "test"));
  return step && !best.reduction.empty() ? text(best.reduction) + ": " + graph : graph;
}

QString ReductionChart::textAt(const QPointF& position) const {
  if (const int near = stepNear(position); near >= 0) {
    const auto& step = m_accepted[std::size_t(near)];
    return textOf(step, step.test, true);
  }
  if (!m_plot.contains(position)) return {};
  const int test = int((position.x() - m_plot.left()) / m_plot.width() * m_tests.end);
  const auto past = std::ranges::upper_bound(m_accepted, test, {}, &MinifyPoint::test);
  return past == m_accepted.begin() || test > m_tested ? QString() : textOf(*std::prev(past), test, false);
}

void ReductionChart::mouseMoveEvent(QMouseEvent* event) {
  QToolTip::showText(event->globalPosition().toPoint(), textAt(event->position()), this);
}

void ReductionChart::keyPressEvent(QKeyEvent* event) {
  const std::map<int, int> targets = {{Qt::Key_Left, m_current < 0 ? steps() - 1 : m_current - 1},
                                      {Qt::Key_Right, m_current + 1},
                                      {Qt::Key_Home, 0},
                                      {Qt::Key_End, steps() - 1}};
  const auto target = targets.find(event->key());
  if (target == targets.end() || m_accepted.empty()) return QWidget::keyPressEvent(event);
  m_current = std::clamp(target->second, 0, steps() - 1);
  const auto& step = m_accepted[std::size_t(m_current)];
  setAccessibleDescription(textOf(step, step.test, true));
  QAccessibleEvent spoken(this, QAccessible::DescriptionChanged);
  QAccessible::updateAccessibility(&spoken);
  QToolTip::showText(mapToGlobal(stepAt(m_current).toPoint()), accessibleDescription(), this);
  update();
}

void ReductionChart::drawAxes(QPainter& painter) const {
  const int line = painter.fontMetrics().height();
  const QColor grid = blend(theme().border, theme().base, 0.6);
  for (int i = 0; i < m_nodes.ticks(); ++i) {
    const double y = place(0, m_nodes.tick(i), m_nodes).y();
    painter.setPen(i == 0 ? theme().border : grid);
    painter.drawLine(QPointF(m_plot.left(), y), QPointF(m_plot.right(), y));
    painter.setPen(theme().muted);
    painter.drawText(QRectF(0, y - line / 2.0, m_plot.left() - 5, line), Qt::AlignRight | Qt::AlignVCenter,
                     m_nodes.label(m_nodes.tick(i)));
  }
  for (int i = 0; i < m_size.ticks(); ++i) {
    const double y = place(0, m_size.tick(i), m_size).y();
    painter.drawText(QRectF(m_plot.right() + 5, y - line / 2.0, width(), line), Qt::AlignLeft | Qt::AlignVCenter,
                     m_size.label(m_size.tick(i)));
  }
  for (int i = 0; i < m_tests.ticks(); ++i) {
    const double x = place(m_tests.tick(i), 0, m_nodes).x();
    painter.setPen(i == 0 ? theme().border : grid);
    painter.drawLine(QPointF(x, m_plot.top()), QPointF(x, m_plot.bottom()));
    painter.setPen(theme().muted);
    painter.drawText(QRectF(x - 60, m_plot.bottom() + 3, 120, line), Qt::AlignCenter, m_tests.label(m_tests.tick(i)));
  }
}

void ReductionChart::drawTitles(QPainter& painter) const {
  if (height() < roomForTitles) return;
  const int line = painter.fontMetrics().height();
  painter.drawText(QRectF(m_plot.left(), height() - chartMargin - line, m_plot.width(), line), Qt::AlignCenter,
                   m_tests.title);
  for (const bool right : {false, true}) {
    painter.save();
    painter.translate(right ? width() - chartMargin - line / 2.0 : chartMargin + line / 2.0, m_plot.center().y());
    painter.rotate(right ? 90 : -90);
    painter.drawText(QRectF(-m_plot.height() / 2, -line / 2.0, m_plot.height(), line), Qt::AlignCenter,
                     right ? m_size.title : m_nodes.title);
    painter.restore();
  }
}

/// Of the best graph so far, up to the last test.
void ReductionChart::drawLine(QPainter& painter, double (*value)(const MinifyPoint&), double unit,
                              const PlotAxis& axis) const {
  QPolygonF line;
  for (const auto& point : m_accepted) {
    const QPointF next = place(point.test, value(point) / unit, axis);
    if (!line.isEmpty()) line << QPointF(next.x(), line.last().y());
    line << next;
  }
  if (!line.isEmpty()) line << QPointF(place(m_tested, 0, axis).x(), line.last().y());
  painter.drawPolyline(line);
}

void ReductionChart::drawMarks(QPainter& painter) const {
  painter.setPen(theme().base);
  for (int i = 0; i < steps(); ++i) {
    const int mark = markOf(m_accepted[std::size_t(i)]);
    if (mark < 0) continue;
    const StepMark& shown = stepMarks[std::size_t(mark)];
    painter.setBrush(theme().kind(shown.color));
    painter.drawPath(shown.shape.path(stepAt(i), 5));
  }
  if (m_current < 0) return;
  painter.setPen(QPen(theme().accent, 2));
  painter.setBrush(Qt::NoBrush);
  painter.drawEllipse(stepAt(m_current), 8, 8);
}

void ReductionChart::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.fillRect(rect(), theme().base);
  painter.setFont(chartFont());
  drawAxes(painter);
  drawTitles(painter);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(Qt::NoPen);
  painter.setBrush(blend(theme().muted, theme().base, 0.5));
  for (const auto& point : m_rejected) painter.drawEllipse(place(point.test, point.nodes, m_nodes), 2.5, 2.5);
  painter.setBrush(Qt::NoBrush);
  painter.setPen(QPen(theme().warn, 1.5, Qt::DashLine));
  drawLine(painter, bytesOf, sizeUnits[m_unit].bytes, m_size);
  painter.setPen(QPen(theme().accent, 2));
  drawLine(painter, nodesOf, 1, m_nodes);
  drawMarks(painter);
  if (height() >= roomForLegend) m_legend.draw(painter, {chartMargin, chartMargin}, theme().muted, theme().base);
  if (!hasFocus()) return;
  painter.setBrush(Qt::NoBrush);
  painter.setPen(QPen(theme().accent, 2));
  painter.drawRect(rect().adjusted(1, 1, -2, -2));
}

}  // namespace kerf::ui::inline panels
