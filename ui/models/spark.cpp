#include "ui/models/spark.h"

#include <algorithm>
#include <cmath>

#include <QPainter>
#include <QStringList>

#include "ui/models/format.h"
#include "ui/models/theme.h"

namespace kerf::ui::inline models {

void paintSpark(QPainter& painter, const QRectF& area, const workbench::ValueFigures& figures) {
  const auto& counts = figures.histogram;
  painter.setPen(Qt::NoPen);
  if (!counts.empty()) {
    const double most = std::log1p(double(std::ranges::max(counts)));
    const double step = area.width() / double(counts.size());
    painter.setBrush(blend(theme().accent, theme().base, 0.75));
    for (std::size_t i = 0; i < counts.size(); ++i)
      if (counts[i] > 0) {
        const double height = std::max(1.0, (area.height() - 1) * std::log1p(double(counts[i])) / most);
        painter.drawRect(
            QRectF(area.left() + step * double(i), area.bottom() - 1 - height, std::max(0.6, step - 0.4), height));
      }
    if (figures.minimum < 0 && figures.maximum > 0) {
      const double zero = -figures.minimum / (figures.maximum - figures.minimum);
      painter.setBrush(theme().warn);
      painter.drawRect(QRectF(area.left() + zero * area.width() - 0.5, area.top(), 1, area.height()));
    }
  }
  const bool finite = figures.finite == figures.elements;
  painter.setBrush(finite ? theme().muted : theme().bad);
  painter.drawRect(QRectF(area.left(), area.bottom() - 1, area.width(), finite ? 0.7 : 1.6));
}

QImage sparkImage(const workbench::ValueFigures& figures, const QSize& size, double pixelRatio) {
  QImage image(size * pixelRatio, QImage::Format_ARGB32_Premultiplied);
  image.setDevicePixelRatio(pixelRatio);
  image.fill(Qt::transparent);
  QPainter painter(&image);
  paintSpark(painter, QRectF(QPointF(), QSizeF(size)), figures);
  return image;
}

QString rangeText(const workbench::ValueFigures& figures, int digits) {
  const auto number = [digits](double value) { return QString::number(value, 'g', digits); };
  if (figures.elements == 0) return QStringLiteral("—");
  if (figures.finite == 0) return {};
  if (figures.minimum == figures.maximum) return number(figures.minimum);
  return number(figures.minimum) + " … " + number(figures.maximum);
}

QString oddText(const workbench::ValueFigures& figures) {
  QStringList parts;
  if (figures.nans > 0) parts << formatCount(figures.nans) + " NaN";
  if (figures.positiveInfinities > 0) parts << formatCount(figures.positiveInfinities) + " +inf";
  if (figures.negativeInfinities > 0) parts << formatCount(figures.negativeInfinities) + QString::fromUtf8(" −inf");
  return parts.join(", ");
}

}  // namespace kerf::ui::inline models
