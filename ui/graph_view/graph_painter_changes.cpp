// GraphPainter: the cut between forward and backward; and what changed against another graph: marks at nodes that are
// new or rewritten, ghosts of those that are gone, and how many of either a closed group hides.
#include <algorithm>

#include "ui/graph_view/graph_painter.h"
#include "ui/models/theme.h"

namespace kerf::ui::inline graph_view {

namespace {
constexpr double cornerRadius = 6;
}

void GraphPainter::countChanges() {
  m_changes.assign(m_scene.cards.size(), {});
  const auto count = [this](int node, int Changes::* what) {
    const int card = node < int(m_scene.cardOfNode.size()) ? m_scene.cardOfNode[std::size_t(node)] : -1;
    if (card >= 0 && m_scene.cards[std::size_t(card)].group >= 0) ++(m_changes[std::size_t(card)].*what);
  };
  for (const int node : m_state.added) count(node, &Changes::added);
  for (const int node : m_state.rewritten) count(node, &Changes::rewritten);
  for (int node = int(m_scene.shown->nodes.size()); node < int(m_scene.graph->nodes.size()); ++node)
    count(node, &Changes::gone);
}

/// Of a node that changed; invalid for others.
QColor GraphPainter::markColor(int node) const {
  if (m_scene.isGhost(node)) return theme().bad;
  if (m_state.added.contains(node)) return theme().good;
  if (!m_state.rewritten.contains(node)) return {};
  return m_mostRewritten ? theme().faint : theme().warn;
}

/// Where a stage wrote most nodes anew, that a node is among them says little: what was added stands out.
bool rewroteMost(const Scene& scene, const ViewState& state) {
  return std::ssize(scene.shown->nodes) < 3 * std::ptrdiff_t(state.rewritten.size());
}

/// A node that is gone: an outline with its name.
void GraphPainter::paintGhost(const SceneCard& card) {
  const bool selected = card.node == m_state.selected;
  m_painter.setPen(QPen(selected ? theme().accent : theme().bad, std::max(1.2, 1 / m_zoom), Qt::DashLine));
  m_painter.setBrush(blend(theme().bad, theme().canvas, 0.07));
  m_painter.drawRoundedRect(card.rect, cornerRadius, cornerRadius);
  const QColor color = blend(theme().bad, theme().muted, 0.4);
  m_painter.setOpacity(0.75);
  m_detail == Detail::Full ? paintText(card, color) : paintTitle(card, color);
  m_painter.setOpacity(1);
}

/// What forward saves of a node, or that backward computes it again.
void GraphPainter::paintCut(const SceneCard& card) {
  if (card.group >= 0) return;
  const QPointF corner(card.rect.left() + 16, card.rect.bottom() - 8);
  if (const auto saved = m_state.saved.constFind(card.node); saved != m_state.saved.constEnd())
    return paintLabel(corner, "saved " + *saved, theme().accent);
  if (m_state.recomputed.contains(card.node)) paintLabel(corner, "computed again", theme().faint);
}

/// A plus, a minus or a tilde at the corner of a node that changed; how many did at that of a closed group.
void GraphPainter::paintMark(const SceneCard& card) {
  const auto at = std::size_t(&card - m_scene.cards.data());
  QString label;
  auto color = card.group < 0 ? markColor(card.node) : QColor();
  if (color.isValid()) label = m_scene.isGhost(card.node) ? "−" : m_state.added.contains(card.node) ? "+" : "~";
  if (card.group >= 0 && at < m_changes.size()) {
    const auto& changes = m_changes[at];
    QStringList parts;
    if (changes.added > 0) parts << QString("+%1").arg(changes.added);
    if (changes.gone > 0) parts << QString("−%1").arg(changes.gone);
    if (changes.rewritten > 0) parts << QString("~%1").arg(changes.rewritten);
    label = parts.join(' ');
    color = changes.gone > 0 ? theme().bad : changes.added > 0 ? theme().good : theme().warn;
    if (changes.gone > 0 && changes.added > 0) color = theme().warn;
    if (m_mostRewritten && changes.gone + changes.added == 0) color = theme().faint;
  }
  const double top = card.rect.top() - 13 * labelScale();  // above the title, so that both can be read
  if (card.group < 0 && m_state.noted.contains(card.node))
    paintLabel(QPointF(card.rect.right() - 26, top), "★", theme().accent);
  if (card.group < 0 && m_state.pinned.contains(card.node))
    paintLabel(QPointF(card.rect.left() + 16, top), "kept", theme().accent);
  if (!label.isEmpty()) paintLabel(QPointF(card.rect.left() - 7, top), label, color);
}

/// Labels are legible from afar.
double GraphPainter::labelScale() const { return std::clamp(0.7 / m_zoom, 1.0, 2.2); }

void GraphPainter::paintLabel(const QPointF& corner, const QString& label, const QColor& color) {
  const double scale = labelScale();
  QFont font = m_bold;
  font.setPixelSize(int(QFontInfo(m_bold).pixelSize() * scale));
  const double width = std::max(18 * scale, QFontMetricsF(font).horizontalAdvance(label) + 12 * scale);
  const QRectF badge(corner, QSizeF(width, 18 * scale));
  m_painter.setPen(QPen(theme().canvas, 1.5));
  m_painter.setBrush(color);
  m_painter.drawRoundedRect(badge, 9 * scale, 9 * scale);
  m_painter.setFont(font);
  m_painter.setPen(theme().dark ? theme().window : theme().base);
  m_painter.drawText(badge, Qt::AlignCenter, label);
}

}  // namespace kerf::ui::inline graph_view
