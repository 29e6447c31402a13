// Minimap: the whole graph in the corner of the view; drag in it to move.
#pragma once

#include <QPixmap>
#include <QWidget>

namespace kerf::ui::inline graph_view {

class GraphWidget;

class Minimap : public QWidget {
  Q_OBJECT

 public:
  explicit Minimap(GraphWidget& view);
  /// The scene or its colours changed: draws the picture anew at the next paint.
  void refresh();
  /// Puts itself into the corner; hides where everything is visible anyway.
  void place();

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override { jump(event); }
  void mouseMoveEvent(QMouseEvent* event) override { jump(event); }
  void mouseReleaseEvent(QMouseEvent*) override {}
  void wheelEvent(QWheelEvent*) override {}

 private:
  void jump(QMouseEvent* event);
  void render();
  double scale() const;
  QPointF origin() const;

  GraphWidget& m_view;
  QPixmap m_picture;
};

}  // namespace kerf::ui::inline graph_view
