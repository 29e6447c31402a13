#include "ui/graph_view/graph_painter.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include <QPainterPath>

#include "ui/graph_view/edge_path.h"
#include "ui/graph_view/hull_painter.h"
#include "ui/models/theme.h"

namespace kerf::ui::inline graph_view {
namespace {

constexpr double radius = 6;
constexpr double arrow = 6;
constexpr double bar = 4;  ///< at the left edge of a card: its kind; at the right one: it computes gradients
constexpr std::size_t mostSmoothEdges = 3000;  ///< above this many visible edges, they are plain lines

QPainterPath rounded(const QRectF& rect) {
  QPainterPath path;
  path.addRoundedRect(rect, radius, radius);
  return path;
}

QPolygonF arrowAt(const QPointF& tip) {
  return QPolygonF({tip, tip + QPointF(-arrow * 0.6, -arrow), tip + QPointF(arrow * 0.6, -arrow)});
}

}  // namespace

Detail detailAt(double zoom) { return zoom >= 0.62 ? Detail::Full : zoom >= 0.16 ? Detail::Title : Detail::Box; }

GraphPainter::GraphPainter(QPainter& painter, const Scene& scene, const ViewState& state, double zoom)
    : m_painter(painter),
      m_scene(scene),
      m_state(state),
      m_zoom(zoom),
      m_detail(detailAt(zoom)),
      m_selectedCard(state.selected >= 0 && state.selected < int(scene.cardOfNode.size())
                         ? scene.cardOfNode[std::size_t(state.selected)]
                         : -1),
      m_bold(interfaceFont()),
      m_plain(interfaceFont()),
      m_code(codeFont()),
      m_large(interfaceFont()) {
  m_bold.setBold(true);
  m_plain.setPixelSize(12);
  m_code.setPixelSize(11);
  m_large.setPixelSize(26);
  m_large.setBold(true);
  if (state.mode == ColorMode::Accuracy && state.accuracy)
    m_firstBad = scene.graph->find(state.accuracy->firstBadNode());
  if (state.mode == ColorMode::Accuracy && state.accuracy && scene.groups) countBad();
  const bool changed = !state.added.isEmpty() || !state.rewritten.isEmpty() || scene.ghosts;
  if (changed && scene.groups) countChanges();
  m_mostRewritten = changed && rewroteMost(scene, state);
}

void GraphPainter::countBad() {
  m_bad.assign(m_scene.cards.size(), 0);
  for (const auto& row : m_state.accuracy->nodes) {
    const int node = row.same ? -1 : m_scene.graph->find(row.node);
    const int card = node < 0 ? -1 : m_scene.cardOfNode[std::size_t(node)];
    if (card >= 0 && m_scene.cards[std::size_t(card)].group >= 0) ++m_bad[std::size_t(card)];
  }
}

void GraphPainter::paint(const QRectF& visible) {
  m_painter.setRenderHint(QPainter::Antialiasing, m_detail != Detail::Box);
  m_painter.setRenderHint(QPainter::TextAntialiasing, true);
  paintFrames(visible);
  std::optional<HullPainter> hulls;
  if (m_state.hulls && !m_state.hulls->empty()) hulls.emplace(m_painter, m_scene, *m_state.hulls, m_zoom);
  if (hulls) hulls->paint(visible);
  paintEdges(visible);
  if (m_detail == Detail::Box) {
    paintBoxes(visible);
    paintGroupTitles(visible);
    return paintFrameTitles(visible);
  }
  for (const auto& card : m_scene.cards) {
    if (!card.rect.intersects(visible)) continue;
    if (m_state.values && m_detail == Detail::Full) paintValues(card);
    card.group < 0 && m_scene.isGhost(card.node) ? paintGhost(card) : paintCard(card);
    ++m_painted;
  }
  for (const auto& card : m_scene.cards)
    if (card.rect.intersects(visible)) {
      paintMark(card);
      paintCut(card);
      paintPlacement(card);
    }
  paintMoves(visible);
  if (hulls) hulls->paintTitles(visible);
  paintFrameTitles(visible);
  for (const auto& card : m_scene.cards)
    if (card.rect.intersects(visible) && holdsFirstBad(card)) paintBadge(card, "first bad");
  for (std::size_t i = 0; i < m_bad.size(); ++i)
    if (const auto& card = m_scene.cards[i]; m_bad[i] > 0 && !holdsFirstBad(card) && card.rect.intersects(visible))
      paintBadge(card, QString("%1 bad").arg(m_bad[i]));
}

bool GraphPainter::holdsFirstBad(const SceneCard& card) const {
  return m_firstBad >= 0 && m_scene.cardOfNode[std::size_t(m_firstBad)] == int(&card - m_scene.cards.data());
}

/// A group has the colour of what it returns, or of the first bad node in it.
QColor GraphPainter::colorOf(const SceneCard& card) const {
  const auto at = std::size_t(&card - m_scene.cards.data());
  if (card.group >= 0 && (holdsFirstBad(card) || (at < m_bad.size() && m_bad[at] > 0))) return theme().bad;
  if (card.group >= 0 && m_state.mode == ColorMode::Kind)
    return m_scene.groups->groups[std::size_t(card.group)].backward ? theme().warn : theme().accent;
  return nodeColor(m_scene.graph->nodes[std::size_t(card.node)], m_state);
}

void GraphPainter::paintFrames(const QRectF& visible) {
  for (const auto& frame : m_scene.frames) {
    if (!frame.rect.intersects(visible)) continue;
    const bool backward = m_scene.groups->groups[std::size_t(frame.group)].backward;
    const auto tone = blend(backward ? theme().warn : theme().accent, theme().muted, 0.5);
    m_painter.setPen(QPen(blend(tone, theme().canvas, 0.5), std::max(1.0, 0.8 / m_zoom)));
    m_painter.setBrush(blend(tone, theme().canvas, 0.05 + 0.025 * std::min(frame.depth, 4)));
    m_painter.drawRoundedRect(frame.rect, 10, 10);
  }
}

/// Names of frames, as large on the screen from afar as from near, where they have room.
void GraphPainter::paintFrameTitles(const QRectF& visible) {
  constexpr double nearSize = 14, farSize = 11;
  for (const auto& frame : m_scene.frames) {
    if (!frame.rect.intersects(visible)) continue;
    const double size = std::max(nearSize, farSize / m_zoom);
    const bool far = size > FramePadding().top - 8;
    if (far && (frame.rect.width() * m_zoom < 60 || frame.rect.height() * m_zoom < 26)) continue;
    QFont font = interfaceFont();
    font.setBold(true);
    font.setPixelSize(int(size));
    const QFontMetricsF metrics(font);
    const auto title = metrics.elidedText(frame.title, Qt::ElideRight, frame.rect.width() - 24);
    const double width = metrics.horizontalAdvance(title), height = metrics.height();
    const QRectF area(frame.rect.left() + 12, frame.rect.top() + (far ? 4 : 9), width, height);
    const bool backward = m_scene.groups->groups[std::size_t(frame.group)].backward;
    const auto tone = blend(backward ? theme().warn : theme().accent, theme().text, 0.4);
    m_painter.setPen(Qt::NoPen);
    m_painter.setBrush(blend(theme().canvas, theme().base, 0.3));
    m_painter.drawRoundedRect(area.adjusted(-5, -1, 5, 1), 4, 4);
    m_painter.setFont(font);
    m_painter.setPen(tone);
    m_painter.drawText(area, Qt::AlignLeft | Qt::AlignVCenter, title);
    if (far || m_detail != Detail::Full) continue;
    const QFontMetricsF plain(m_plain);
    const auto detail = plain.elidedText(frame.detail, Qt::ElideRight, frame.rect.right() - area.right() - 24);
    m_painter.setFont(m_plain);
    m_painter.setPen(theme().muted);
    m_painter.drawText(QRectF(area.right() + 12, area.top(), plain.horizontalAdvance(detail) + 2, height),
                       Qt::AlignLeft | Qt::AlignVCenter, detail);
  }
}

/// Names of closed groups that are boxes by now: beside nothing else, they say where one is.
void GraphPainter::paintGroupTitles(const QRectF& visible) {
  const double size = 10 / m_zoom;
  QFont font = interfaceFont();
  font.setPixelSize(int(size));
  const QFontMetricsF metrics(font);
  m_painter.setFont(font);
  m_painter.setPen(theme().text);
  for (const auto& card : m_scene.cards) {
    if (card.group < 0 || !card.rect.intersects(visible) || card.rect.height() < metrics.height() * 0.6) continue;
    const auto title = metrics.elidedText(card.title, Qt::ElideLeft, card.rect.width());
    m_painter.drawText(card.rect, Qt::AlignCenter, title);
  }
}

/// Two more edges behind a closed group: there is something in it.
void GraphPainter::paintStack(const SceneCard& card) {
  m_painter.setPen(QPen(theme().edge, 1));
  for (const double step : {6.0, 3.0}) {
    m_painter.setBrush(blend(colorOf(card), theme().base, 0.06 + step / 100));
    m_painter.drawRoundedRect(card.rect.adjusted(step, step, step, step), radius, radius);
  }
}

void GraphPainter::paintEdges(const QRectF& visible) {
  std::vector<const SceneEdge*> marked, plain, gone;
  for (const auto& edge : m_scene.edges) {
    if (edge.points.empty() || !edge.bounds.intersects(visible)) continue;
    const bool near = m_selectedCard >= 0 && (edge.from == m_selectedCard || edge.to == m_selectedCard);
    const auto ghost = [this](int card) {
      const auto& end = m_scene.cards[std::size_t(card)];
      return end.group < 0 && m_scene.isGhost(end.node);
    };
    (near ? marked : ghost(edge.from) || ghost(edge.to) ? gone : plain).push_back(&edge);
  }
  const QColor quiet = quietEdge();
  if (m_detail != Detail::Box && plain.size() < mostSmoothEdges) {
    for (const auto* edge : plain) paintEdge(*edge, quiet, 1.2);
  } else {
    QVector<QLineF> lines;
    for (const auto* edge : plain)  // along the lanes: a straight line would pass behind cards
      for (int i = 0; i + 3 < edge->points.size(); i += 3) lines.push_back({edge->points[i], edge->points[i + 3]});
    m_painter.setPen(QPen(blend(quiet, theme().canvas, 0.7), 0));
    m_painter.drawLines(lines);
  }
  for (const auto* edge : gone) paintEdge(*edge, blend(theme().bad, theme().canvas, 0.5), 1.2, Qt::DashLine);
  const auto onward = m_state.mode == ColorMode::Placement ? theme().accent : theme().warn;  // there that says: moved
  for (const auto* edge : marked)
    paintEdge(*edge, edge->to == m_selectedCard ? theme().accent : onward, std::max(2.0, 1.4 / m_zoom));
}

void GraphPainter::paintEdge(const SceneEdge& edge, const QColor& color, double width, Qt::PenStyle style) {
  m_painter.setBrush(Qt::NoBrush);
  m_painter.setPen(QPen(color, width, style));
  m_painter.drawPath(edgePath(edge.points));
  if (m_detail != Detail::Full) return;
  m_painter.setPen(Qt::NoPen);
  m_painter.setBrush(color);
  m_painter.drawPolygon(arrowAt(edge.points.last()));
}

void GraphPainter::paintBoxes(const QRectF& visible) {
  QHash<QRgb, QVector<QRectF>> batches;
  for (const auto& card : m_scene.cards) {
    if (!card.rect.intersects(visible)) continue;
    ++m_painted;
    const bool marked = card.node == m_state.selected || m_state.found.contains(card.node);
    const QColor change = card.group < 0 ? markColor(card.node) : QColor();
    const bool stands = change.isValid() && change != theme().faint;
    const QColor color = marked ? theme().accent : stands ? change : blend(colorOf(card), theme().base, 0.75);
    batches[color.rgb()].push_back(card.rect);
  }
  m_painter.setPen(Qt::NoPen);
  for (auto batch = batches.constBegin(); batch != batches.constEnd(); ++batch) {
    m_painter.setBrush(QColor(batch.key()));
    m_painter.drawRects(batch.value());
  }
  if (m_selectedCard < 0) return;
  m_painter.setPen(QPen(theme().accent, 3 / m_zoom));
  m_painter.setBrush(Qt::NoBrush);
  m_painter.drawRect(
      m_scene.cards[std::size_t(m_selectedCard)].rect.adjusted(-3 / m_zoom, -3 / m_zoom, 3 / m_zoom, 3 / m_zoom));
}

bool GraphPainter::related(int card) const {
  if (!m_state.dimUnrelated || m_selectedCard < 0 || card == m_selectedCard) return true;
  const auto& selected = m_scene.graph->nodes[std::size_t(m_state.selected)];
  const auto near = [&](int node) { return m_scene.cardOfNode[std::size_t(node)] == card; };
  return std::any_of(selected.inputs.begin(), selected.inputs.end(), near) ||
         std::any_of(selected.users.begin(), selected.users.end(), near);
}

void GraphPainter::paintCard(const SceneCard& card) {
  const QColor color = colorOf(card);
  const bool faded = !related(int(&card - m_scene.cards.data()));
  if (faded) m_painter.setOpacity(0.35);
  if (card.group >= 0) paintStack(card);
  paintFrame(card, color);
  if (m_detail == Detail::Full) {
    paintText(card, color);
    paintRows(card);
  } else {
    paintTitle(card, color);
  }
  if (faded) m_painter.setOpacity(1);
}

QColor GraphPainter::borderOf(const SceneCard& card) const {
  if (m_state.selected >= 0 && &card - m_scene.cards.data() == m_selectedCard) return theme().accent;
  if (m_state.found.contains(card.node)) return theme().warn;
  if (const auto change = markColor(card.node); card.group < 0 && change.isValid() && change != theme().faint)
    return change;
  return card.node == m_state.hovered ? theme().muted : theme().edge;
}

void GraphPainter::paintFrame(const SceneCard& card, const QColor& color) {
  const auto border = borderOf(card);
  const bool strong = border != theme().edge && border != theme().muted;
  const double width = strong ? std::max(2.0, 1.5 / m_zoom) : 1.0;
  const bool current = m_state.currentHit == card.node;
  if (current || border == theme().accent) {
    m_painter.setPen(Qt::NoPen);
    m_painter.setBrush(blend(current ? theme().warn : theme().accent, theme().canvas, 0.28));
    m_painter.drawRoundedRect(card.rect.adjusted(-5, -5, 5, 5), radius + 4, radius + 4);
  }
  const bool accuracy = m_state.mode == ColorMode::Accuracy;
  const double tint = m_detail == Detail::Full ? (accuracy ? 0.10 : 0) : 0.16;
  m_painter.setPen(QPen(border, width));
  m_painter.setBrush(blend(color, theme().base, tint));
  m_painter.drawRoundedRect(card.rect, radius, radius);
  m_painter.save();
  m_painter.setClipPath(rounded(card.rect.adjusted(width / 2, width / 2, -width / 2, -width / 2)), Qt::IntersectClip);
  m_painter.setPen(Qt::NoPen);
  if (m_detail == Detail::Full) {
    m_painter.setBrush(blend(color, theme().base, (theme().dark ? 0.24 : 0.13) + (accuracy ? 0.08 : 0)));
    m_painter.drawRect(QRectF(card.rect.topLeft(), QSizeF(card.rect.width(), CardMetrics::header)));
  }
  m_painter.setBrush(color);
  m_painter.drawRect(QRectF(card.rect.topLeft(), QSizeF(bar, card.rect.height())));
  if (card.group < 0 && m_scene.graph->nodes[std::size_t(card.node)].backward) {
    m_painter.setBrush(theme().accent);
    m_painter.drawRect(QRectF(card.rect.topRight() - QPointF(bar, 0), QSizeF(bar, card.rect.height())));
  }
  m_painter.restore();
}

/// The title as large as there is room for; below a group's, how much there is in it.
void GraphPainter::paintTitle(const SceneCard& card, const QColor& color) {
  auto area = card.rect.adjusted(10, 0, -6, 0);
  const double least = std::min(26.0, 9.5 / m_zoom);
  QFont font = m_large;
  if (card.group >= 0 && card.rect.height() >= 2.3 * least) {
    const auto below = QRectF(area.left(), area.center().y() + 2, area.width(), area.height() / 2 - 4);
    area.setBottom(area.center().y() + 2);
    font.setPixelSize(int(least));
    font.setBold(false);
    m_painter.setFont(font);
    m_painter.setPen(theme().muted);
    const auto size = card.repeats.isEmpty() ? card.name : card.repeats;
    m_painter.drawText(below, Qt::AlignHCenter | Qt::AlignTop,
                       QFontMetricsF(font).elidedText(size, Qt::ElideRight, area.width()));
    font.setBold(true);
  }
  const double wide = QFontMetricsF(m_large).horizontalAdvance(card.title);
  const double room =
      std::min(m_large.pixelSize() * std::min(1.0, area.width() / std::max(1.0, wide)), area.height() * 0.8);
  font.setPixelSize(int(std::clamp(room, least, double(m_large.pixelSize()))));
  m_painter.setFont(font);
  m_painter.setPen(blend(color, theme().text, 0.35));
  m_painter.drawText(area, Qt::AlignCenter, QFontMetricsF(font).elidedText(card.title, Qt::ElideMiddle, area.width()));
}

void GraphPainter::paintText(const SceneCard& card, const QColor& color) {
  const auto header = QRectF(card.rect.topLeft(), QSizeF(card.rect.width(), CardMetrics::header))
                          .adjusted(CardMetrics::padding + 2, 0, -CardMetrics::padding, 0);
  const QFontMetricsF bold(m_bold), plain(m_plain), code(m_code);
  const auto title = bold.elidedText(card.title, Qt::ElideRight, header.width());
  m_painter.setFont(m_bold);
  m_painter.setPen(blend(color, theme().text, theme().dark ? 0.35 : 0.45));
  m_painter.drawText(header, Qt::AlignLeft | Qt::AlignVCenter, title);
  const double left = header.width() - bold.horizontalAdvance(title) - 10;
  m_painter.setFont(m_plain);
  m_painter.setPen(theme().muted);
  if (left > 20)
    m_painter.drawText(header, Qt::AlignRight | Qt::AlignVCenter, plain.elidedText(card.name, Qt::ElideLeft, left));
  if (card.detail.isEmpty()) return;
  const QRectF line(header.left(), header.bottom(), header.width(), CardMetrics::line + 2);
  m_painter.setFont(m_code);
  m_painter.setPen(theme().text);
  m_painter.drawText(line, Qt::AlignLeft | Qt::AlignVCenter,
                     code.elidedText(card.detail, Qt::ElideRight, line.width()));
}

void GraphPainter::paintRows(const SceneCard& card) {
  const QFontMetricsF plain(m_plain), code(m_code);
  for (std::size_t i = 0; i < card.rows.size(); ++i) {
    const auto& row = card.rows[i];
    const auto whole = rowRect(card, i);
    if (row.node >= 0 && (row.node == m_state.selected || row.node == m_state.hovered)) {
      m_painter.setPen(Qt::NoPen);
      m_painter.setBrush(blend(theme().accent, theme().base, row.node == m_state.selected ? 0.28 : 0.12));
      m_painter.drawRoundedRect(whole.adjusted(7, 1, -5, -1), 3, 3);
    }
    const auto area = whole.adjusted(CardMetrics::padding + 16, 0, -CardMetrics::padding, 0);
    const QPointF mark(whole.left() + CardMetrics::padding + 6, whole.center().y());
    m_painter.setPen(row.portal ? QPen(theme().accent, 1.4) : QPen(Qt::NoPen));
    const bool placed = m_state.mode == ColorMode::Placement && row.node >= 0;
    const auto dot = placed ? nodeColor(m_scene.graph->nodes[std::size_t(row.node)], m_state) : theme().faint;
    m_painter.setBrush(row.portal ? QBrush(Qt::NoBrush) : QBrush(dot));
    if (row.node >= 0) m_painter.drawEllipse(mark, 3, 3);
    m_painter.setFont(m_code);
    m_painter.setPen(theme().muted);
    const auto detail = code.elidedText(row.detail, Qt::ElideRight, area.width() * 0.6);
    m_painter.drawText(area, Qt::AlignRight | Qt::AlignVCenter, detail);
    m_painter.setFont(m_plain);
    m_painter.setPen(m_state.found.contains(row.node) ? theme().warn : row.portal ? theme().accent : theme().text);
    const double left = area.width() - code.horizontalAdvance(detail) - 8;
    m_painter.drawText(area, Qt::AlignLeft | Qt::AlignVCenter, plain.elidedText(row.label, Qt::ElideRight, left));
  }
}

void GraphPainter::paintBadge(const SceneCard& card, const QString& label) {
  const double scale = std::clamp(0.7 / m_zoom, 1.0, 2.0);  // legible from afar
  QFont font = m_bold;
  font.setPixelSize(int(QFontInfo(m_bold).pixelSize() * scale));
  const double width = QFontMetricsF(font).horizontalAdvance(label) + 16 * scale;
  const QRectF badge(card.rect.right() - width + 10, card.rect.top() - 14 * scale, width, 20 * scale);
  m_painter.setPen(Qt::NoPen);
  m_painter.setBrush(theme().bad);
  m_painter.drawRoundedRect(badge, 10 * scale, 10 * scale);
  m_painter.setFont(font);
  m_painter.setPen(theme().dark ? theme().window : theme().base);
  m_painter.drawText(badge, Qt::AlignCenter, label);
}

}  // namespace kerf::ui::inline graph_view
