#include "ui/layout/fold_repeats.h"

#include <algorithm>
#include <map>
#include <ranges>
#include <utility>

#include "ui/layout/repeats.h"

namespace kerf::ui::inline layout {
namespace {

using workbench::GraphDoc, workbench::NodeKind;

constexpr int leastBlocks = 3;
constexpr int leastOps = 6;

/// Neighbours [begin, end) among the groups of a group, and calls beside them that lie between two of them.
struct Run {
  int begin = 0, end = 0;
  std::vector<int> between;
};

/// "h.0", "h.11" → "h"; what has no number is its own list.
std::string listOf(const std::string& name) {
  const auto dot = name.find_last_of(". ");
  return dot == std::string::npos ? name : name.substr(0, dot);
}

class Folding {
 public:
  Folding(const GraphDoc& graph, const GroupTree& tree, const GroupTree* before)
      : m_graph(graph), m_tree(tree), m_runs(tree.groups.size()), m_item(graph.nodes.size(), outside) {
    if (before != nullptr) noteParents(*before);
    for (std::size_t i = 0; i < tree.groups.size(); ++i) findRuns(int(i));
  }

  GroupTree run() {
    m_made.groupOf.assign(m_tree.groupOf.size(), 0);
    copy(0, -1);
    return std::move(m_made);
  }

 private:
  static constexpr int outside = -2, inRun = -1;
  const NodeGroup& old(int i) const { return m_tree.groups[std::size_t(i)]; }
  NodeGroup& made(int i) { return m_made.groups[std::size_t(i)]; }

  void noteParents(const GroupTree& before) {
    for (const NodeGroup& group : before.groups)
      if (group.parent >= 0) m_around.emplace(group.path, before.groups[std::size_t(group.parent)].path);
  }

  void findRuns(int index) {
    const auto& groups = old(index).groups;
    for (int begin = 0, end = 0; begin < int(groups.size()); begin = end) {
      const auto& first = old(groups[std::size_t(begin)]);
      for (end = begin + 1; end < int(groups.size()) && old(groups[std::size_t(end)]).form == first.form;) ++end;
      if (end - begin < leastBlocks || first.ops < leastOps || stoodAlone(index, first)) continue;
      Run run{begin, end, {}};
      if (takeBetween(index, run) && !isAll(index, run)) m_runs[std::size_t(index)].push_back(std::move(run));
    }
  }

  /// What was shown before had this block directly in the same group.
  bool stoodAlone(int index, const NodeGroup& block) const {
    const auto around = m_around.find(block.path);
    return around != m_around.end() && around->second == old(index).path;
  }

  /// The group around would say nothing more than the run does.
  bool isAll(int index, const Run& run) const {
    const auto calls = std::ranges::count_if(old(index).nodes, [&](int node) {
      const auto kind = m_graph.nodes[std::size_t(node)].kind;
      return kind != NodeKind::Input && kind != NodeKind::Parameter;
    });
    return run.end - run.begin == int(old(index).groups.size()) && calls == std::ssize(run.between);
  }

  void markAll(int index, int item, std::vector<int>& marked) {
    for (const int node : old(index).nodes) {
      m_item[std::size_t(node)] = item;
      marked.push_back(node);
    }
    for (const int inner : old(index).groups) markAll(inner, item, marked);
  }

  /// False where another group, or too much else, lies between two blocks of the run: as one, they would form a cycle.
  bool takeBetween(int index, Run& run) {
    const auto& own = old(index);
    std::vector<int> marked;
    int items = 0;
    for (int i = 0; i < int(own.groups.size()); ++i)
      markAll(own.groups[std::size_t(i)], i >= run.begin && i < run.end ? inRun : items++, marked);
    const int groups = items;
    for (const int node : own.nodes) {
      m_item[std::size_t(node)] = items++;
      marked.push_back(node);
    }
    std::ranges::sort(marked);
    std::vector<char> after(std::size_t(items), 0), before(std::size_t(items), 0);
    while (spread(marked, after, before)) {
    }
    const auto lies = [&](int item) { return after[std::size_t(item)] && before[std::size_t(item)]; };
    bool good = true;
    for (int item = 0; item < groups; ++item) good &= !lies(item);
    for (const int node : own.nodes)
      if (lies(m_item[std::size_t(node)])) run.between.push_back(node);
    for (const int node : marked) m_item[std::size_t(node)] = outside;
    return good && std::ssize(run.between) <= std::ptrdiff_t(4) * (run.end - run.begin);
  }

  /// Along the links of marked nodes in execution order, and back; true while that reaches something new. Nearly all is
  /// reached at once: only a group whose calls lie apart may need another turn.
  bool spread(const std::vector<int>& marked, std::vector<char>& after, std::vector<char>& before) const {
    bool more = false;
    const auto reach = [&](std::vector<char>& flags, int near, int far) {
      const bool reached = far >= 0 && near != far && (near == inRun || (near >= 0 && flags[std::size_t(near)]));
      if (reached) more |= std::exchange(flags[std::size_t(far)], char(1)) == 0;
    };
    const auto item = [this](int node) { return m_item[std::size_t(node)]; };
    for (const int node : marked)
      for (const int input : m_graph.nodes[std::size_t(node)].inputs) reach(after, item(input), item(node));
    for (const int node : std::views::reverse(marked))
      for (const int input : m_graph.nodes[std::size_t(node)].inputs) reach(before, item(node), item(input));
    return more;
  }

  int copy(int index, int parent) {
    const int at = int(m_made.groups.size());
    m_made.groups.push_back(old(index));
    made(at).parent = parent;
    made(at).groups.clear();
    for (const int node : old(index).nodes) m_made.groupOf[std::size_t(node)] = at;
    const auto& runs = m_runs[std::size_t(index)];
    std::map<std::string, int> twins;
    auto run = runs.begin();
    for (int i = 0; i < int(old(index).groups.size());) {
      if (run == runs.end() || i < run->begin) {
        const int inner = copy(old(index).groups[std::size_t(i++)], at);
        made(at).groups.push_back(inner);
        continue;
      }
      const int folded = fold(index, at, *run, twins);
      made(at).groups.push_back(folded);
      i = run++->end;
    }
    return at;
  }

  int fold(int index, int parent, const Run& run, std::map<std::string, int>& twins) {
    const auto& groups = old(index).groups;
    const auto& first = old(groups[std::size_t(run.begin)]);
    const auto& last = old(groups[std::size_t(run.end - 1)]);
    NodeGroup group;
    group.parent = parent;
    const auto list = listOf(first.name);
    const bool sameList = list.size() < last.name.size() && last.name.starts_with(list);
    group.name = first.name + " … " + (sameList ? last.name.substr(list.size() + 1) : last.name);
    const int twin = twins[list]++;
    group.path = old(index).path + "/" + list + ".*" + (twin > 0 ? " (" + std::to_string(twin + 1) + ")" : "");
    group.backward = first.backward;
    group.alike = run.end - run.begin;
    group.form = first.form * 31 + std::uint64_t(group.alike);
    group.first = first.first;
    group.nodes = run.between;
    group.ops = int(run.between.size());
    const int at = int(m_made.groups.size());
    m_made.groups.push_back(group);
    for (const int node : run.between) {
      m_made.groupOf[std::size_t(node)] = at;
      std::erase(made(parent).nodes, node);
    }
    for (int i = run.begin; i < run.end; ++i) {
      const int inner = copy(groups[std::size_t(i)], at);
      made(at).groups.push_back(inner);
      made(at).ops += made(inner).ops;
      made(at).bytes += made(inner).bytes;
    }
    made(at).result = resultOf(m_graph, callsOf(at));
    return at;
  }

  /// In execution order, at any depth.
  std::vector<int> callsOf(int index) {
    std::vector<int> calls, open{index};
    while (!open.empty()) {
      const auto& group = made(open.back());
      open.pop_back();
      for (const int node : group.nodes)
        if (const auto kind = m_graph.nodes[std::size_t(node)].kind;
            kind != NodeKind::Input && kind != NodeKind::Parameter)
          calls.push_back(node);
      open.insert(open.end(), group.groups.begin(), group.groups.end());
    }
    std::ranges::sort(calls);
    return calls;
  }

  const GraphDoc& m_graph;
  const GroupTree& m_tree;
  std::vector<std::vector<Run>> m_runs;         ///< by group
  std::vector<int> m_item;                      ///< of each node within the group that is looked at
  std::map<std::string, std::string> m_around;  ///< paths of groups in what was shown before, and of those around them
  GroupTree m_made;
};

}  // namespace

GroupTree foldRepeats(const workbench::GraphDoc& graph, const GroupTree& tree, const GroupTree* before) {
  return Folding(graph, tree, before).run();
}

}  // namespace kerf::ui::inline layout
