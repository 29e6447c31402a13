#include "ui/layout/acyclic_parts.h"

#include <algorithm>
#include <unordered_map>

namespace kerf::ui::inline layout {
namespace {

/// Strongly connected components, by Tarjan's algorithm without recursion.
class Cycles {
 public:
  explicit Cycles(const std::vector<std::vector<int>>& next)
      : m_next(next),
        m_component(next.size(), -1),
        m_index(next.size(), -1),
        m_low(next.size(), 0),
        m_edge(next.size(), 0) {
    for (int i = 0; i < int(next.size()); ++i)
      if (m_index[std::size_t(i)] < 0) visit(i);
  }
  const std::vector<int>& components() const { return m_component; }

 private:
  void enter(int item) {
    m_index[std::size_t(item)] = m_low[std::size_t(item)] = m_count++;
    m_open.push_back(item);
    m_path.push_back(item);
  }

  void visit(int start) {
    enter(start);
    while (!m_path.empty()) {
      const auto item = std::size_t(m_path.back());
      if (m_edge[item] < m_next[item].size()) {
        const auto to = std::size_t(m_next[item][m_edge[item]++]);
        if (m_index[to] < 0)
          enter(int(to));
        else if (m_component[to] < 0)
          m_low[item] = std::min(m_low[item], m_index[to]);
        continue;
      }
      m_path.pop_back();
      if (!m_path.empty()) {
        auto& low = m_low[std::size_t(m_path.back())];
        low = std::min(low, m_low[item]);
      }
      if (m_low[item] == m_index[item]) close(int(item));
    }
  }

  void close(int root) {
    for (int item = -1; item != root; m_open.pop_back()) {
      item = m_open.back();
      m_component[std::size_t(item)] = m_components;
    }
    ++m_components;
  }

  const std::vector<std::vector<int>>& m_next;
  std::vector<int> m_component, m_index, m_low, m_open, m_path;
  std::vector<std::size_t> m_edge;
  int m_count = 0, m_components = 0;
};

/// Items of the quotient: the labels, then the nodes without one.
struct Quotient {
  std::vector<int> itemOf;  ///< by place in the list of nodes
  int labels = 0, items = 0;

  Quotient(const std::vector<int>& label) {
    for (const int at : label) labels = std::max(labels, at + 1);
    items = labels;
    for (const int at : label) itemOf.push_back(at >= 0 ? at : items++);
  }

  std::vector<std::vector<int>> links(const workbench::GraphDoc& graph, const std::vector<int>& nodes) const {
    std::unordered_map<int, int> place;
    for (std::size_t i = 0; i < nodes.size(); ++i) place.emplace(nodes[i], int(i));
    std::vector<std::vector<int>> next(static_cast<std::size_t>(items));
    for (std::size_t i = 0; i < nodes.size(); ++i)
      for (const int input : graph.nodes[std::size_t(nodes[i])].inputs) {
        const auto found = place.find(input);
        if (found == place.end()) continue;
        const int from = itemOf[std::size_t(found->second)], to = itemOf[i];
        if (from != to && (next[std::size_t(from)].empty() || next[std::size_t(from)].back() != to))
          next[std::size_t(from)].push_back(to);
      }
    return next;
  }
};

}  // namespace

NodeParts acyclicParts(const workbench::GraphDoc& graph, const std::vector<int>& nodes, const std::vector<int>& label,
                       int least) {
  std::vector<int> sizes, kept(label);
  for (const int at : label) {
    if (at >= int(sizes.size())) sizes.resize(std::size_t(at) + 1, 0);
    if (at >= 0) ++sizes[std::size_t(at)];
  }
  for (auto& at : kept)
    if (at >= 0 && sizes[std::size_t(at)] < least) at = -1;
  const Quotient quotient(kept);
  const auto next = quotient.links(graph, nodes);
  const Cycles cycles(next);
  const auto& components = cycles.components();
  std::unordered_map<int, int> members;
  for (const int component : components) ++members[component];
  NodeParts parts;
  parts.partOf.assign(nodes.size(), -1);
  std::unordered_map<int, int> wholeOf;
  std::unordered_map<int, std::pair<int, int>> runOf;  // by component: its last item and the part of that
  std::vector<int> partSize;
  const auto add = [&](int at) {
    parts.labels.push_back(at);
    partSize.push_back(0);
    return int(parts.labels.size()) - 1;
  };
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const int item = quotient.itemOf[i], component = components[std::size_t(item)];
    int part = -1;
    if (members[component] == 1) {
      if (kept[i] >= 0) part = wholeOf.try_emplace(item, -1).first->second;
      if (kept[i] >= 0 && part < 0) part = wholeOf[item] = add(kept[i]);
    } else {
      auto& run = runOf.try_emplace(component, -1, -1).first->second;
      if (run.first != item) run = {item, kept[i] >= 0 ? add(kept[i]) : -1};
      part = run.second;
    }
    parts.partOf[i] = part;
    if (part >= 0) ++partSize[std::size_t(part)];
  }
  std::vector<int> renumbered, labels;
  for (std::size_t i = 0; i < partSize.size(); ++i) {
    renumbered.push_back(partSize[i] < least ? -1 : int(labels.size()));
    if (partSize[i] >= least) labels.push_back(parts.labels[i]);
  }
  for (auto& part : parts.partOf)
    if (part >= 0) part = renumbered[std::size_t(part)];
  parts.labels = std::move(labels);
  return parts;
}

}  // namespace kerf::ui::inline layout
