#include "ui/graph_view/change_marks.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace kerf::ui::inline graph_view {
namespace {

constexpr std::size_t mostGhosts = 300;

/// Names of nodes of the earlier graph that have no counterpart in `shown`, parameters left out.
std::unordered_set<std::string> goneNames(const GraphDoc& shown, const DifferenceDoc& difference) {
  std::unordered_set<std::string> gone(difference.removed.begin(), difference.removed.end());
  for (const auto& rewrite : difference.rewritten)
    if (rewrite.kind == "rewritten") gone.insert(rewrite.before.begin(), rewrite.before.end());
  std::erase_if(gone, [&](const std::string& name) {
    const int node = difference.before->find(name);
    if (node < 0) return true;
    const auto kind = difference.before->nodes[std::size_t(node)].kind;
    return kind == NodeKind::Input || kind == NodeKind::Parameter || kind == NodeKind::Output || shown.nodes.empty();
  });
  return gone;
}

/// Places of the earlier graph's nodes in the shown one, ghosts behind its end.
class Places {
 public:
  Places(const GraphDoc& shown, const DifferenceDoc& difference, const std::unordered_set<std::string>& gone)
      : m_shown(shown), m_before(*difference.before) {
    for (const auto& [before, after] : difference.renamed) m_renamed.emplace(before, after);
    int next = int(shown.nodes.size());
    for (const auto& node : m_before.nodes)
      if (gone.contains(node.name)) m_ghosts.emplace(node.name, next++);
  }
  std::vector<int> of(const std::vector<int>& nodes) const {
    std::vector<int> places;
    for (const int node : nodes)
      if (const int place = of(m_before.nodes[std::size_t(node)].name); place >= 0) places.push_back(place);
    return places;
  }

 private:
  int of(const std::string& name) const {
    if (const auto ghost = m_ghosts.find(name); ghost != m_ghosts.end()) return ghost->second;
    const auto renamed = m_renamed.find(name);
    return m_shown.find(renamed == m_renamed.end() ? name : renamed->second);
  }

  const GraphDoc& m_shown;
  const GraphDoc& m_before;
  std::unordered_map<std::string, std::string> m_renamed;
  std::unordered_map<std::string, int> m_ghosts;
};

GhostsPtr ghostsOf(const GraphDoc& shown, const DifferenceDoc& difference,
                   const std::unordered_set<std::string>& gone) {
  const Places places(shown, difference, gone);
  auto ghosts = std::make_shared<std::vector<NodeDoc>>();
  for (const auto& node : difference.before->nodes) {
    if (!gone.contains(node.name)) continue;
    auto ghost = node;
    ghost.inputs = places.of(node.inputs);
    ghost.users = places.of(node.users);
    ghosts->push_back(std::move(ghost));
  }
  return ghosts;
}

void mark(const GraphDoc& shown, const std::string& name, QSet<int>& nodes) {
  if (const int node = shown.find(name); node >= 0) nodes.insert(node);
}

}  // namespace

ChangeMarks changeMarks(const GraphDoc& shown, const DifferenceDoc& difference) {
  ChangeMarks marks;
  for (const auto& name : difference.added) mark(shown, name, marks.added);
  for (const auto& rewrite : difference.rewritten)
    for (const auto& name : rewrite.after) mark(shown, name, marks.rewritten);
  for (const auto& change : difference.changed) mark(shown, change.name, marks.rewritten);
  if (!difference.before) return marks;
  const auto gone = goneNames(shown, difference);
  if (gone.size() > std::min(mostGhosts, shown.nodes.size()))
    marks.notDrawn = int(gone.size());
  else if (!gone.empty())
    marks.ghosts = ghostsOf(shown, difference, gone);
  return marks;
}

}  // namespace kerf::ui::inline graph_view
