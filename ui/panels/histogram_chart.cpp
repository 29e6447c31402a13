#include "ui/panels/histogram_chart.h"

#include <algorithm>
#include <cmath>

#include <QPainter>

#include "ui/models/format.h"
#include "ui/models/theme.h"

namespace kerf::ui::inline panels {

HistogramChart::HistogramChart(QWidget* parent) : QWidget(parent) {
  setObjectName("histogram");
  setAccessibleName(tr("Histogram of the value's finite elements"));
  setMinimumSize(160, 80);
}

void HistogramChart::setFigures(const workbench::ValueFigures& figures) {
  m_figures = figures;
  setAccessibleDescription(figures.finite > 0 ? tr("From %1 to %2").arg(figures.minimum).arg(figures.maximum)
                                              : tr("No finite element"));
  update();
}

/// Bars grow with the logarithm of the count, so that a single outlier is seen beside a million zeros.
void HistogramChart::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.fillRect(rect(), theme().base);
  const auto& counts = m_figures.histogram;
  if (counts.empty()) return;
  const auto inner = QRectF(rect()).adjusted(12, 10, -12, -24);
  const double most = std::log1p(double(std::ranges::max(counts)));
  const double step = inner.width() / double(counts.size());
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const double height = counts[i] > 0 ? std::max(2.0, inner.height() * std::log1p(double(counts[i])) / most) : 0;
    painter.fillRect(QRectF(inner.left() + step * double(i), inner.bottom() - height, std::max(1.0, step - 1), height),
                     theme().accent);
  }
  painter.setPen(theme().border);
  painter.drawLine(inner.bottomLeft(), inner.bottomRight());
  QFont small = interfaceFont();
  small.setPixelSize(11);
  painter.setFont(small);
  painter.setPen(theme().muted);
  const QRectF foot(inner.left(), inner.bottom() + 4, inner.width(), 16);
  painter.drawText(foot, Qt::AlignLeft, QString::number(m_figures.minimum, 'g', 4));
  painter.drawText(foot, Qt::AlignRight, QString::number(m_figures.maximum, 'g', 4));
}

}  // namespace kerf::ui::inline panels
