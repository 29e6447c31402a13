// PlotAxis: a scale from zero to a round number, its ticks, and how they are written.
#pragma once

#include <QFont>
#include <QString>

QT_BEGIN_NAMESPACE
class QFontMetrics;
QT_END_NAMESPACE

namespace kerf::ui::inline panels {

/// Of numbers and names in a chart.
QFont chartFont();

struct PlotAxis {
  QString title;  ///< with the unit of the numbers
  double step = 1, end = 10;

  /// Ends on the tick at or above `most`. Steps are 1, 2 or 5 times a power of ten, `least` or more, and at most
  /// `steps`.
  void fit(double most, int steps, double least);
  int ticks() const;  ///< with the one at zero
  double tick(int index) const { return step * index; }
  /// "1,200", or "0.4" where steps are parts of one.
  QString label(double value) const;
  /// Of the widest label.
  int labelWidth(const QFontMetrics& metrics) const;
};

}  // namespace kerf::ui::inline panels
