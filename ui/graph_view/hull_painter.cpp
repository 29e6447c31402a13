#include "ui/graph_view/hull_painter.h"

#include <algorithm>
#include <array>

#include "ui/graph_view/edge_path.h"
#include "ui/models/theme.h"

namespace kerf::ui::inline graph_view {
namespace {

constexpr double hullMargin = 9;  ///< beyond the cards
constexpr double hullRadius = 6;
constexpr double hullTitleSize = 11;

/// Told apart by colour-blind eyes (after Okabe and Ito, 2008), on light and dark ground.
constexpr std::array<QRgb, 7> hullHues{0xff0072b2, 0xffe69f00, 0xff009e73, 0xffcc79a7,
                                       0xff56b4e9, 0xffd55e00, 0xff8f7fe0};

QRectF grownBy(const QRectF& rect, double by) { return rect.adjusted(-by, -by, by, by); }

}  // namespace

HullPainter::HullPainter(QPainter& painter, const Scene& scene, const std::vector<NodeHull>& hulls, double zoom)
    : m_painter(painter), m_scene(scene), m_hulls(hulls), m_zoom(zoom), m_shapes(hulls.size()) {
  std::vector<int> hullOf(scene.cards.size(), -1);
  for (std::size_t i = 0; i < hulls.size(); ++i)
    for (const int node : hulls[i].nodes) {
      const int card = node < int(scene.cardOfNode.size()) ? scene.cardOfNode[std::size_t(node)] : -1;
      if (card < 0 || scene.cards[std::size_t(card)].group >= 0 || hullOf[std::size_t(card)] >= 0) continue;
      hullOf[std::size_t(card)] = int(i);
      m_shapes[i].cards.push_back(card);
      m_shapes[i].bounds |= grownBy(scene.cards[std::size_t(card)].rect, hullMargin);
    }
  for (std::size_t i = 0; i < scene.edges.size(); ++i) {
    const auto& edge = scene.edges[i];
    const int hull = hullOf[std::size_t(edge.from)];
    if (hull < 0 || hull != hullOf[std::size_t(edge.to)] || edge.points.size() < 4) continue;
    m_shapes[std::size_t(hull)].edges.push_back(int(i));
    m_shapes[std::size_t(hull)].bounds |= grownBy(edge.bounds, hullMargin);
  }
}

int HullPainter::drawn() const {
  return int(std::ranges::count_if(m_shapes, [](const Shape& shape) { return shape.cards.size() > 1; }));
}

QColor HullPainter::colorOf(std::size_t hull) {
  const QColor hue = QColor::fromRgb(hullHues[hull % hullHues.size()]);
  return theme().dark ? blend(hue, QColor(Qt::white), 0.85) : hue;
}

/// Everything once in one opaque colour: where parts overlap they become one.
void HullPainter::fill(const Shape& shape, double by, const QColor& color) {
  m_painter.setBrush(Qt::NoBrush);
  m_painter.setPen(QPen(color, 2 * by, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
  for (const int edge : shape.edges) m_painter.drawPath(edgePath(m_scene.edges[std::size_t(edge)].points));
  m_painter.setPen(Qt::NoPen);
  m_painter.setBrush(color);
  for (const int card : shape.cards)
    m_painter.drawRoundedRect(grownBy(m_scene.cards[std::size_t(card)].rect, by), hullRadius + by, hullRadius + by);
}

void HullPainter::paint(const QRectF& visible) {
  const double line = std::clamp(1.4 / m_zoom, 1.4, hullMargin * 0.6);
  for (std::size_t i = 0; i < m_shapes.size(); ++i) {
    const auto& shape = m_shapes[i];
    if (shape.cards.size() < 2 || !shape.bounds.intersects(visible)) continue;
    const auto color = colorOf(i);
    fill(shape, hullMargin, blend(color, theme().canvas, 0.8));
    fill(shape, hullMargin - line, blend(color, theme().canvas, theme().dark ? 0.22 : 0.16));
  }
}

void HullPainter::paintTitles(const QRectF& visible) {
  const double size = std::max(hullTitleSize, 9 / m_zoom);
  QFont font = interfaceFont();
  font.setPixelSize(int(size));
  const QFontMetricsF metrics(font);
  for (std::size_t i = 0; i < m_shapes.size(); ++i) {
    const auto& shape = m_shapes[i];
    if (shape.cards.size() < 2 || !shape.bounds.intersects(visible)) continue;
    const auto top =
        std::ranges::min(shape.cards, {}, [this](int card) { return m_scene.cards[std::size_t(card)].rect.top(); });
    const auto& rect = m_scene.cards[std::size_t(top)].rect;
    if (rect.width() * m_zoom < 70) continue;
    const auto title = metrics.elidedText(m_hulls[i].title, Qt::ElideMiddle, rect.width() - 8);
    const double width = metrics.horizontalAdvance(title) + 10, height = metrics.height() + 1;
    const QRectF tag(rect.left() + 2, rect.top() - hullMargin - height / 2, width, height);
    m_painter.setPen(Qt::NoPen);
    m_painter.setBrush(blend(colorOf(i), theme().canvas, 0.8));
    m_painter.drawRoundedRect(tag, 4, 4);
    m_painter.setFont(font);
    m_painter.setPen(theme().dark ? theme().window : QColor(Qt::white));
    m_painter.drawText(tag, Qt::AlignCenter, title);
  }
}

}  // namespace kerf::ui::inline graph_view
