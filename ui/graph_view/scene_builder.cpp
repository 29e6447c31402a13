// Cards, rows and edges of a scene: which nodes are cards of their own, which are rows of their users, which are hidden
// in a closed group, and which edges are too long to draw.
#include <algorithm>
#include <climits>
#include <cmath>
#include <map>
#include <unordered_set>

#include <QFontMetricsF>

#include "ui/graph_view/scene.h"
#include "ui/layout/fold_repeats.h"
#include "ui/models/format.h"
#include "ui/models/theme.h"

namespace kerf::ui::inline graph_view {
namespace {

bool isSource(const NodeDoc& node) { return node.kind == NodeKind::Input || node.kind == NodeKind::Parameter; }

/// The graph with ghosts behind its nodes.
GraphDocPtr withGhosts(const GraphDocPtr& graph, const GhostsPtr& ghosts) {
  if (!ghosts || ghosts->empty()) return graph;
  auto both = std::make_shared<GraphDoc>(*graph);
  both->nodes.insert(both->nodes.end(), ghosts->begin(), ghosts->end());
  return both;
}

/// Each ghost is in the group of what it took, or of what took it.
std::shared_ptr<const GroupTree> withGhosts(const std::shared_ptr<const GroupTree>& tree, const GraphDoc& graph,
                                            std::size_t shown) {
  if (tree->groupOf.size() == graph.nodes.size()) return tree;
  auto both = std::make_shared<GroupTree>(*tree);
  both->groupOf.resize(shown);
  for (std::size_t i = shown; i < graph.nodes.size(); ++i) {
    const auto& ghost = graph.nodes[i];
    int group = 0;
    for (const auto* around : {&ghost.users, &ghost.inputs})
      for (const int other : *around)
        if (other < int(i) && !isSource(graph.nodes[std::size_t(other)])) group = both->groupOf[std::size_t(other)];
    both->groupOf.push_back(group);
  }
  return both;
}

QFont cardFont(bool isBold) {
  QFont font = interfaceFont();
  font.setBold(isBold);
  return font;
}

/// "37 ops · 12.6 MiB".
QString groupText(const NodeGroup& group) {
  const auto ops = plural(group.ops, "op");
  return group.bytes > 0 ? ops + " · " + formatBytes(group.bytes) : ops;
}

class SceneBuilder {
 public:
  SceneBuilder(const GraphDocPtr& graph, const SceneOptions& options)
      : m_whole(withGhosts(graph, options.ghosts)),
        m_graph(*m_whole),
        m_options(options),
        m_bold(cardFont(true)),
        m_plain(cardFont(false)),
        m_code(codeFont()) {
    QFont small = codeFont();
    small.setPixelSize(11);
    m_code = QFontMetricsF(small);
    m_scene.graph = m_whole;
    m_scene.shown = graph;
    m_scene.ghosts = options.ghosts;
    m_scene.cardOfNode.assign(m_graph.nodes.size(), -1);
  }

  Scene build() {
    group();
    for (int node = 0; node < int(m_graph.nodes.size()); ++node) addCard(node);
    placeInlined();
    measureDepths();
    for (int node = 0; node < int(m_graph.nodes.size()); ++node) connect(node);
    for (int ghost = int(m_scene.shown->nodes.size()); ghost < int(m_graph.nodes.size()); ++ghost) lead(ghost);
    for (auto& card : m_scene.cards) measure(card);
    addFrames();
    m_scene.focus = findFocus();
    return std::move(m_scene);
  }

 private:
  const NodeDoc& node(int i) const { return m_graph.nodes[std::size_t(i)]; }
  SceneCard& cardOf(int i) { return m_scene.cards[std::size_t(m_scene.cardOfNode[std::size_t(i)])]; }

  void group() {
    if (!isGrouped(*m_scene.shown, m_options)) return;
    const auto plain =
        m_options.groups ? m_options.groups : std::make_shared<const GroupTree>(groupsOf(*m_scene.shown, m_options));
    const auto tree = withGhosts(plain, m_graph, m_scene.shown->nodes.size());
    m_scene.open = m_options.open ? std::vector<char>(tree->groups.size(), 0)
                                  : openToFit(*tree, m_options.budget, m_options.kernels ? 0 : mostUngrouped);
    for (std::size_t i = 0; m_options.open && i < tree->groups.size(); ++i)
      m_scene.open[i] = i == 0 || m_options.open->contains(tree->groups[i].path);
    if (const int revealed = m_options.revealed.empty() ? -1 : m_graph.find(m_options.revealed); revealed >= 0)
      for (int at = tree->groupOf[std::size_t(revealed)]; at >= 0; at = tree->groups[std::size_t(at)].parent)
        m_scene.open[std::size_t(at)] = 1;
    m_cardOfGroup.assign(tree->groups.size(), -1);
    m_scene.groups = tree;
  }

  /// The outermost closed group around a node; -1: it is visible itself.
  int closedAround(int i) const {
    int closed = -1;
    if (!m_scene.groups) return closed;
    const auto& groups = m_scene.groups->groups;
    for (int at = m_scene.groups->groupOf[std::size_t(i)]; at >= 0; at = groups[std::size_t(at)].parent)
      if (!m_scene.open[std::size_t(at)]) closed = at;
    return closed;
  }

  /// A row of its first user: nothing beside that uses it as well.
  bool inlined(int i) const {
    if (!m_options.inlineParameters || !isSource(node(i)) || node(i).users.empty() || m_scene.isGhost(i)) return false;
    const auto near = std::ranges::count_if(node(i).users, [&](int user) { return sameFrame(i, user); });
    return node(i).users.size() == 1 || (m_scene.groups && near == 1);
  }

  void addCard(int i) {
    if (const int closed = closedAround(i); closed >= 0) {
      auto& card = m_cardOfGroup[std::size_t(closed)];
      if (card < 0) card = addGroupCard(closed);
      m_scene.cardOfNode[std::size_t(i)] = card;
      return;
    }
    if (inlined(i)) return;
    const auto& doc = node(i);
    SceneCard card;
    card.node = i;
    card.kind = doc.kind;
    card.title = isSource(doc) ? QString(doc.kind == NodeKind::Input ? "input" : "attribute") : text(doc.op);
    card.name = text(doc.name) == card.title ? QString() : text(doc.name);
    card.detail = text(doc.value);
    m_scene.cardOfNode[std::size_t(i)] = int(m_scene.cards.size());
    m_scene.cards.push_back(std::move(card));
  }

  int addGroupCard(int index) {
    const auto& group = m_scene.groups->groups[std::size_t(index)];
    SceneCard card;
    card.node = group.result;
    card.group = index;
    card.kind = NodeKind::Other;
    card.title = (group.backward ? "∇ " : "") + text(group.name);
    card.name = groupText(group);
    if (group.alike > 2) card.repeats = QString("%1 × block").arg(group.alike);
    card.detail = card.repeats.isEmpty() ? text(node(group.result).value) : card.repeats;
    m_scene.cards.push_back(std::move(card));
    return int(m_scene.cards.size()) - 1;
  }

  void placeInlined() {
    for (int i = 0; i < int(m_graph.nodes.size()); ++i)
      if (auto& card = m_scene.cardOfNode[std::size_t(i)]; card < 0 && !node(i).users.empty())
        card = m_scene.cardOfNode[std::size_t(node(i).users.front())];
  }

  /// Longest path over the cards. Inputs, and what is made of them alone, sit just above their nearest user.
  void measureDepths() {
    const auto count = m_graph.nodes.size();
    m_depth.assign(m_scene.cards.size(), 0);
    std::vector<char> floats(m_scene.cards.size(), 0);
    for (std::size_t i = 0; i < count; ++i) {
      const auto card = std::size_t(m_scene.cardOfNode[i]);
      const auto& doc = m_graph.nodes[i];
      if (m_scene.cards[card].group < 0)
        floats[card] =
            isSource(doc) || std::ranges::all_of(doc.inputs, [&](int input) {
              return floats[std::size_t(m_scene.cardOfNode[std::size_t(input)])] && node(input).users.size() == 1;
            });
      for (const int input : doc.inputs)
        if (isSaved(input, int(i)))
          continue;
        else if (const auto from = std::size_t(m_scene.cardOfNode[std::size_t(input)]); from != card)
          m_depth[card] = std::max(m_depth[card], m_depth[from] + 1);
    }
    for (std::size_t i = count; i-- > 0;) {
      const auto card = std::size_t(m_scene.cardOfNode[i]);
      if (!floats[card] || m_graph.nodes[i].users.empty() || m_scene.cards[card].node != int(i)) continue;
      int nearest = INT_MAX;
      for (const int user : m_graph.nodes[i].users)
        nearest = std::min(nearest, m_depth[std::size_t(m_scene.cardOfNode[std::size_t(user)])]);
      m_depth[card] = nearest - 1;
    }
  }

  bool sameFrame(int a, int b) const {
    return !m_scene.groups || m_scene.groups->groupOf[std::size_t(a)] == m_scene.groups->groupOf[std::size_t(b)];
  }

  void connect(int i) {
    const int to = m_scene.cardOfNode[std::size_t(i)];
    for (const int input : node(i).inputs) {
      const int from = m_scene.cardOfNode[std::size_t(input)];
      auto& card = m_scene.cards[std::size_t(to)];
      if (inlined(input) && card.group < 0) {
        addRow(card, input, i != node(input).users.front());
        continue;
      }
      if (from == to) continue;
      // A parameter that several modules share would tie them all together: each of them says its name.
      const bool shared = isSource(node(input)) && !sameFrame(input, i);
      const int span = m_depth[std::size_t(to)] - m_depth[std::size_t(from)];
      if (shared || isSaved(input, i) || (m_options.portalSpan > 0 && span > m_options.portalSpan)) {
        addPortal(to, from, input);
        if (node(i).kind == NodeKind::Output) addReturned(m_scene.cards[std::size_t(from)], i);
        continue;
      }
      const auto pair = std::uint64_t(std::uint32_t(from)) << 32 | std::uint32_t(to);
      const bool whole = card.group >= 0 || m_scene.cards[std::size_t(from)].group >= 0;
      if (m_pairs.insert(pair).second || !whole) m_scene.edges.push_back({from, to, {}, {}});
    }
  }

  /// From a ghost to what used its value, where that is drawn.
  void lead(int ghost) {
    const int from = m_scene.cardOfNode[std::size_t(ghost)];
    for (const int user : node(ghost).users) {
      const int to = user < int(m_scene.shown->nodes.size()) ? m_scene.cardOfNode[std::size_t(user)] : -1;
      const auto pair = std::uint64_t(std::uint32_t(from)) << 32 | std::uint32_t(to);
      if (to >= 0 && to != from && m_pairs.insert(pair).second) m_scene.edges.push_back({from, to, {}, {}});
    }
  }

  bool isBackward(int i) const {
    return m_scene.groups && m_scene.groups->groups[std::size_t(m_scene.groups->groupOf[std::size_t(i)])].backward;
  }

  /// What forward saves for backward, and the gradients that are returned, would tie both into one knot.
  bool isSaved(int from, int to) const {
    if (node(to).kind == NodeKind::Output) return isBackward(from);
    return isBackward(to) && !isBackward(from) && !isSource(node(from));
  }

  void addPortal(int to, int from, int input) {
    auto& card = m_scene.cards[std::size_t(to)];
    if (card.kind == NodeKind::Output && isBackward(input))
      card.others.push_back(input);
    else if (card.group < 0)
      addRow(card, input, true);
    else if (!isSource(node(input)))
      m_far[to].insert(from);
  }

  /// The other end of an edge to the output that is not drawn.
  void addReturned(SceneCard& card, int output) const {
    if (m_scene.groups && card.group < 0 && int(card.rows.size()) < CardMetrics::mostRows)
      card.rows.push_back({output, true, "returned", {}});
  }

  void addRow(SceneCard& card, int i, bool portal) {
    if (int(card.rows.size()) >= CardMetrics::mostRows) {
      card.others.push_back(i);
      return;
    }
    const bool fresh = std::ranges::none_of(card.rows, [i](const SceneRow& row) { return row.node == i; });
    if (fresh) card.rows.push_back({i, portal, text(node(i).name), text(node(i).value)});
  }

  /// A group says from which groups far away it takes values.
  void addFarRows(SceneCard& card) {
    const auto found = m_far.find(int(&card - m_scene.cards.data()));
    if (found == m_far.end()) return;
    const auto& nearest = m_scene.cards[std::size_t(*found->second.rbegin())];
    const int more = int(found->second.size()) - 1;
    card.rows.push_back({nearest.node, true, nearest.group < 0 ? text(node(nearest.node).name) : nearest.title,
                         more > 0 ? QString("+ %1").arg(more) : QString()});
  }

  void measure(SceneCard& card) {
    addFarRows(card);
    if (!card.others.empty()) {
      const bool gradients = std::ranges::all_of(card.others, [this](int other) { return isBackward(other); });
      const auto what = gradients && card.kind == NodeKind::Output ? QString("%1 gradients") : QString("and %1 more");
      card.rows.push_back({-1, false, what.arg(card.others.size()), {}});
    }
    double width = m_bold.horizontalAdvance(card.title) + m_plain.horizontalAdvance(card.name) + 14;
    width = std::max(width, m_code.horizontalAdvance(card.detail));
    for (const auto& row : card.rows)
      width = std::max(width, m_plain.horizontalAdvance(row.label) + m_code.horizontalAdvance(row.detail) + 34);
    const double least = card.group < 0 ? CardMetrics::minWidth : CardMetrics::groupWidth;
    width = std::clamp(width + 2 * CardMetrics::padding + 6, least, CardMetrics::maxWidth);
    const double lines = (card.detail.isEmpty() ? 0 : CardMetrics::line) + double(card.rows.size()) * CardMetrics::row;
    card.rect = QRectF(0, 0, std::ceil(width), CardMetrics::header + lines + CardMetrics::bottom);
  }

  void addFrames() {
    if (!m_scene.groups) return;
    const auto& groups = m_scene.groups->groups;
    std::vector<int> depth(groups.size(), -1);
    for (std::size_t i = 1; i < groups.size(); ++i) {
      const int outer = groups[i].parent;
      if (!m_scene.open[i] || (outer != 0 && depth[std::size_t(outer)] < 0)) continue;
      depth[i] = outer == 0 ? 0 : depth[std::size_t(outer)] + 1;
      auto detail = groupText(groups[i]);
      if (groups[i].alike > 2) detail += QString("  ·  %1 × block").arg(groups[i].alike);
      m_scene.frames.push_back(
          {int(i), depth[i], {}, (groups[i].backward ? "∇ " : "") + text(groups[i].name), std::move(detail)});
    }
  }

  /// What the model returns: of a joint graph the value whose gradient is its tangent, else what is returned first.
  int findFocus() const {
    const auto output = std::ranges::find(m_graph.nodes, NodeKind::Output, &NodeDoc::kind);
    if (output == m_graph.nodes.end()) return -1;
    std::set<std::string> tangents;
    for (const auto& doc : m_graph.nodes)
      if (doc.kind == NodeKind::Input && doc.name.starts_with("tangents_")) tangents.insert(doc.value);
    int first = -1;
    for (const int returned : output->inputs) {
      if (isSource(node(returned)) || node(returned).backward || isBackward(returned)) continue;
      if (first < 0) first = returned;
      if (tangents.contains(node(returned).value)) return returned;
    }
    return first >= 0 || output->inputs.empty() ? first : output->inputs.front();
  }

  GraphDocPtr m_whole;
  const GraphDoc& m_graph;
  const SceneOptions& m_options;
  QFontMetricsF m_bold, m_plain, m_code;
  std::vector<int> m_cardOfGroup, m_depth;
  std::map<int, std::set<int>> m_far;  ///< cards whose values a closed group takes from afar
  std::unordered_set<std::uint64_t> m_pairs;
  Scene m_scene;
};

}  // namespace

bool isGrouped(const GraphDoc& graph, const SceneOptions& options) {
  return options.budget > 0 && (options.kernels || int(graph.nodes.size()) > mostUngrouped);
}

GroupTree groupsOf(const GraphDoc& graph, const SceneOptions& options, const GroupTree* before) {
  const auto tree = buildGroups(graph, options.kernels.get());
  return options.kernels ? tree : foldRepeats(graph, tree, before);
}

Scene buildScene(GraphDocPtr graph, const SceneOptions& options) { return SceneBuilder(graph, options).build(); }

}  // namespace kerf::ui::inline graph_view
