#include "ui/layout/nested_diagram.h"

#include <algorithm>
#include <utility>

#include "ui/layout/link_routes.h"

namespace kerf::ui::inline layout {
namespace {

/// One end of a link within a frame: a card, an entry or exit of the frame itself (`port`), or one of a frame inside.
struct LocalEnd {
  int item = 0;    ///< in the frame's flat graph
  int inner = -1;  ///< frame inside
  int port = -1;   ///< its item in the inner frame's flat graph
  auto operator<=>(const LocalEnd&) const = default;
};

struct LocalFrame {
  FlatGraph flat;
  std::vector<std::pair<LocalEnd, LocalEnd>> ends;  ///< of the links
  std::map<std::pair<LocalEnd, LocalEnd>, int> linkOf;
  std::map<int, int> entries, exits;  ///< by the card where the link begins
  FlatPlan plan;
  Extent place;  ///< of the whole frame in the frame around it
};

/// A piece of a link: a link of a frame.
struct Piece {
  int frame = 0, link = 0;
};

class Nesting {
 public:
  explicit Nesting(const NestedDiagram& graph)
      : m_graph(graph),
        m_local(graph.frames.size()),
        m_itemOfCard(graph.cards.size()),
        m_itemOfFrame(graph.frames.size(), -1),
        m_depth(graph.frames.size(), 0),
        m_pieces(graph.links.size()) {
    for (auto& local : m_local) {
      local.flat.spacing = graph.spacing;
      local.flat.stop = graph.stop;
    }
    for (std::size_t i = 0; i < graph.cards.size(); ++i)
      m_itemOfCard[i] = add(graph.cards[i].frame, {graph.cards[i].width, graph.cards[i].height, graph.cards[i].key});
    for (std::size_t i = 1; i < graph.frames.size(); ++i) {
      m_itemOfFrame[i] = add(graph.frames[i].parent, {0, 0, graph.frames[i].key});
      m_depth[i] = m_depth[std::size_t(graph.frames[i].parent)] + 1;
    }
    for (std::size_t i = 0; i < graph.links.size(); ++i) cut(i);
  }

  NestedPlan plan(const NestedMemory* before, bool still) {
    NestedPlan made;
    for (std::size_t i = m_local.size(); i-- > 0;) {
      if (m_graph.stop.stop_requested()) return made;
      planFrame(i, before, still, made.memory);
    }
    if (m_graph.stop.stop_requested()) return made;
    place(made);
    for (std::size_t i = 0; i < m_graph.links.size(); ++i) made.routes.push_back(route(i, made));
    return made;
  }

 private:
  int add(int frame, const FlatItem& item) {
    auto& items = m_local[std::size_t(frame)].flat.items;
    items.push_back(item);
    return int(items.size()) - 1;
  }

  int port(int frame, int card, bool entry) {
    auto& ports = entry ? m_local[std::size_t(frame)].entries : m_local[std::size_t(frame)].exits;
    const auto found = ports.find(card);
    if (found != ports.end()) return found->second;
    const auto key = m_graph.cards[std::size_t(card)].key * 2 + (entry ? 1 : 0);
    const int item = add(frame, {m_graph.spacing.lanes, 0, (key ^ 0x5851F42D4C957F2DU) * 0x94D049BB133111EBU,
                                 entry ? Pinned::First : Pinned::Last});
    ports.emplace(card, item);
    return item;
  }

  int link(int frame, const LocalEnd& from, const LocalEnd& to) {
    auto& local = m_local[std::size_t(frame)];
    const auto [at, isNew] = local.linkOf.try_emplace({from, to}, int(local.ends.size()));
    if (isNew) local.ends.emplace_back(from, to);
    return at->second;
  }

  /// Cuts a link at the borders of the frames that it leaves and enters.
  void cut(std::size_t index) {
    const auto& whole = m_graph.links[index];
    if (whole.from == whole.to) return;
    auto& pieces = m_pieces[index];
    int fromFrame = m_graph.cards[std::size_t(whole.from)].frame, toFrame = m_graph.cards[std::size_t(whole.to)].frame;
    LocalEnd from{m_itemOfCard[std::size_t(whole.from)]}, to{m_itemOfCard[std::size_t(whole.to)]};
    std::vector<Piece> entered;
    const auto leave = [&] {
      const int exit = port(fromFrame, whole.from, false);
      pieces.push_back({fromFrame, link(fromFrame, from, {exit})});
      from = {m_itemOfFrame[std::size_t(fromFrame)], fromFrame, exit};
      fromFrame = m_graph.frames[std::size_t(fromFrame)].parent;
    };
    const auto enter = [&] {
      const int entry = port(toFrame, whole.from, true);
      entered.push_back({toFrame, link(toFrame, {entry}, to)});
      to = {m_itemOfFrame[std::size_t(toFrame)], toFrame, entry};
      toFrame = m_graph.frames[std::size_t(toFrame)].parent;
    };
    while (fromFrame != toFrame) {
      const int one = m_depth[std::size_t(fromFrame)], two = m_depth[std::size_t(toFrame)];
      if (one >= two) leave();
      if (two >= one) enter();
    }
    pieces.push_back({fromFrame, link(fromFrame, from, to)});
    pieces.insert(pieces.end(), entered.rbegin(), entered.rend());
  }

  double offsetOf(const LocalFrame& local, const LocalEnd& end) const {
    if (end.inner < 0) return local.flat.items[std::size_t(end.item)].width / 2;
    return m_graph.padding.side + m_local[std::size_t(end.inner)].plan.items[std::size_t(end.port)].middle();
  }

  void planFrame(std::size_t frame, const NestedMemory* before, bool still, NestedMemory& memory) {
    auto& local = m_local[frame];
    for (const auto& [from, to] : local.ends)
      local.flat.links.push_back({from.item, to.item, offsetOf(local, from), offsetOf(local, to)});
    const auto key = m_graph.frames[frame].key;
    PlanMemory known;
    if (before != nullptr)
      if (const auto found = before->find(key); found != before->end()) known = found->second;
    known.still = still;
    local.plan = planFlat(local.flat, &known);
    normalise(local.plan);
    memory[key] = local.plan.memory;
    if (frame == 0) return;
    const auto& padding = m_graph.padding;
    auto& box = m_local[std::size_t(m_graph.frames[frame].parent)].flat.items[std::size_t(m_itemOfFrame[frame])];
    box.width = std::max(140.0, local.plan.width + 2 * padding.side);
    box.height = local.plan.height + padding.top + padding.bottom;
  }

  /// A frame that kept its places may have grown to the left or upward: its corner is the origin again.
  static void normalise(FlatPlan& plan) {
    double left = 1e300, top = 1e300, right = -1e300, bottom = -1e300;
    const auto see = [&](double x, double y) {
      left = std::min(left, x);
      top = std::min(top, y);
      right = std::max(right, x);
      bottom = std::max(bottom, y);
    };
    for (const auto& item : plan.items) {
      see(item.left, item.top);
      see(item.right(), item.bottom());
    }
    for (const auto& route : plan.routes)
      for (const auto& spot : route) see(spot.x, spot.y);
    if (plan.items.empty()) return;
    plan.width = right - left;
    plan.height = bottom - top;
    plan.origin = {left, top};
    for (auto& item : plan.items) {
      item.left -= left;
      item.top -= top;
    }
    for (auto& route : plan.routes)
      for (auto& spot : route) {
        spot.x -= left;
        spot.y -= top;
      }
  }

  /// Where each frame's content begins; what contains others comes first. The canvas keeps its own coordinates.
  void place(NestedPlan& made) {
    made.frames.resize(m_local.size());
    m_content.resize(m_local.size());
    m_content[0] = m_local[0].plan.origin;
    made.frames[0] = {m_content[0].x, m_content[0].y, m_local[0].plan.width, m_local[0].plan.height};
    for (std::size_t i = 1; i < m_local.size(); ++i) {
      made.frames[i] = placed(m_graph.frames[i].parent, m_itemOfFrame[i]);
      m_content[i] = {made.frames[i].left + m_graph.padding.side, made.frames[i].top + m_graph.padding.top};
    }
    for (std::size_t i = 0; i < m_graph.cards.size(); ++i)
      made.cards.push_back(placed(m_graph.cards[i].frame, m_itemOfCard[i]));
  }

  Extent placed(int frame, int item) const {
    auto extent = m_local[std::size_t(frame)].plan.items[std::size_t(item)];
    extent.left += m_content[std::size_t(frame)].x;
    extent.top += m_content[std::size_t(frame)].y;
    return extent;
  }

  /// The pieces after each other, with straight lines over the frames' borders.
  std::vector<Spot> route(std::size_t index, const NestedPlan& made) const {
    std::vector<Spot> whole;
    const auto& pieces = m_pieces[index];
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      const auto& local = m_local[std::size_t(pieces[i].frame)];
      const auto at = m_content[std::size_t(pieces[i].frame)];
      const auto& part = local.plan.routes[std::size_t(pieces[i].link)];
      if (part.empty()) return {};
      const Spot start{part.front().x + at.x, part.front().y + at.y};
      if (whole.empty())
        whole.push_back(start);
      else
        lineTo(whole, {whole.back().x, start.y});
      for (std::size_t k = 1; k < part.size(); ++k) whole.push_back({part[k].x + at.x, part[k].y + at.y});
      const bool leaves = local.ends[std::size_t(pieces[i].link)].second.inner < 0 && i + 1 < pieces.size();
      if (leaves) lineTo(whole, {whole.back().x, made.frames[std::size_t(pieces[i].frame)].bottom()});
    }
    return whole;
  }

  const NestedDiagram& m_graph;
  std::vector<LocalFrame> m_local;
  std::vector<int> m_itemOfCard, m_itemOfFrame, m_depth;
  std::vector<std::vector<Piece>> m_pieces;
  std::vector<Spot> m_content;
};

}  // namespace

NestedPlan planNested(const NestedDiagram& graph, const NestedMemory* before, bool still) {
  return Nesting(graph).plan(before, still);
}

}  // namespace kerf::ui::inline layout
