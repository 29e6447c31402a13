#include "ui/graph_view/scene.h"

#include <algorithm>
#include <climits>

#include <QFontMetricsF>

#include "ui/models/theme.h"

namespace kerf::ui::inline graph_view {
namespace {

bool isSource(const NodeDoc& node) { return node.kind == NodeKind::Input || node.kind == NodeKind::Parameter; }

/// Longest path from a source. Sources, and what is made of them alone (a transposed weight), sit just above their
/// nearest user instead of at the top.
std::vector<int> depths(const GraphDoc& graph) {
  const auto count = graph.nodes.size();
  std::vector<int> depth(count, 0);
  std::vector<char> floats(count, 0);
  for (std::size_t i = 0; i < count; ++i) {
    const auto& node = graph.nodes[i];
    floats[i] = isSource(node) || std::ranges::all_of(node.inputs, [&](int input) {
                  return floats[std::size_t(input)] && graph.nodes[std::size_t(input)].users.size() == 1;
                });
    for (const int input : node.inputs) depth[i] = std::max(depth[i], depth[std::size_t(input)] + 1);
  }
  for (std::size_t i = count; i-- > 0;) {
    if (!floats[i] || graph.nodes[i].users.empty()) continue;
    int nearest = INT_MAX;
    for (const int user : graph.nodes[i].users) nearest = std::min(nearest, depth[std::size_t(user)]);
    depth[i] = nearest - 1;
  }
  return depth;
}

struct Builder {
  const GraphDoc& graph;
  const SceneOptions& options;
  std::vector<int> depth;
  QFontMetricsF bold, plain, code;
  Scene scene;

  bool inlined(int node) const {
    const auto& doc = graph.nodes[std::size_t(node)];
    return options.inlineParameters && isSource(doc) && doc.users.size() == 1;
  }
  bool isPortal(int from, int to) const {
    return options.portalSpan > 0 && depth[std::size_t(to)] - depth[std::size_t(from)] > options.portalSpan;
  }

  void addRow(SceneCard& card, int node, bool portal) {
    if (int(card.rows.size()) >= CardMetrics::mostRows) {
      card.others.push_back(node);
      return;
    }
    const auto& doc = graph.nodes[std::size_t(node)];
    card.rows.push_back({node, portal, text(doc.name), text(doc.value)});
  }

  void measure(SceneCard& card) const {
    if (!card.others.empty()) card.rows.push_back({-1, false, QString("and %1 more").arg(card.others.size()), {}});
    double width = bold.horizontalAdvance(card.title) + plain.horizontalAdvance(card.name) + 14;
    width = std::max(width, code.horizontalAdvance(card.detail));
    for (const auto& row : card.rows)
      width = std::max(width, plain.horizontalAdvance(row.label) + code.horizontalAdvance(row.detail) + 34);
    width = std::clamp(width + 2 * CardMetrics::padding + 6, CardMetrics::minWidth, CardMetrics::maxWidth);
    const double lines = (card.detail.isEmpty() ? 0 : CardMetrics::line) + double(card.rows.size()) * CardMetrics::row;
    card.rect = QRectF(0, 0, std::ceil(width), CardMetrics::header + lines + CardMetrics::bottom);
  }

  void addCard(int node) {
    const auto& doc = graph.nodes[std::size_t(node)];
    SceneCard card;
    card.node = node;
    card.kind = doc.kind;
    card.title = isSource(doc) ? QString(doc.kind == NodeKind::Input ? "input" : "attribute") : text(doc.op);
    card.name = text(doc.name) == card.title ? QString() : text(doc.name);
    card.detail = text(doc.value);
    for (const int input : doc.inputs) {
      if (inlined(input))
        addRow(card, input, false);
      else if (isPortal(input, node))
        addRow(card, input, true);
      else
        scene.edges.push_back({scene.cardOfNode[std::size_t(input)], int(scene.cards.size()), {}, {}});
      if (inlined(input)) scene.cardOfNode[std::size_t(input)] = int(scene.cards.size());
    }
    measure(card);
    scene.cardOfNode[std::size_t(node)] = int(scene.cards.size());
    scene.cards.push_back(std::move(card));
  }
};

QFont cardFont(bool isBold) {
  QFont font = interfaceFont();
  font.setBold(isBold);
  return font;
}

}  // namespace

QRectF rowRect(const SceneCard& card, std::size_t row) {
  const double top = card.rect.top() + CardMetrics::header + (card.detail.isEmpty() ? 0 : CardMetrics::line);
  return {card.rect.left(), top + double(row) * CardMetrics::row, card.rect.width(), CardMetrics::row};
}

int Scene::cardAt(const QPointF& point) const {
  for (std::size_t i = 0; i < cards.size(); ++i)
    if (cards[i].rect.contains(point)) return int(i);
  return -1;
}

int Scene::nodeAt(const QPointF& point) const {
  const int at = cardAt(point);
  if (at < 0) return -1;
  const auto& card = cards[std::size_t(at)];
  for (std::size_t row = 0; row < card.rows.size(); ++row)
    if (card.rows[row].node >= 0 && rowRect(card, row).contains(point)) return card.rows[row].node;
  return card.node;
}

Scene buildScene(GraphDocPtr graph, const SceneOptions& options) {
  QFont small = codeFont();
  small.setPixelSize(11);
  Builder builder{*graph,
                  options,
                  depths(*graph),
                  QFontMetricsF(cardFont(true)),
                  QFontMetricsF(cardFont(false)),
                  QFontMetricsF(small),
                  {}};
  builder.scene.graph = graph;
  builder.scene.cardOfNode.assign(graph->nodes.size(), -1);
  for (int node = 0; node < int(graph->nodes.size()); ++node)
    if (!builder.inlined(node)) builder.addCard(node);
  return std::move(builder.scene);
}

void finishScene(Scene& scene) {
  scene.bounds = {};
  for (const auto& card : scene.cards) scene.bounds |= card.rect;
  for (auto& edge : scene.edges) {
    if (edge.points.size() < 4) {
      const auto& from = scene.cards[std::size_t(edge.from)].rect;
      const auto& to = scene.cards[std::size_t(edge.to)].rect;
      const QPointF start(from.center().x(), from.bottom()), end(to.center().x(), to.top());
      const double bend = std::max(18.0, (end.y() - start.y()) * 0.5);
      edge.points = QPolygonF({start, start + QPointF(0, bend), end - QPointF(0, bend), end});
    }
    edge.bounds = edge.points.boundingRect().adjusted(-2, -2, 2, 2);
    scene.bounds |= edge.bounds;
  }
}

}  // namespace kerf::ui::inline graph_view
