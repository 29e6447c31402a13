#include "ui/graph_view/dot_text.h"

#include <map>

#include <fmt/format.h>

namespace kerf::ui::inline graph_view {
namespace {

constexpr double pointsPerInch = 72;
constexpr std::size_t mostCurved = 700;  ///< above this many edges, straight ones: routing curves costs more than ranks

using Words = QList<QByteArray>;

bool readNode(const Words& words, double height, Scene& scene) {
  if (words.size() < 6 || !words[1].startsWith('n')) return false;
  const auto card = std::size_t(words[1].mid(1).toInt());
  if (card >= scene.cards.size()) return false;
  const double x = words[2].toDouble() * pointsPerInch, y = height - words[3].toDouble() * pointsPerInch;
  scene.cards[card].rect.moveCenter({x, y});
  return true;
}

/// Parallel edges come in the order in which they were written.
using EdgesByEnds = std::multimap<std::pair<int, int>, std::size_t>;

bool readEdge(const Words& words, double height, Scene& scene, EdgesByEnds& open) {
  if (words.size() < 4) return false;
  const auto found = open.find({words[1].mid(1).toInt(), words[2].mid(1).toInt()});
  const int count = words[3].toInt();
  if (found == open.end() || words.size() < 4 + 2 * count) return false;
  QPolygonF points;
  for (int i = 0; i < count; ++i)
    points << QPointF(words[4 + 2 * i].toDouble() * pointsPerInch,
                      height - words[5 + 2 * i].toDouble() * pointsPerInch);
  if (count >= 4 && count % 3 == 1) scene.edges[found->second].points = points;
  open.erase(found);
  return true;
}

/// dot stops its curves short of the card by the arrow head: the last point is moved to the border.
void touchCards(Scene& scene) {
  for (auto& edge : scene.edges) {
    if (edge.points.size() < 4) continue;
    edge.points.first().setY(scene.cards[std::size_t(edge.from)].rect.bottom());
    edge.points.last().setY(scene.cards[std::size_t(edge.to)].rect.top());
  }
}

}  // namespace

QByteArray writeDot(const Scene& scene) {
  std::string text = fmt::format(
      "digraph g {{ nslimit=1; nslimit1=1; mclimit=0.1; splines={}; ranksep={:.3f}; nodesep={:.3f};\n"
      "node [shape=box, fixedsize=true, label=\"\"]; edge [arrowhead=none, tailport=s, headport=n];\n",
      scene.edges.size() > mostCurved ? "line" : "spline", CardMetrics::rankGap / pointsPerInch,
      CardMetrics::cardGap / pointsPerInch);
  for (std::size_t i = 0; i < scene.cards.size(); ++i)
    text += fmt::format("n{} [width={:.4f}, height={:.4f}];\n", i, scene.cards[i].rect.width() / pointsPerInch,
                        scene.cards[i].rect.height() / pointsPerInch);
  for (const auto& edge : scene.edges) text += fmt::format("n{} -> n{};\n", edge.from, edge.to);
  return QByteArray::fromStdString(text + "}\n");
}

bool readPlain(const QByteArray& plain, Scene& scene) {
  EdgesByEnds open;
  for (std::size_t i = 0; i < scene.edges.size(); ++i)
    open.emplace(std::pair(scene.edges[i].from, scene.edges[i].to), i);
  double height = 0;
  std::size_t placed = 0;
  for (const auto& line : QByteArray(plain).replace("\\\n", "").split('\n')) {
    const auto words = line.split(' ');
    if (words[0] == "graph" && words.size() > 3)
      height = words[3].toDouble() * pointsPerInch;
    else if (words[0] == "node" && readNode(words, height, scene))
      ++placed;
    else if (words[0] == "edge" && !readEdge(words, height, scene, open))
      return false;
  }
  if (placed != scene.cards.size()) return false;
  touchCards(scene);
  scene.engine = "dot";
  finishScene(scene);
  return true;
}

}  // namespace kerf::ui::inline graph_view
