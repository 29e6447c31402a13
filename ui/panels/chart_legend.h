// ChartLegend: what the lines and marks of a chart are, in rows above it.
#pragma once

#include <vector>

#include <QColor>
#include <QPainterPath>
#include <QPen>
#include <QStringList>

QT_BEGIN_NAMESPACE
class QFontMetrics;
class QPainter;
QT_END_NAMESPACE

namespace kerf::ui::inline panels {

/// A regular polygon, or a star where every second corner is drawn in; a circle where there are no corners.
struct MarkShape {
  int corners = 0;
  double turn = 0;   ///< of a full turn, from a corner that points up
  double inner = 1;  ///< radius between two corners of a star
  double size = 1;   ///< by which the radius grows, so that shapes look equally large

  QPainterPath path(const QPointF& center, double radius) const;
};

struct ChartLegendEntry {
  QString name;
  QColor color;
  const MarkShape* mark = nullptr;  ///< none for a line
  Qt::PenStyle line = Qt::SolidLine;
};

class ChartLegend {
 public:
  std::vector<ChartLegendEntry> entries;

  QStringList names() const;
  /// Puts the entries into at most `rows` rows of at most `width`: what finds no place in them is not drawn, and a name
  /// that is wider than a row is cut.
  void arrange(const QFontMetrics& metrics, int width, int rows);
  int height() const { return m_height; }
  /// From `top` down, with the painter's font.
  void draw(QPainter& painter, const QPointF& top, const QColor& textColor, const QColor& edge) const;

 private:
  std::vector<QRectF> m_places;
  int m_height = 0;
};

}  // namespace kerf::ui::inline panels
