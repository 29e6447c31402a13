// The curve of an edge, as painters draw it.
#pragma once

#include <QPainterPath>
#include <QPolygonF>

namespace kerf::ui::inline graph_view {

/// Of a cubic Bézier of 3k + 1 points, k > 0.
inline QPainterPath edgePath(const QPolygonF& points) {
  QPainterPath path(points.first());
  for (int i = 1; i + 2 < points.size(); i += 3) path.cubicTo(points[i], points[i + 1], points[i + 2]);
  return path;
}

}  // namespace kerf::ui::inline graph_view
