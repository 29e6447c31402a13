// HullPainter: an outline around the cards of each fusion group and the links between them, below both.
#pragma once

#include <QPainter>

#include "ui/graph_view/hulls.h"
#include "ui/graph_view/scene.h"

namespace kerf::ui::inline graph_view {

class HullPainter {
 public:
  /// Closed blocks have no part in it: nobody sees which of their nodes are meant.
  HullPainter(QPainter& painter, const Scene& scene, const std::vector<NodeHull>& hulls, double zoom);
  void paint(const QRectF& visible);
  /// Names of the groups, where there is room; above the cards.
  void paintTitles(const QRectF& visible);
  /// Groups of which two cards are drawn.
  int drawn() const;
  /// The colour of a group's outline; neighbours in execution order differ.
  static QColor colorOf(std::size_t hull);

 private:
  struct Shape {
    std::vector<int> cards, edges;
    QRectF bounds;
  };
  void fill(const Shape& shape, double by, const QColor& color);

  QPainter& m_painter;
  const Scene& m_scene;
  const std::vector<NodeHull>& m_hulls;
  double m_zoom;
  std::vector<Shape> m_shapes;
};

}  // namespace kerf::ui::inline graph_view
