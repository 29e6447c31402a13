#include "ui/panels/plot_axis.h"

#include <algorithm>
#include <cmath>

#include <QFontMetrics>

#include "ui/models/format.h"
#include "ui/models/theme.h"

namespace kerf::ui::inline panels {

QFont chartFont() {
  QFont font = interfaceFont();
  font.setPixelSize(11);
  return font;
}

void PlotAxis::fit(double most, int steps, double least) {
  const double smallest = std::max(most / std::max(steps, 1), least);
  const double power = std::pow(10, std::floor(std::log10(smallest)));
  step = 10 * power;
  for (const double factor : {5.0, 2.0, 1.0})
    if (power * factor >= smallest * (1 - 1e-9)) step = power * factor;
  end = step * std::max(1.0, std::ceil(most / step * (1 - 1e-9)));
}

int PlotAxis::ticks() const { return int(std::lround(end / step)) + 1; }

QString PlotAxis::label(double value) const {
  if (step < 1) return QString::number(value, 'f', int(std::ceil(-std::log10(step) - 1e-9)));
  return formatCount(qint64(std::llround(value)));
}

int PlotAxis::labelWidth(const QFontMetrics& metrics) const {
  int widest = 0;
  for (int i = 0; i < ticks(); ++i) widest = std::max(widest, metrics.horizontalAdvance(label(tick(i))));
  return widest;
}

}  // namespace kerf::ui::inline panels
