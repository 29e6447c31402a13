// default_partition: what was traced forward stays forward.
#include <algorithm>

#include "engine/partition/joint_cleanup.h"
#include "engine/partition/joint_sides.h"
#include "engine/partition/partition.h"

namespace kerf::inline partition {

namespace {

/// The last node that the forward outputs are, or an input.
int lastReturned(const JointGraph& joint) {
  int last = 0;
  for (int place = 0; place < int(joint.nodes.size()); ++place) {
    const JointNode& node = joint.nodes[std::size_t(place)];
    const auto isIt = [&](const Argument& output) {
      const NodeId* id = output.as<NodeId>();
      return id != nullptr && *id == node.id;
    };
    if (node.isInput || std::ranges::any_of(joint.forwardOutputs, isIt)) last = place;
  }
  return last;
}

/// The last place that belongs to the forward part as it was traced. Texts have no tags that say so: it is the last
/// node that the forward outputs need, and right behind it the aliases by which autograd keeps results and further
/// elements of the forward part's tuples.
int lastForward(const JointGraph& joint) {
  int last = lastReturned(joint);
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

  Result<CutSolution> run() {
    m_solution.bans.rules.resize(m_joint.nodes.size());
    for (int place = 0; place < int(m_joint.nodes.size()); ++place)
      if (isForward(place)) KERF_CHECK(visit(place));
    return std::move(m_solution);
  }

 private:
  const JointNode& at(int place) const { return m_joint.nodes[std::size_t(place)]; }
  /// What stands behind the traced forward part may be needed there too: by a tag, or for what is written into inputs.
  bool isForward(int place) const { return !at(place).ofTangents && (place <= m_last || at(place).neededForward()); }

  Result<void> visit(int place) {
    const JointNode& node = at(place);
    const Node& fx = m_joint.node(place);
    if (fx.isCall("torch.ops.aten._assert_scalar.default"_op)) return {};
    if (node.kind == SavedKind::Other) return saveElements(place);
    if (isSymbolic(node))
      save(place);
    else if (node.tags.mustSave())
      save(place, "must_save");
    else
      saveForUsers(place);
    return {};
  }

  void saveForUsers(int place) {
    const JointNode& node = at(place);
    std::vector<int> later;
    for (const int user : node.users)
      if (!isForward(user)) later.push_back(user);
    const bool onlySizes =
        std::ranges::all_of(later, [&](int user) { return isSymbolic(at(user)) && !at(user).tags.inBackward; });
    const bool isReturned = node.forBackward;
    if (onlySizes && !isReturned)
      for (const int user : later) save(user);  // sizes alone are cheaper than the tensor
    else if (!node.tags.recompute())
      save(place);
  }

  /// A tuple cannot be saved; its elements that are read behind the forward part are.
  Result<void> saveElements(int tuple) {
    for (const int user : at(tuple).users) {
      if (at(user).tags.inBackward) return elementApart(m_joint, user, tuple);
      if (has(at(user).classes, OpClass::Getitem) && !isForward(user) && !at(user).ofTangents) save(user);
    }
    return {};
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

Result<CutSolution> chooseForwardValues(const JointGraph& joint) { return DefaultChoice(joint).run(); }

}  // namespace kerf::inline partition
