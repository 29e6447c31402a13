// GraphWidget: the graph on screen: one widget that paints a scene, zooms to the cursor, pans by dragging, selects.
#pragma once

#include <QWidget>

#include "ui/graph_view/graph_colors.h"
#include "ui/graph_view/scene.h"

namespace kerf::ui::inline graph_view {

class Minimap;

class GraphWidget : public QWidget {
  Q_OBJECT

 public:
  explicit GraphWidget(QWidget* parent = nullptr);

  /// Keeps zoom and the selected node's place if the scene shows the same graph again; else starts at the top.
  void setScene(ScenePtr scene);
  const ScenePtr& scene() const { return m_scene; }
  const ViewState& state() const { return m_state; }
  void select(int node, bool bringIntoView);
  void setFound(QSet<int> nodes, int current);
  void setColorMode(ColorMode mode);
  void setAccuracy(AccuracyDocPtr accuracy);
  void setAdded(QSet<int> nodes);
  void setDimUnrelated(bool on);

  double zoom() const { return m_zoom; }
  void setZoom(double zoom, const QPointF& keepFixed);
  void zoomBy(double factor);
  void fit();
  /// What a new graph starts with: all of it where that stays readable, else its top.
  void startView();
  void resetZoom();
  void centerOn(int node);
  void moveTo(const QPointF& center);
  QRectF visibleScene() const;
  QPointF toScene(const QPointF& widget) const;
  QPointF toWidget(const QPointF& scene) const;

  /// The whole scene, at zoom 1, on any device (SVG, image).
  void renderAll(QPainter& painter) const;
  QSize sceneSize() const;
  int lastPaintedCards() const { return m_paintedCards; }

 signals:
  void nodePicked(int node);
  void pathRequested(int node);
  void viewChanged();
  void contextMenuAt(int node, const QPoint& global);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void contextMenuEvent(QContextMenuEvent* event) override;
  void changeEvent(QEvent* event) override;

 private:
  void paintGrid(QPainter& painter) const;
  void paintLegend(QPainter& painter) const;
  void walk(int key);
  int neighbour(int key) const;
  int sibling(int step) const;
  void hover(const QPointF& position);
  double fitZoom() const;
  double middleOf(const QRectF& band) const;

  ScenePtr m_scene;
  ViewState m_state;
  Minimap* m_minimap;
  double m_zoom = 1;
  QPointF m_center;
  QPointF m_pressed, m_centerAtPress;
  bool m_dragging = false;
  bool m_untouched = true;  ///< the user has not moved the view of this scene yet
  int m_paintedCards = 0;
};

}  // namespace kerf::ui::inline graph_view
