// GraphPainter: where values are placed over ranks: a tag at each card, and at edges what moving operands costs.
#include <algorithm>

#include "ui/graph_view/edge_path.h"
#include "ui/graph_view/graph_painter.h"
#include "ui/models/theme.h"

namespace kerf::ui::inline graph_view {
namespace {

constexpr double tagHeight = 18;

}  // namespace

void GraphPainter::paintMoves(const QRectF& visible) {
  if (m_state.mode != ColorMode::Placement || !m_state.moves || m_state.moves->edges.empty()) return;
  for (const auto& edge : m_scene.edges) {
    const auto moves = m_state.moves->edges.find({edge.from, edge.to});
    if (moves == m_state.moves->edges.end() || edge.points.empty() ||
        !edge.bounds.adjusted(-200, -20, 200, 20).intersects(visible))
      continue;
    paintEdge(edge, theme().warn, std::max(2.0, 1.4 / m_zoom));
    paintTag(edge.points.back() - QPointF(0, tagHeight * labelScale() / 2 + 3), moves->second.text(), theme().warn,
             true);
  }
}

void GraphPainter::paintPlacement(const SceneCard& card) {
  if (m_state.mode != ColorMode::Placement || !m_state.sharding || m_scene.isGhost(card.node)) return;
  const int at = int(&card - m_scene.cards.data());
  const auto* known = m_state.sharding->find(m_scene.graph->nodes[std::size_t(card.node)].name);
  QPointF corner(card.rect.left() + 2, belowCard(card) - 3);
  if (card.group < 0 && known && !known->placements.empty())
    corner.rx() += 4 + paintTag(corner, kerf::ui::text(known->placements),
                                nodeColor(m_scene.graph->nodes[std::size_t(card.node)], m_state));
  if (!m_state.moves) return;
  if (const auto inside = m_state.moves->inside.find(at); inside != m_state.moves->inside.end())
    paintTag(corner, inside->second.text(), theme().warn);
}

/// Its colour is a frame: the text stays legible whatever hue a placement has.
double GraphPainter::paintTag(const QPointF& corner, const QString& label, const QColor& color, bool centred) {
  const double scale = labelScale();
  QFont font = m_code;
  font.setPixelSize(int(11 * scale));
  const double width = QFontMetricsF(font).horizontalAdvance(label) + 14 * scale, height = tagHeight * scale;
  const QPointF start = centred ? corner - QPointF(width / 2, height / 2) : corner;
  const QRectF tag(start, QSizeF(width, height));
  m_painter.setPen(QPen(color, 1.6));
  m_painter.setBrush(blend(color, theme().base, 0.10));
  m_painter.drawRoundedRect(tag, 5 * scale, 5 * scale);
  m_painter.setFont(font);
  m_painter.setPen(theme().text);
  m_painter.drawText(tag, Qt::AlignCenter, label);
  return width;
}

}  // namespace kerf::ui::inline graph_view
