// default_partition: what was traced forward stays forward.
#include <algorithm>

#include "engine/partition/joint_cleanup.h"
#include "engine/partition/partition.h"

namespace kerf::inline partition {

namespace {

/// The last place that belongs to the forward part as it was traced. Texts have no tags that say so: it is the last
/// node that the forward outputs need, and right behind it the aliases by which autograd keeps results and further
/// elements of the forward part's tuples.
int lastForward(const JointGraph& joint) {
  int last = 0;
  for (int place = 0; place < int(joint.nodes.size()); ++place)
    if (joint.nodes[std::size_t(place)].neededForward()) last = place;
  const auto isAlias = [&](int place) {
    return place < int(joint.nodes.size()) && joint.node(place).isCall("torch.ops.aten.alias.default"_op);
  };
  const auto keepsResult = [&](int place) {  // the backward part begins with aliases of aliases
    return isAlias(place) && joint.nodes[std::size_t(place)].inputs[0] <= last &&
           !isAlias(joint.nodes[std::size_t(place)].inputs[0]);
  };
  const auto isElement = [&](int place) {
    return place < int(joint.nodes.size()) && has(joint.nodes[std::size_t(place)].classes, OpClass::Getitem) &&
           joint.nodes[std::size_t(place)].inputs[0] <= last;
  };
  while (keepsResult(last + 1) || isElement(last + 1)) ++last;
  return last;
}

bool isSymbolic(const JointNode& node) { return node.kind == SavedKind::SymInt || node.kind == SavedKind::SymFloat; }

class DefaultChoice {
 public:
  explicit DefaultChoice(const JointGraph& joint) : m_joint(joint), m_last(lastForward(joint)) {}

  CutSolution run() {
    m_solution.bans.rules.resize(m_joint.nodes.size());
    for (int place = 0; place <= m_last; ++place)
      if (isForward(place)) visit(place);
    return std::move(m_solution);
  }

 private:
  const JointNode& at(int place) const { return m_joint.nodes[std::size_t(place)]; }
  bool isForward(int place) const { return place <= m_last && !at(place).ofTangents; }

  void visit(int place) {
    const JointNode& node = at(place);
    const Node& fx = m_joint.node(place);
    if (fx.isCall("torch.ops.aten._assert_scalar.default"_op) || node.kind == SavedKind::Other) return;
    if (isSymbolic(node)) return save(place);
    if (node.tags.mustSave()) return save(place, "must_save");
    std::vector<int> later;
    for (const int user : node.users)
      if (!isForward(user)) later.push_back(user);
    const bool onlySizes = std::ranges::all_of(later, [&](int user) { return isSymbolic(at(user)); });
    const bool isReturned = node.forBackward;
    if (onlySizes && !isReturned)
      for (const int user : later) save(user);  // sizes alone are cheaper than the tensor
    else if (!node.tags.recompute())
      save(place);
  }

  void save(int place, std::string_view rule = "forward") {
    std::string_view& known = m_solution.bans.rules[std::size_t(place)];
    if (!known.empty()) return;
    known = rule;
    m_solution.saved.push_back(place);
  }

  const JointGraph& m_joint;
  int m_last;
  CutSolution m_solution;
};

}  // namespace

CutSolution chooseForwardValues(const JointGraph& joint) { return DefaultChoice(joint).run(); }

}  // namespace kerf::inline partition
