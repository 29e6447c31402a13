// GraphPainter: paints what is visible of a scene in one batch, with less detail the further away it is.
#pragma once

#include <QPainter>

#include "ui/graph_view/graph_colors.h"
#include "ui/graph_view/scene.h"

namespace kerf::ui::inline graph_view {

/// How much of a card is drawn: everything, its title in large letters, or a coloured box.
enum class Detail { Full, Title, Box };
Detail detailAt(double zoom);

/// Whether so many nodes were rewritten that the mark of a single one is better quiet.
bool rewroteMost(const Scene& scene, const ViewState& state);

class GraphPainter {
 public:
  GraphPainter(QPainter& painter, const Scene& scene, const ViewState& state, double zoom);
  /// `visible` in scene coordinates; the painter's transform maps scene to device.
  void paint(const QRectF& visible);
  int paintedCards() const { return m_painted; }

 private:
  void paintFrames(const QRectF& visible);
  void paintFrameTitles(const QRectF& visible);
  void paintGroupTitles(const QRectF& visible);
  void paintStack(const SceneCard& card);
  void paintEdges(const QRectF& visible);
  void paintEdge(const SceneEdge& edge, const QColor& color, double width, Qt::PenStyle style = Qt::SolidLine);
  void paintBoxes(const QRectF& visible);
  void paintCard(const SceneCard& card);
  void paintFrame(const SceneCard& card, const QColor& color);
  void paintTitle(const SceneCard& card, const QColor& color);
  void paintText(const SceneCard& card, const QColor& color);
  void paintRows(const SceneCard& card);
  void paintLabel(const QPointF& corner, const QString& label, const QColor& color);
  void paintBadge(const SceneCard& card, const QString& label);
  void countBad();
  void countChanges();
  void paintGhost(const SceneCard& card);
  void paintMark(const SceneCard& card);
  void paintCut(const SceneCard& card);
  void paintValues(const SceneCard& card);
  void paintMoves(const QRectF& visible);
  void paintPlacement(const SceneCard& card);
  /// Where there is room below a card: the strip of values may have its own.
  double belowCard(const SceneCard& card) const;
  double paintTag(const QPointF& corner, const QString& label, const QColor& color, bool centred = false);
  QColor markColor(int node) const;
  double labelScale() const;
  bool related(int card) const;
  bool holdsFirstBad(const SceneCard& card) const;
  QColor colorOf(const SceneCard& card) const;
  QColor borderOf(const SceneCard& card) const;

  QPainter& m_painter;
  const Scene& m_scene;
  const ViewState& m_state;
  double m_zoom;
  Detail m_detail;
  int m_selectedCard;
  int m_firstBad = -1;     ///< node
  std::vector<int> m_bad;  ///< by card, only where values were compared: nodes beyond the limit
  struct Changes {
    int added = 0, gone = 0, rewritten = 0;
  };
  std::vector<Changes> m_changes;  ///< by card, only where something changed: hidden in closed groups
  bool m_mostRewritten = false;
  QFont m_bold, m_plain, m_code, m_large;
  int m_painted = 0;
};

}  // namespace kerf::ui::inline graph_view
