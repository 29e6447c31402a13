#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "ui/layout/layering.h"
#include "ui/layout/link_routes.h"

namespace kerf::ui::inline layout {
namespace {

/// Items that belong together: linked, or once parts of one component. `links` are those between them.
struct Component {
  std::vector<int> items, links;
  bool pinned = false;
  int number = 0;
};

class Sets {
 public:
  explicit Sets(std::size_t count) : m_parent(count) { std::iota(m_parent.begin(), m_parent.end(), 0); }
  int find(int item) {
    while (m_parent[std::size_t(item)] != item) {
      auto& parent = m_parent[std::size_t(item)];
      parent = m_parent[std::size_t(parent)];
      item = parent;
    }
    return item;
  }
  void join(int a, int b) {
    const int one = find(a), two = find(b);
    m_parent[std::size_t(std::max(one, two))] = std::min(one, two);
  }

 private:
  std::vector<int> m_parent;
};

std::vector<Component> componentsOf(const FlatGraph& graph, const PlanMemory* before) {
  Sets sets(graph.items.size());
  std::map<int, int> known;  // by component before
  int firstPinned = -1;
  for (const auto& link : graph.links) sets.join(link.from, link.to);
  for (int i = 0; i < int(graph.items.size()); ++i) {
    const auto& item = graph.items[std::size_t(i)];
    if (item.pinned != Pinned::Free) sets.join(i, firstPinned < 0 ? firstPinned = i : firstPinned);
    if (const auto* was = before != nullptr && before->still ? before->find(item.key) : nullptr)
      sets.join(i, known.try_emplace(was->component, i).first->second);
  }
  std::vector<Component> components;
  std::vector<int> indexOf(graph.items.size(), -1);
  for (int i = 0; i < int(graph.items.size()); ++i) {
    auto& index = indexOf[std::size_t(sets.find(i))];
    if (index < 0) {
      index = int(components.size());
      components.push_back({{}, {}, false, index});
    }
    components[std::size_t(index)].items.push_back(i);
    components[std::size_t(index)].pinned |= graph.items[std::size_t(i)].pinned != Pinned::Free;
  }
  for (int i = 0; i < int(graph.links.size()); ++i) {
    const int root = sets.find(graph.links[std::size_t(i)].from);
    components[std::size_t(indexOf[std::size_t(root)])].links.push_back(i);
  }
  return components;
}

FlatGraph partOf(const FlatGraph& graph, const Component& component, std::vector<int>& places) {
  FlatGraph part;
  part.spacing = graph.spacing;
  part.stop = graph.stop;
  for (const int item : component.items) {
    places[std::size_t(item)] = int(part.items.size());
    part.items.push_back(graph.items[std::size_t(item)]);
  }
  for (const int index : component.links) {
    auto link = graph.links[std::size_t(index)];
    link.from = places[std::size_t(link.from)];
    link.to = places[std::size_t(link.to)];
    part.links.push_back(link);
  }
  return part;
}

/// Nothing but entries, exits and lanes.
bool onlyPorts(const LayerGraph& layers, const FlatGraph& graph, std::size_t layer) {
  return layer < layers.layers.size() && std::ranges::all_of(
                                             layers.layers[layer],
                                             [&](int vertex) {
                                               const int item = layers.vertices[std::size_t(vertex)].item;
                                               return item < 0 || graph.items[std::size_t(item)].pinned != Pinned::Free;
                                             });
}

/// Tops and bottoms of the layers; a gap in which links go far sideways is higher.
std::vector<LayerBand> bandsOf(const LayerGraph& layers, const FlatGraph& graph, const std::vector<double>& middles,
                               const PlanMemory* before) {
  std::vector<LayerBand> bands(layers.layers.size());
  double y = 0;
  bool held = false;
  for (std::size_t i = 0; i < bands.size(); ++i) {
    double height = 0, farthest = 0, top = -1e300;
    for (const int vertex : layers.layers[i]) {
      const int item = layers.vertices[std::size_t(vertex)].item;
      if (item >= 0) {
        const auto& box = graph.items[std::size_t(item)];
        height = std::max(height, box.height);
        if (const auto* was = before != nullptr && before->still ? before->find(box.key) : nullptr)
          top = std::max(top, was->top);
      }
      for (const auto& near : layers.below[std::size_t(vertex)])
        farthest = std::max(farthest, std::abs(middles[std::size_t(vertex)] + near.fromX -
                                               middles[std::size_t(near.vertex)] - near.toX));
    }
    if (top > -1e299 && !held) {  // what is new above it goes up
      for (std::size_t k = 0; k < i; ++k) bands[k] = {bands[k].top + top - y, bands[k].bottom + top - y};
      y = top;
    }
    if (top > -1e299) y = std::max(top, y);
    held |= top > -1e299;
    bands[i] = {y, y + height};
    const bool empty = layers.layers[i].empty();
    const bool atBorder = onlyPorts(layers, graph, i) || onlyPorts(layers, graph, i + 1);
    const double growth = before != nullptr && before->still ? 0 : std::min(graph.spacing.mostGrowth, farthest * 0.05);
    y += height + (empty ? 0 : graph.spacing.layers * (atBorder ? 0.5 : 1) + growth);
  }
  return bands;
}

/// All places 0: for who asked does not want them any more.
FlatPlan stoppedPlan(const FlatGraph& graph) {
  FlatPlan plan;
  plan.items.resize(graph.items.size());
  plan.layers.resize(graph.items.size());
  plan.routes.resize(graph.links.size());
  return plan;
}

FlatPlan planComponent(const FlatGraph& graph, const PlanMemory* before) {
  FlatPlan plan;
  if (graph.stop.stop_requested()) return stoppedPlan(graph);
  plan.layers = assignLayers(graph, before);
  auto layers = withLanes(graph, plan.layers);
  orderLayers(layers, before, graph.stop);
  if (graph.stop.stop_requested()) return stoppedPlan(graph);
  const auto middles = placeAcross(layers, graph, before);
  const auto bands = bandsOf(layers, graph, middles, before);
  for (std::size_t i = 0; i < graph.items.size(); ++i) {
    const auto& item = graph.items[i];
    const auto& band = bands[std::size_t(plan.layers[i])];
    const double top = item.pinned == Pinned::Last ? band.bottom - item.height : band.top;
    plan.items.push_back({middles[i] - item.width / 2, top, item.width, item.height});
  }
  for (std::size_t i = 0; i < layers.vertices.size(); ++i)
    if (const auto& vertex = layers.vertices[i]; vertex.key != 0)
      plan.memory.items[vertex.key] = {middles[i], bands[std::size_t(vertex.layer)].top, vertex.layer, 0};
  plan.routes = routeLinks(layers, graph, middles, bands);
  return plan;
}

Extent boundsOf(const FlatPlan& plan) {
  Extent bounds{1e300, 1e300, 0, 0};
  double right = -1e300, bottom = -1e300;
  const auto add = [&](double x, double y) {
    bounds.left = std::min(bounds.left, x);
    bounds.top = std::min(bounds.top, y);
    right = std::max(right, x);
    bottom = std::max(bottom, y);
  };
  for (const auto& item : plan.items) {
    add(item.left, item.top);
    add(item.right(), item.bottom());
  }
  for (const auto& route : plan.routes)
    for (const auto& spot : route) add(spot.x, spot.y);
  bounds.width = right - bounds.left;
  bounds.height = bottom - bounds.top;
  return bounds;
}

void shift(FlatPlan& plan, double x, double y) {
  for (auto& item : plan.items) {
    item.left += x;
    item.top += y;
  }
  for (auto& route : plan.routes)
    for (auto& spot : route) {
      spot.x += x;
      spot.y += y;
    }
  for (auto& [key, was] : plan.memory.items) {
    was.middle += x;
    was.top += y;
  }
}

/// Puts components beside each other in rows about as wide as all of them are high; those with entries and exits stand
/// alone at the left, since links run to the frame's borders above and below them.
class Shelves {
 public:
  Shelves(const std::vector<Extent>& sizes, const std::vector<Component>& components, double gap) : m_gap(gap) {
    double area = 0, widest = 0;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      if (components[i].pinned) m_left = sizes[i].width + gap;
      if (components[i].pinned) continue;
      area += (sizes[i].width + gap) * (sizes[i].height + gap);
      widest = std::max(widest, sizes[i].width);
    }
    m_most = m_left + std::max(widest, std::sqrt(area) * 1.3);
    m_x = m_left;
  }
  Spot next(const Extent& size, bool pinned) {
    if (pinned) return {0, 0};
    if (m_x > m_left && m_x + size.width > m_most) {
      m_y += m_row + m_gap;
      m_x = m_left;
      m_row = 0;
    }
    const Spot spot{m_x, m_y};
    m_x += size.width + m_gap;
    m_row = std::max(m_row, size.height);
    return spot;
  }

 private:
  double m_gap, m_left = 0, m_most = 0, m_x = 0, m_y = 0, m_row = 0;
};

bool apart(const Extent& a, const Extent& b, double gap) {
  return a.right() + gap <= b.left || b.right() + gap <= a.left || a.bottom() + gap <= b.top ||
         b.bottom() + gap <= a.top;
}

/// Known components stay where they were unless they have grown into one another; the others go below.
void keepPlaces(std::vector<FlatPlan>& plans, std::vector<Extent>& extents, const std::vector<char>& known,
                double gap) {
  std::vector<std::size_t> order(plans.size()), placed;
  std::iota(order.begin(), order.end(), std::size_t(0));
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return !known[i]; });
  double bottom = -1e300, left = 1e300;
  for (const auto i : order) {
    const bool free =
        known[i] && std::ranges::all_of(placed, [&](std::size_t k) { return apart(extents[i], extents[k], 1); });
    if (!free && !placed.empty()) {
      shift(plans[i], left - extents[i].left, bottom + gap - extents[i].top);
      extents[i].left = left;
      extents[i].top = bottom + gap;
    }
    placed.push_back(i);
    bottom = std::max(bottom, extents[i].bottom());
    left = std::min(left, extents[i].left);
  }
}

}  // namespace

FlatPlan planFlat(const FlatGraph& graph, const PlanMemory* before) {
  if (before != nullptr && before->items.empty()) before = nullptr;
  const auto components = componentsOf(graph, before);
  std::vector<FlatPlan> plans;
  std::vector<Extent> extents;
  std::vector<char> known;
  std::vector<int> places(graph.items.size());
  for (const auto& component : components) {
    const auto part = partOf(graph, component, places);
    plans.push_back(planComponent(part, before));
    extents.push_back(boundsOf(plans.back()));
    known.push_back(std::ranges::any_of(
        part.items, [&](const FlatItem& item) { return before != nullptr && before->find(item.key) != nullptr; }));
  }
  const double gap = graph.spacing.layers;
  if (before != nullptr && before->still) {
    keepPlaces(plans, extents, known, gap);
  } else {
    Shelves shelves(extents, components, gap);
    for (std::size_t i = 0; i < plans.size(); ++i) {
      const auto spot = shelves.next(extents[i], components[i].pinned);
      shift(plans[i], spot.x - extents[i].left, spot.y - extents[i].top);
      extents[i].left = spot.x;
      extents[i].top = spot.y;
    }
  }
  FlatPlan plan;
  plan.items.resize(graph.items.size());
  plan.layers.resize(graph.items.size());
  plan.routes.resize(graph.links.size());
  for (std::size_t c = 0; c < components.size(); ++c) {
    for (std::size_t i = 0; i < components[c].items.size(); ++i) {
      const auto item = std::size_t(components[c].items[i]);
      plan.items[item] = plans[c].items[i];
      plan.layers[item] = plans[c].layers[i];
    }
    for (auto& [key, was] : plans[c].memory.items) {
      was.component = int(c);
      plan.memory.items.emplace(key, was);
    }
    for (std::size_t i = 0; i < components[c].links.size(); ++i)
      plan.routes[std::size_t(components[c].links[i])] = std::move(plans[c].routes[i]);
    plan.width = std::max(plan.width, extents[c].right());
    plan.height = std::max(plan.height, extents[c].bottom());
  }
  return plan;
}

}  // namespace kerf::ui::inline layout
