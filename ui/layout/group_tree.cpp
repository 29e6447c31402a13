#include "ui/layout/group_tree.h"

#include <algorithm>
#include <cctype>
#include <functional>
#include <map>
#include <queue>
#include <unordered_map>

#include "app/workbench/protocol/node_query.h"
#include "ui/layout/acyclic_parts.h"
#include "ui/layout/repeats.h"

namespace kerf::ui::inline layout {
namespace {

using workbench::GraphDoc, workbench::NodeDoc, workbench::NodeKind;

constexpr int leastOps = 4;  ///< smaller groups are not worth a card
constexpr int leastFused = 2;
constexpr int mostDirect = 60;  ///< more nodes than this directly in a group are cut into stretches

bool isInput(const NodeDoc& node) { return node.kind == NodeKind::Input || node.kind == NodeKind::Parameter; }

bool isNumber(const std::string& part) {
  return !part.empty() && std::ranges::all_of(part, [](unsigned char c) { return std::isdigit(c) != 0; });
}

/// "model.layers" → "layers"; nothing for a region.
std::string lastPart(const std::string& name) { return name.substr(name.rfind('.') + 1); }

class TreeBuilder {
 public:
  TreeBuilder(const GraphDoc& graph, const std::vector<std::string>* kernels)
      : m_graph(graph),
        m_paths(kernels == nullptr ? inferModules(graph) : inRegions(graph, *kernels)),
        m_least(kernels == nullptr ? leastOps : leastFused) {
    m_tree.groupOf.assign(graph.nodes.size(), 0);
  }

  GroupTree run() {
    m_tree.groups.push_back({});
    std::vector<int> calls;
    for (int i = 0; i < int(m_graph.nodes.size()); ++i)
      if (const auto& node = m_graph.nodes[std::size_t(i)]; !isInput(node) && node.kind != NodeKind::Output)
        calls.push_back(i);
    fill(0, calls, 0);
    for (int i = 0; i < int(m_graph.nodes.size()); ++i)
      if (m_graph.nodes[std::size_t(i)].kind == NodeKind::Output) addNode(0, i);
    placeInputs();
    for (std::size_t i = 0; i < m_tree.groups.size(); ++i) finish(int(i));
    return std::move(m_tree);
  }

 private:
  NodeGroup& group(int i) { return m_tree.groups[std::size_t(i)]; }

  /// Where the part of the module of `node` that begins at `from` ends.
  std::size_t partEnd(int node, std::size_t from) const {
    const auto& path = m_paths[std::size_t(node)];
    return std::min(path.find('.', from), path.size());
  }

  /// Makes the groups of `nodes` below `parent`, whose paths agree up to `depth`. `around`: the last part of them, where
  /// the parent does not say it.
  void fill(int parent, const std::vector<int>& nodes, std::size_t depth, const std::string& around = {}) {
    std::map<std::string, int> labels;
    std::vector<int> label;
    std::vector<std::string> names;
    for (const int node : nodes) {
      const auto& path = m_paths[std::size_t(node)];
      if (depth >= path.size()) {
        label.push_back(-1);
        continue;
      }
      const auto name = path.substr(depth, partEnd(node, depth) - depth);
      const auto [at, isNew] = labels.try_emplace(name, int(names.size()));
      if (isNew) names.push_back(name);
      label.push_back(at->second);
    }
    if (names.size() == 1 && std::ranges::all_of(label, [](int at) { return at == 0; })) {
      auto& own = group(parent);
      const bool region = parent == 0 || own.parent == 0;
      if (!region) own.name += "." + names[0];
      return fill(parent, nodes, depth + names[0].size() + 1, region ? names[0] : std::string());
    }
    gatherLoose(nodes, label, names);
    const auto parts = acyclicParts(m_graph, nodes, label, m_least);
    std::vector<std::vector<int>> members(parts.labels.size());
    std::vector<int> order;  // parts (as ~part) and nodes, as they begin
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const int part = parts.partOf[i];
      if (part < 0) {
        order.push_back(nodes[i]);
        continue;
      }
      if (members[std::size_t(part)].empty()) order.push_back(~part);
      members[std::size_t(part)].push_back(nodes[i]);
    }
    addItems(parent, order, [&](int part) {
      const auto at = std::size_t(parts.labels[std::size_t(part)]);
      const int made = add(parent, isNumber(names[at]) && !around.empty() ? around + "." + names[at] : names[at]);
      fill(made, members[std::size_t(part)], depth + names[at].size() + 1);
    });
  }

  /// Many calls beside groups hide these: those that follow each other become groups as well.
  void gatherLoose(const std::vector<int>& nodes, std::vector<int>& label, std::vector<std::string>& names) const {
    constexpr int fewLoose = 12, leastRun = 6;
    if (names.empty() || std::ranges::count(label, -1) <= fewLoose) return;
    for (std::size_t begin = 0, end = 0; begin < label.size(); begin = end + 1) {
      for (end = begin; end < label.size() && label[end] == -1;) ++end;
      if (end - begin < leastRun) continue;
      std::fill(label.begin() + std::ptrdiff_t(begin), label.begin() + std::ptrdiff_t(end), int(names.size()));
      names.push_back(spanName(m_graph, nodes, int(begin), int(end)));
    }
  }

  /// Puts what is in a group into it; where that is too much, in stretches that follow each other.
  void addItems(int parent, const std::vector<int>& order, const std::function<void(int)>& addPart) {
    const auto loose = std::ranges::count_if(order, [](int item) { return item >= 0; });
    if (loose <= mostDirect || std::ssize(order) != loose) {
      for (const int item : order) {
        if (item < 0)
          addPart(~item);
        else
          addNode(parent, item);
      }
      return;
    }
    addStretches(parent, order);
  }

  void addNode(int parent, int node) {
    group(parent).nodes.push_back(node);
    m_tree.groupOf[std::size_t(node)] = parent;
  }

  /// Repeated blocks where there are some, pieces of one length elsewhere; execution order keeps them free of cycles.
  void addStretches(int parent, const std::vector<int>& nodes) {
    const auto stretches = cutIntoStretches(m_graph, nodes);
    for (const auto& stretch : stretches) {
      const std::vector<int> inside(nodes.begin() + stretch.begin, nodes.begin() + stretch.end);
      if (int(inside.size()) < leastOps || stretches.size() == 1) {
        for (const int node : inside) addNode(parent, node);
        continue;
      }
      const int made = add(parent, stretch.name);
      if (int(inside.size()) > mostDirect)
        addStretches(made, inside);
      else
        for (const int node : inside) addNode(made, node);
    }
  }

  int add(int parent, const std::string& name) {
    NodeGroup made;
    made.parent = parent;
    made.name = isNumber(name) && parent != 0 ? lastPart(group(parent).name) + "." + name : name;
    made.backward = group(parent).backward || (parent == 0 && name == "backward");
    m_tree.groups.push_back(std::move(made));
    const int index = int(m_tree.groups.size()) - 1;
    group(parent).groups.push_back(index);
    return index;
  }

  void placeInputs() {
    for (int i = 0; i < int(m_graph.nodes.size()); ++i) {
      const auto& node = m_graph.nodes[std::size_t(i)];
      if (!isInput(node)) continue;
      const int home = node.users.empty() ? 0 : m_tree.groupOf[std::size_t(node.users.front())];
      m_tree.groupOf[std::size_t(i)] = home;
      auto& nodes = group(home).nodes;
      nodes.insert(std::ranges::upper_bound(nodes, i), i);
    }
  }

  void finish(int index) {
    auto& own = group(index);
    if (own.parent >= 0) {
      const auto& parent = group(own.parent);
      const int twin = m_twins[parent.path + "/" + own.name]++;
      if (twin > 0) own.name += " (" + std::to_string(twin + 1) + ")";
      own.path = parent.path + "/" + own.name;
    }
  }

  const GraphDoc& m_graph;
  std::vector<std::string> m_paths;
  int m_least;
  std::map<std::string, int> m_twins;
  GroupTree m_tree;
};

/// A view makes nothing, and a picked result was made by the call before.
std::int64_t madeBytes(const NodeDoc& node) {
  const bool makes =
      !isInput(node) && node.kind != NodeKind::Output && node.kind != NodeKind::View && node.op != "getitem";
  return makes ? std::max<std::int64_t>(0, workbench::bytesOf(node)) : 0;
}

/// Ops, first and last node and form of every group, from the inside out.
void measureGroups(const GraphDoc& graph, GroupTree& tree) {
  std::vector<std::vector<int>> all(tree.groups.size());
  for (std::size_t i = tree.groups.size(); i-- > 0;) {
    auto& group = tree.groups[i];
    auto& nodes = all[i];
    nodes.insert(nodes.end(), group.nodes.begin(), group.nodes.end());
    std::ranges::sort(nodes);
    std::vector<int> calls;
    for (const int node : nodes)
      if (!isInput(graph.nodes[std::size_t(node)])) calls.push_back(node);
    group.ops = int(calls.size());
    for (const int node : group.nodes) group.bytes += madeBytes(graph.nodes[std::size_t(node)]);
    for (const int inner : group.groups) group.bytes += tree.groups[std::size_t(inner)].bytes;
    group.form = formOf(graph, calls);
    if (!calls.empty()) group.first = calls.front();
    if (!calls.empty()) group.result = resultOf(graph, calls);
    if (group.parent >= 0) {
      auto& outer = all[std::size_t(group.parent)];
      outer.insert(outer.end(), nodes.begin(), nodes.end());
    }
    std::vector<int>().swap(nodes);
  }
  for (auto& group : tree.groups) {
    std::map<std::uint64_t, int> forms;
    for (const int inner : group.groups)
      group.alike = std::max(group.alike, ++forms[tree.groups[std::size_t(inner)].form]);
    if (group.alike < 2) group.alike = 0;
  }
}

}  // namespace

bool GroupTree::contains(int group, int node) const {
  for (int at = groupOf[std::size_t(node)]; at >= 0; at = groups[std::size_t(at)].parent)
    if (at == group) return true;
  return false;
}

int GroupTree::find(const std::string& path) const {
  const auto found = std::ranges::find(groups, path, &NodeGroup::path);
  return found == groups.end() ? -1 : int(found - groups.begin());
}

GroupTree buildGroups(const workbench::GraphDoc& graph, const std::vector<std::string>* kernels) {
  auto tree = TreeBuilder(graph, kernels).run();
  measureGroups(graph, tree);
  return tree;
}

std::vector<int> openLevels(const GroupTree& tree, const std::function<bool(const std::vector<int>&)>& accept) {
  std::vector<int> opened, level = tree.groups[0].groups;
  while (!level.empty()) {
    std::map<std::uint64_t, std::vector<int>> forms;
    std::vector<std::uint64_t> order;
    for (const int group : level) {
      const auto form = tree.groups[std::size_t(group)].form;
      if (forms[form].empty()) order.push_back(form);
      forms[form].push_back(group);
    }
    std::ranges::stable_sort(order, std::greater<>(), [&](std::uint64_t form) {
      const auto& group = tree.groups[std::size_t(forms[form].front())];
      return std::pair(!group.backward, group.ops);
    });
    std::vector<int> next;
    for (const auto form : order) {
      if (!accept(forms[form])) continue;
      for (const int group : forms[form]) {
        opened.push_back(group);
        const auto& inside = tree.groups[std::size_t(group)].groups;
        next.insert(next.end(), inside.begin(), inside.end());
      }
    }
    level = std::move(next);
  }
  return opened;
}

std::vector<char> openToFit(const GroupTree& tree, int budget, int small) {
  std::vector<char> open(tree.groups.size(), 0);
  if (tree.groups.empty()) return open;
  if (int(tree.groupOf.size()) <= small) {
    std::ranges::fill(open, 1);
    return open;
  }
  const auto size = [&](int group) {
    const auto& own = tree.groups[std::size_t(group)];
    return int(own.groups.size() + own.nodes.size());
  };
  int visible = size(0);
  const auto opened = openLevels(tree, [&](const std::vector<int>& groups) {
    int more = 0;
    for (const int group : groups) more += size(group) - 1;
    if (visible + more > budget) return false;
    visible += more;
    return true;
  });
  open[0] = 1;
  for (const int group : opened) open[std::size_t(group)] = 1;
  return open;
}

}  // namespace kerf::ui::inline layout
