// GraphPainter: what a node's values are like, below its card: a spark and the range, after a comparison.
#include <algorithm>

#include "ui/graph_view/graph_painter.h"
#include "ui/models/spark.h"
#include "ui/models/theme.h"

namespace kerf::ui::inline graph_view {

namespace {

constexpr double stripHeight = 18, sparkWidth = 52, leastSpark = 16;

/// The side that is run for people; what the interpreter has where that has nothing.
const workbench::SideFigures* shownSide(const workbench::NodeFigures& figures) {
  const auto compiled = std::ranges::find(figures.sides, "compiled", &workbench::SideFigures::side);
  if (compiled != figures.sides.end()) return &*compiled;
  return figures.sides.empty() ? nullptr : &figures.sides.front();
}

/// What is said has fewer digits where the card is narrow: the histogram needs room too.
QString saidWithin(const workbench::ValueFigures& figures, double width, const QFontMetricsF& metrics) {
  if (const auto odd = oddText(figures); !odd.isEmpty()) return odd;
  for (int digits = 4; digits > 2; --digits)
    if (const auto said = rangeText(figures, digits); metrics.horizontalAdvance(said) <= width) return said;
  return rangeText(figures, 2).replace(" … ", "…");
}

}  // namespace

double GraphPainter::belowCard(const SceneCard& card) const {
  const bool strip = card.group < 0 && m_state.values && m_state.accuracy && m_detail == Detail::Full &&
                     m_state.accuracy->figuresOf(m_scene.graph->nodes[std::size_t(card.node)].name) != nullptr;
  return card.rect.bottom() + (strip ? stripHeight : 0);
}

/// Drawn before the card, which covers its upper edge.
void GraphPainter::paintValues(const SceneCard& card) {
  if (card.group >= 0 || m_scene.isGhost(card.node) || !m_state.accuracy) return;
  const auto* known = m_state.accuracy->figuresOf(m_scene.graph->nodes[std::size_t(card.node)].name);
  const auto* side = known ? shownSide(*known) : nullptr;
  if (!side) return;
  const auto& figures = side->figures;
  const QRectF strip(card.rect.left() + 6, card.rect.bottom() - 4, card.rect.width() - 12, stripHeight + 4);
  const auto odd = oddText(figures);
  m_painter.setPen(QPen(odd.isEmpty() ? theme().edge : theme().bad, 1));
  m_painter.setBrush(blend(odd.isEmpty() ? theme().muted : theme().bad, theme().base, 0.07));
  m_painter.drawRoundedRect(strip, 4, 4);
  const auto inner = strip.adjusted(5, 6, -5, -3);
  const QFontMetricsF metrics(m_code);
  const auto said = saidWithin(figures, inner.width() - leastSpark - 8, metrics);
  const double wide = std::min(sparkWidth, inner.width() - metrics.horizontalAdvance(said) - 5);
  const bool spark = wide >= leastSpark - 4;
  if (spark) paintSpark(m_painter, QRectF(inner.left(), inner.top(), wide, inner.height()), figures);
  m_painter.setFont(m_code);
  m_painter.setPen(odd.isEmpty() ? theme().muted : theme().bad);
  const auto area = spark ? inner.adjusted(wide + 4, -2, 0, 2) : inner.adjusted(0, -2, 0, 2);
  m_painter.drawText(area, Qt::AlignRight | Qt::AlignVCenter, metrics.elidedText(said, Qt::ElideRight, area.width()));
}

}  // namespace kerf::ui::inline graph_view
