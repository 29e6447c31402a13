// GraphWidget: the graph on screen: one widget that paints a scene, zooms to the cursor, pans by dragging, selects.
#pragma once

#include <string>

#include <QWidget>

#include "ui/graph_view/graph_colors.h"
#include "ui/graph_view/scene.h"

namespace kerf::ui::inline graph_view {

class Minimap;

class GraphWidget : public QWidget {
  Q_OBJECT

 public:
  explicit GraphWidget(QWidget* parent = nullptr);

  /// Where the scene shows the same graph again (after a pass, with a group opened), zoom and place stay; else it begins
  /// at what the model returns.
  void setScene(ScenePtr scene, bool again = false);
  /// What is shown belongs to another title by now: nothing of it answers, and soon nothing of it is drawn.
  void setStale();
  /// There is no scene any more; the one that goes is drawn so much longer as one that is stale.
  void retire();
  /// Makes the scene that went the one that is shown again, stale as it is. Whether there is a scene then.
  bool takeBack();
  /// So that this node's card, or the title of its group, stays where it is on the screen in the next scene.
  void holdCard(int node);
  const ScenePtr& scene() const { return m_scene; }
  const ViewState& state() const { return m_state; }
  void select(int node, bool bringIntoView);
  void setFound(QSet<int> nodes, int current);
  void setColorMode(ColorMode mode);
  void setAccuracy(AccuracyDocPtr accuracy);
  void setSharding(ShardingDocPtr sharding);
  void setPinned(QSet<int> nodes);
  void setNoted(QSet<int> nodes);
  void setCut(QHash<int, QString> saved, QSet<int> recomputed);
  void setChanges(QSet<int> added, QSet<int> rewritten);
  void setHulls(HullsPtr hulls);
  void setDimUnrelated(bool on);
  void setValuesShown(bool on);

  /// The view is still where the scene began.
  bool untouched() const { return m_untouched; }
  double zoom() const { return m_zoom; }
  void setZoom(double zoom, const QPointF& keepFixed);
  void zoomBy(double factor);
  void fit();
  /// What a new graph starts with: all of it where that stays readable, else what the model returns.
  void startView();
  void resetZoom();
  void centerOn(int node);
  /// Brings a node into the middle, at a zoom at which its card can be read.
  void reveal(int node);
  /// Where a node's card is in the widget; empty where it has none.
  QRectF cardRect(int node) const;
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
  /// A group is to be opened, or closed.
  void groupToggled(const std::string& path, bool open);
  /// A node was double-clicked, or Enter was pressed on it.
  void nodeOpened(int node);
  /// Backspace where nothing is left to close.
  void leaveRequested();
  void pathRequested(int node);
  void viewChanged();
  /// There are other colours, or they mean something else.
  void meaningChanged();
  void resized();
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
  void findMoves();
  void walk(int key);
  int neighbour(int key) const;
  int sibling(int step) const;
  void hover(const QPointF& position);
  void toggle(int group, bool open);
  bool toggleSelected(bool open);
  int alongEdges(int card, bool down) const;
  QPointF heldPoint() const;
  QPointF placeOf(int node) const;
  QPointF within(const QPointF& wanted) const;
  double fitZoom() const;
  double middleOf(const QRectF& band) const;

  ScenePtr m_scene, m_retired;
  ViewState m_state;
  Minimap* m_minimap;
  double m_zoom = 1;
  QPointF m_center;
  QPointF m_pressed, m_centerAtPress;
  bool m_dragging = false;
  bool m_stale = false, m_hidden = false;  ///< the scene belongs to another title; and is drawn no more
  int m_held = -1;                         ///< node
  bool m_untouched = true;                 ///< the user has not moved the view of this scene yet
  int m_paintedCards = 0;
};

}  // namespace kerf::ui::inline graph_view
