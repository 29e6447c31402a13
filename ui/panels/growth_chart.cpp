#include "ui/panels/growth_chart.h"

#include <algorithm>
#include <cmath>

#include <QMouseEvent>
#include <QPainter>

#include "ui/models/theme.h"

namespace kerf::ui::inline panels {
namespace {

constexpr int lowest = -330, highest = 310;  ///< powers of ten that a double has

constexpr int oddGap = 14;

int powerOf(double error) { return std::clamp(int(std::floor(std::log10(error))), lowest, highest - 1); }

}  // namespace

GrowthChart::GrowthChart(QWidget* parent) : QWidget(parent) {
  setObjectName("growth");
  setAccessibleName(tr("Error of each node against fp64, in the order of the graph"));
  setToolTip(tr("A click selects the node; Left and Right go from node to node"));
  setMinimumSize(180, 100);
  setFocusPolicy(Qt::StrongFocus);
}

void GrowthChart::setNodes(const std::vector<NodeDivergence>& rows, const GraphDocPtr& graph) {
  m_points.clear();
  m_low = highest;
  m_high = lowest;
  m_odd = false;
  for (const auto& row : rows) {
    const int place = graph ? graph->find(row.node) : -1;
    if (place < 0) continue;
    // Without a reference there is no error; a NaN says something only where a value is one.
    const auto known = [&](double error) { return std::isnan(error) && row.finite == row.elements ? 0 : error; };
    m_points.push_back({text(row.node), place, known(row.rmseRes), known(row.rmseRef), row.same});
    for (const double error : {m_points.back().compiled, m_points.back().interpreter}) {
      m_odd |= !std::isfinite(error);
      if (!(error > 0) || !std::isfinite(error)) continue;
      m_low = std::min(m_low, powerOf(error));
      m_high = std::max(m_high, powerOf(error) + 1);
    }
  }
  if (m_low >= m_high) std::tie(m_low, m_high) = std::pair(-8, 0);
  std::ranges::sort(m_points, {}, &Point::place);
  update();
}

void GrowthChart::setCurrent(const QString& node) {
  m_current = node;
  update();
}

QRectF GrowthChart::area() const { return QRectF(rect()).adjusted(48, m_odd ? 22 + oddGap : 22, -14, -14); }

/// Zero is at the foot; what is no number stands on a line of its own above the scale.
double GrowthChart::heightOf(double error) const {
  const auto inner = area();
  if (!std::isfinite(error)) return inner.top() - oddGap;
  if (!(error > 0)) return inner.bottom();
  const double part = (std::log10(error) - m_low) / double(m_high - m_low);
  return inner.bottom() - inner.height() * std::clamp(part, 0.0, 1.0);
}

QPointF GrowthChart::pointAt(int index) const {
  const auto inner = area();
  const double part = m_points.size() > 1 ? double(index) / double(m_points.size() - 1) : 0.5;
  return {inner.left() + inner.width() * part, heightOf(m_points[std::size_t(index)].compiled)};
}

void GrowthChart::drawScale(QPainter& painter) const {
  const auto inner = area();
  const int step = std::max(1, (m_high - m_low + 4) / 5);
  for (int power = m_low; power <= m_high; power += step) {
    const double y = heightOf(std::pow(10.0, power));
    painter.setPen(blend(theme().border, theme().base, power == m_low ? 1 : 0.5));
    painter.drawLine(QPointF(inner.left(), y), QPointF(inner.right(), y));
    painter.setPen(theme().muted);
    painter.drawText(QRectF(0, y - 8, inner.left() - 6, 16), Qt::AlignRight | Qt::AlignVCenter,
                     QString("1e%1").arg(power));
  }
  if (m_odd) {
    const double y = inner.top() - oddGap;
    painter.setPen(QPen(blend(theme().warn, theme().base, 0.6), 1, Qt::DashLine));
    painter.drawLine(QPointF(inner.left(), y), QPointF(inner.right(), y));
    painter.setPen(theme().warn);
    painter.drawText(QRectF(0, y - 8, inner.left() - 6, 16), Qt::AlignRight | Qt::AlignVCenter, tr("NaN, inf"));
  }
  painter.setPen(theme().accent);
  painter.drawText(QRectF(inner.left(), 3, 100, 16), Qt::AlignLeft, tr("compiled"));
  painter.setPen(theme().muted);
  painter.drawText(QRectF(inner.left() + 70, 3, 200, 16), Qt::AlignLeft, tr("interpreter (RMSE to fp64)"));
}

/// Past what has no error at all, such as a view of a parameter: the line would be nothing but spikes.
void GrowthChart::drawLine(QPainter& painter, double Point::* error, const QColor& color) const {
  QPolygonF line;
  for (int i = 0; i < count(); ++i)
    if (const double value = m_points[std::size_t(i)].*error; value != 0)
      line << QPointF(pointAt(i).x(), heightOf(value));
  painter.setPen(QPen(color, 1.5));
  painter.drawPolyline(line);
}

void GrowthChart::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.fillRect(rect(), theme().base);
  painter.setRenderHint(QPainter::Antialiasing);
  QFont small = interfaceFont();
  small.setPixelSize(11);
  painter.setFont(small);
  if (m_points.empty()) return;
  drawScale(painter);
  drawLine(painter, &Point::interpreter, theme().faint);
  drawLine(painter, &Point::compiled, theme().accent);
  painter.setPen(Qt::NoPen);
  for (int i = 0; i < count(); ++i) {
    const auto& point = m_points[std::size_t(i)];
    const bool current = point.node == m_current;
    if (point.same && !current && count() > 200) continue;
    painter.setBrush(point.same ? theme().accent : theme().bad);
    painter.drawEllipse(pointAt(i), current ? 5 : 2.5, current ? 5 : 2.5);
  }
  if (!hasFocus()) return;
  painter.setBrush(Qt::NoBrush);
  painter.setPen(QPen(theme().accent, 2));
  painter.drawRect(rect().adjusted(1, 1, -2, -2));
}

void GrowthChart::mousePressEvent(QMouseEvent* event) {
  int nearest = -1;
  for (int i = 0; i < count(); ++i) {
    const auto away = [&](int index) { return std::abs(pointAt(index).x() - event->position().x()); };
    if (nearest < 0 || away(i) < away(nearest)) nearest = i;
  }
  if (nearest >= 0) emit nodePicked(nodeAt(nearest));
}

void GrowthChart::keyPressEvent(QKeyEvent* event) {
  const int step = event->key() == Qt::Key_Right ? 1 : event->key() == Qt::Key_Left ? -1 : 0;
  if (step == 0 || m_points.empty()) return QWidget::keyPressEvent(event);
  const auto found = std::ranges::find(m_points, m_current, &Point::node);
  const int at = found == m_points.end() ? (step > 0 ? -1 : count()) : int(found - m_points.begin());
  emit nodePicked(nodeAt(std::clamp(at + step, 0, count() - 1)));
}

}  // namespace kerf::ui::inline panels
